package journal

import (
	"crypto/sha256"
	"encoding/binary"
)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// packContext gives a context id as the database keeps it: the 16 bytes of a
// canonical ULID, else the text itself; nil for "".
func packContext(id string) any {
	if id == "" {
		return nil
	}
	if b, ok := ulid(id); ok {
		return b
	}
	return id
}

// ulid decodes 26 upper-case Crockford characters; ok is false for anything
// that would not come back the same.
func ulid(s string) (out []byte, ok bool) {
	if len(s) != 26 || s[0] > '7' {
		return nil, false
	}
	var hi, lo uint64
	for i := range len(s) {
		v := crockfordValue(s[i])
		if v > 31 {
			return nil, false
		}
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(v)
	}
	out = make([]byte, 16)
	binary.BigEndian.PutUint64(out, hi)
	binary.BigEndian.PutUint64(out[8:], lo)
	return out, true
}

func crockfordValue(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c < 'A' || c > 'Z' || c == 'I' || c == 'L' || c == 'O' || c == 'U':
		return 255
	}
	v := c - 'A' + 10
	for _, gap := range []byte("ILOU") {
		if c > gap {
			v--
		}
	}
	return v
}

// unpackContext is the reverse of packContext, for a column as it was scanned.
func unpackContext(col any) string {
	switch v := col.(type) {
	case string:
		return v
	case []byte:
		if len(v) != 16 {
			return string(v)
		}
		hi, lo := binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])
		var out [26]byte
		for i := 25; i >= 0; i-- {
			out[i] = crockford[lo&31]
			lo = lo>>5 | hi<<59
			hi >>= 5
		}
		return string(out[:])
	}
	return ""
}

// docID is the key of a JSON text: 63 bits of its SHA-256.
func docID(json []byte) int64 {
	sum := sha256.Sum256(json)
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}
