package secret

import (
	"slices"
	"strings"
	"unicode"
)

// always are words that make a key sensitive wherever they end it, or stand
// alone in it.
var always = []string{
	"password", "passwords", "passwd", "pwd", "passphrase", "passcode", "passcodes", "pincode", "usercode", "usercodes",
	"secret", "secrets", "token", "tokens", "psk", "authorization", "credential", "credentials",
	"apikey", "bearer", "cookie", "cookies", "auth", "pin", "pins", "code", "codes", "authsig", "otp", "totp",
	"latitude", "longitude", "gps", // where somebody lives or is
}

// harmless are the words that, before the last one, make an otherwise
// sensitive key an everyday one: zip_code, gpio_pin, max_tokens.
var harmless = map[string][]string{
	"code":   codeWords,
	"codes":  codeWords,
	"pin":    pinWords,
	"pins":   pinWords,
	"tokens": {"max", "min", "total", "prompt", "completion", "input", "output", "cached", "num", "reasoning", "used"},
}

var codeWords = []string{
	"zip", "postal", "post", "country", "area", "region", "state", "language", "lang", "locale", "currency", "iso", "icao",
	"error", "err", "status", "exit", "return", "response", "result", "reason", "close", "http", "fault", "warning",
	"color", "colour", "hex", "weather", "condition", "event", "source", "bar", "model", "mode", "station", "airline", "airport",
	"product", "item", "type", "time", "zone", "char", "op", "dial", "calling", "ir", "scan", "diagnostic", "trouble",
}

var pinWords = []string{"gpio", "input", "output", "rx", "tx", "sda", "scl", "data", "trigger", "echo", "led", "relay", "reset", "clock", "cs", "irq", "analog", "digital", "dout", "din", "map"}

// keyWords make "key" sensitive when they stand before it.
var keyWords = []string{
	"api", "private", "secret", "access", "encryption", "network", "shared", "signing", "auth", "security", "wpa", "wifi",
	"master", "session", "host", "ssh", "aes", "link", "app", "application", "bind", "local", "consumer", "subscription",
}

// Sensitive reports whether values under this key must be starred before they
// reach a log, an answer or the disk. It looks at the words of the key
// (snake_case, kebab-case, camelCase): the last word decides, and the word
// before it may make it harmless, as in zip_code.
func Sensitive(key string) bool {
	before, last := ending(key)
	switch last {
	case "key", "keys":
		return slices.Contains(keyWords, before)
	case "sig", "signature":
		return before == "auth"
	case "id":
		// Whoever knows a webhook's id may call it: Home Assistant has no other check.
		return before == "webhook" || before == "cloudhook"
	case "url":
		return before == "webhook" || before == "cloudhook"
	case "hash", "value", "text", "plain", "string", "header":
		return slices.Contains(always, before) && before != "code" && before != "codes"
	case "1", "2", "3", "new", "old", "current", "repeat", "confirm", "confirmation":
		return before != "" && slices.Contains(always, before)
	}
	if !slices.Contains(always, last) {
		return false
	}
	return !slices.Contains(harmless[last], before)
}

// ending gives the last two words of a key. Plain snake_case, which is nearly
// everything a house says, costs no allocation.
func ending(key string) (before, last string) {
	for i := range len(key) {
		if c := key[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			w := words(key)
			switch len(w) {
			case 0:
				return "", ""
			case 1:
				return "", w[0]
			}
			return w[len(w)-2], w[len(w)-1]
		}
	}
	key = strings.Trim(key, "_")
	cut := strings.LastIndexByte(key, '_')
	last = key[cut+1:]
	if cut < 0 {
		return "", last
	}
	key = strings.TrimRight(key[:cut], "_")
	return key[strings.LastIndexByte(key, '_')+1:], last
}

// words splits a key into lower-case words.
func words(key string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	rs := []rune(key)
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0:
			// A hump starts at an upper-case letter after a lower-case one, or at the
			// last upper-case letter of an abbreviation (userPIN, PINCode).
			next := i+1 < len(rs) && unicode.IsLower(rs[i+1])
			if !unicode.IsUpper(rs[i-1]) || next {
				flush()
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	flush()
	return out
}
