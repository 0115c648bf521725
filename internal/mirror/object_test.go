package mirror

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestStrip(t *testing.T) {
	for in, want := range map[string]string{
		`{"friendly_name":"Cam","access_token":"abc","entity_picture":"/api?token=abc"}`: `{"friendly_name":"Cam"}`,
		`{"latitude":52.1,"longitude":4.2,"gps_accuracy":9,"source":"gps"}`:              `{"source":"gps"}`,
		`{"entity_picture_local":null}`:                                                  `{}`,
		`{"code_format":"number","code_arm_required":true,"code":"1234"}`:                `{"code_format":"number","code_arm_required":true}`,
		`{"zones":[{"name":"a","latitude":1},{"name":"b"}]}`:                             `{"zones":[{"name":"a"},{"name":"b"}]}`,
		`{"acc\u0065ss_token":"abc","a":1}`:                                              `{"a":1}`,
		`{"a":{"b":{"password":"x","c":[1,{"token":"y"}]}}}`:                             `{"a":{"b":{"c":[1,{}]}}}`,
		`{"image":"https://h/p?token=abcdefgh12345678","n":1}`:                           `{"image":"https://h/p?token=***","n":1}`,
		`{}`:         `{}`,
		``:           `{}`,
		`[1]`:        `{}`,
		`{"a":`:      `{}`,
		`{"a":1}`:    `{"a":1}`,
		` {"a":1 } `: ` {"a":1 } `,
	} {
		if got := Strip(json.RawMessage(in)); string(got) != want {
			t.Errorf("Strip(%s) = %s, want %s", in, got, want)
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[1,{"c":"}"}],"d":"\"\\"}`, `{"a":1,}`, `{"a" : true , "b":null}`, `null`, ``, `{"a":1}x`, `{"\u0061":1}`, `{"a":{"b":{}}`, `[]`, `{"a":tru e}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := map[string]json.RawMessage{}
		m := object(raw)
		for {
			x, ok := m.next()
			if !ok {
				break
			}
			var k string
			if json.Unmarshal(x.key, &k) != nil {
				k = string(x.key)
			}
			got[k] = x.value
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil {
			return // we may be more lenient; not crashing is enough
		}
		if m.err() != nil {
			t.Fatalf("%q is an object for encoding/json", raw)
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %d members, want %d", raw, len(got), len(want))
		}
		for k, v := range want {
			if !bytes.Equal(v, got[k]) {
				t.Fatalf("%q: %s is %q, want %q", raw, k, got[k], v)
			}
		}
		if s := Strip(raw); len(s) > 0 && !json.Valid(s) {
			t.Fatalf("Strip(%q) = %q", raw, s)
		}
	})
}

func FuzzEachMember(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[1,{"c":"}"}],"d":null}`, `{"a\u0062":"\"x"}`, `{"a":1`, `[]`, `{"a" : -1.5e3 , "b":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := map[string]json.RawMessage{}
		EachMember(raw, func(name, value []byte) bool {
			got[string(name)] = value
			return true
		})
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d members, want %d", raw, len(got), len(want))
		}
		for k, v := range want {
			if string(got[k]) != string(v) {
				t.Fatalf("%s: %q is %s, want %s", raw, k, got[k], v)
			}
		}
	})
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":2}`), []byte(`{"b":3,"c":{"d":[]}}`), "a")
	f.Add([]byte(`{"a\n":1}`), []byte(`{"a\u000a":2}`), "a\n")
	f.Add([]byte(`{}`), []byte(`{"latitude":1}`), "")
	f.Fuzz(func(t *testing.T, old, set []byte, unset string) {
		var a, b map[string]any
		if json.Unmarshal(old, &a) != nil || json.Unmarshal(set, &b) != nil || len(old) == 0 {
			return
		}
		var g merger
		out, err := g.merge(old, set, []string{unset})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{}
		for k, v := range a {
			if k != unset {
				want[k] = v
			}
		}
		for k, v := range b {
			if !sensitive(k) {
				want[k] = v
			}
		}
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("merge(%q, %q) = %q", old, set, out)
		}
		if got == nil {
			got = map[string]any{}
		}
		// Nested secrets go, too; comparing those is Strip's test.
		if strings.ContainsAny(string(set), "{[") && bytes.Count(set, []byte("{")) > 1 {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("merge(%q, %q, %q) = %q", old, set, unset, out)
		}
	})
}

func FuzzFold(f *testing.F) {
	f.Add("Küche ﬁ 客厅")
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		if again := Fold(once); again != once {
			t.Fatalf("Fold(%q) = %q, again %q", s, once, again)
		}
	})
}
