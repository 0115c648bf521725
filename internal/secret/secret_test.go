package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const plainSecret = "s3cr3t-value-of-the-house"

func TestValue_NeverPrints(t *testing.T) {
	v := New(plainSecret)
	type holder struct {
		Open   Value
		closed Value
		list   []Value
	}
	h := holder{v, v, []Value{v}}
	var texts []string
	for _, f := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(f, v), fmt.Sprintf(f, &v), fmt.Sprintf(f, h), fmt.Sprintf(f, &h))
	}
	j, err := json.Marshal(map[string]any{"a": v, "b": &v, "c": h})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("m", "v", v, "p", &v, "h", h.Open)
	slog.New(slog.NewTextHandler(&buf, nil)).Info("m", "v", v, "h", h)
	texts = append(texts, string(j), buf.String(), v.String(), v.GoString())
	for _, s := range texts {
		if strings.Contains(s, plainSecret) || strings.Contains(s, "733363723374") {
			t.Errorf("the secret shows in %q", s)
		}
	}
	if got := fmt.Sprint(v); got != Stars {
		t.Errorf("Sprint = %q", got)
	}
	if v.Reveal() != plainSecret {
		t.Errorf("Reveal = %q", v.Reveal())
	}
	for in, want := range map[string]string{plainSecret: "s3cr" + Stars, "short": Stars, "hearth_abcdefghijklmnop": "hearth_abcd" + Stars, "hearth_short": Stars} {
		if got := New(in).Hint(); got != want {
			t.Errorf("Hint of %q = %q", in, got)
		}
	}
}

func TestValue_ZeroIsEmpty(t *testing.T) {
	var v Value
	if !v.Empty() || v.Reveal() != "" || v.String() != "" || !New("").Empty() {
		t.Error("the zero Value is not empty")
	}
	if !New("a").Equal(New("a")) || New("a").Equal(New("b")) || New("a").Equal(v) {
		t.Error("Equal does not compare the text")
	}
	if err := json.Unmarshal([]byte(`"x"`), &v); err == nil {
		t.Error("a secret was decoded out of a document")
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, content, want, wantErr string
	}{
		{"a token with a line end", "abc\n", "abc", ""},
		{"a byte order mark", "\xef\xbb\xbfabc\r\n", "abc", ""},
		{"nothing", " \n", "", "is empty"},
		{"two lines", "a\nb\n", "", "more than one line"},
		{"a film", strings.Repeat("x", maxFile+1), "", "too long"},
	} {
		p := filepath.Join(dir, "t")
		if err := os.WriteFile(p, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := Load(p)
		if v.Reveal() != c.want {
			t.Errorf("%s: %q", c.name, v.Reveal())
		}
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	p := filepath.Join(dir, "t")
	if Loose(p) {
		t.Error("0600 is loose")
	}
	if err := os.Chmod(p, 0o644); err != nil {
		t.Fatal(err)
	}
	if !Loose(p) {
		t.Error("0644 is not loose")
	}
}

func TestSensitive(t *testing.T) {
	yes := []string{"code", "pin", "PIN", "password", "passwd", "token", "access_token", "accessToken", "api_key", "apiKey", "API-Key", "secret",
		"client_secret", "authorization", "Authorization", "psk", "wifi_psk", "credential", "credentials", "alarm_code", "user_code", "usercode",
		"new_pin", "userPIN", "lock_pin", "pin_code", "private_key", "refresh_token", "password_hash", "new_password", "webhook_id", "noise_psk",
		"encryption_key", "passphrase", "cookie", "tokens", "codes", "code_1", "rf_code", "authSig", "x-api-key", "bearer", "master code", "disarm_code", "pwd",
		"latitude", "homeLongitude", "gps"}
	no := []string{"", "_", "zip_code", "postal_code", "country_code", "countryCode", "keypad", "spin", "pinned", "opinion", "gpio_pin", "code_format",
		"code_arm_required", "token_type", "max_tokens", "error_code", "status_code", "weather_code", "key", "keys", "entity_id", "author", "authority", "authors",
		"encode", "decoder", "codec", "barcode_format", "state", "monkey", "secretary", "pins_used", "token_file", "hex_code", "brightness", "tokenizer", "color_code", "webhook", "gps_accuracy", "altitude"}
	for _, k := range yes {
		if !Sensitive(k) {
			t.Errorf("%q should be sensitive", k)
		}
	}
	for _, k := range no {
		if Sensitive(k) {
			t.Errorf("%q should not be sensitive", k)
		}
	}
}

func TestStar(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJl"
	for _, c := range []struct{ name, in, want string }{
		{"nothing", ``, ``},
		{"nothing secret keeps its spacing", `{ "a" : 1.50, "b":[1, 2 ] }`, `{ "a" : 1.50, "b":[1, 2 ] }`},
		{"a code", `{"code":"1234","x":1}`, `{"code":"***","x":1}`},
		{"a number", `{"pin": 1234 , "x":1}`, `{"pin": "***" , "x":1}`},
		{"null stays", `{"token":null}`, `{"token":null}`},
		{"an object under a key", `{"credentials":{"a":["]}",{"b":"}"}]},"x":"y"}`, `{"credentials":"***","x":"y"}`},
		{"deep inside", `[{"a":{"b":[{"password":"p"}]}}]`, `[{"a":{"b":[{"password":"***"}]}}]`},
		{"an escaped key", `{"p\u0061ssword":"p"}`, `{"p\u0061ssword":"***"}`},
		{"the same key twice", `{"pin":1,"pin":2}`, `{"pin":"***","pin":"***"}`},
		{"a token in text", `{"m":"Bearer abcdefgh12345"}`, `{"m":"Bearer ***"}`},
		{"a web token in text", `["see ` + jwt + ` there"]`, `["see *** there"]`},
		{"JSON within a string", `{"data":"{\"code\":\"1234\"}"}`, `{"data":"{\"code\":\"***\"}"}`},
		{"a bare string", `"hello, world"`, `"hello, world"`},
		{"a quote in a value", `{"code":"a\"b\\","x":"Küche"}`, `{"code":"***","x":"Küche"}`},
		{"broken", `{"code":"12`, `"***"`},
		{"two documents", `{} {}`, `"***"`},
		{"a postal code", `{"postal_code":"10115"}`, `{"postal_code":"10115"}`},
	} {
		got := Star(json.RawMessage(c.in))
		if string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	in := json.RawMessage(`{"entity_id":"light.kitchen","brightness":3}`)
	if n := testing.AllocsPerRun(100, func() { Star(in) }); n > 8 {
		t.Errorf("clean input costs %v allocations", n)
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"nothing to see in this line", "nothing to see in this line"},
		{"Authorization: Bearer abcdef123456", "Authorization: Bearer ***"},
		{"get http://h/x?token=abc&y=1", "get http://h/x?token=***&y=1"},
		{"get http://h/x?authSig=abc.def", "get http://h/x?authSig=***"},
		{"dial http://me:hunter2@host:1/", "dial http://me:***@host:1/"},
		{"http://host:8123/a:b@c", "http://host:8123/a:b@c"},
		{"the wrong token: Home Assistant refuses it", "the wrong token: Home Assistant refuses it"},
		{`{password: "hunter"}`, `{password: "***"}`},
		{"password: hunter2", "password: ***"},
		{"token hearth_0123456789abcdef was used", "token *** was used"},
		{"token_file=/data/token", "token_file=/data/token"},
		{"max_tokens=500", "max_tokens=500"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestHandler_StarsSecrets(t *testing.T) {
	var buf bytes.Buffer
	write := func(next slog.Handler) string {
		buf.Reset()
		log := slog.New(NewHandler(next))
		log = log.With("token", plainSecret).WithGroup("g").With("api_key", 99887766)
		log.Info("Bearer "+plainSecret,
			"value", New(plainSecret),
			"error", fmt.Errorf("dial: %w", errors.New("password="+plainSecret)),
			slog.Group("inner", "password", plainSecret, "kept", "hello"),
			"raw", json.RawMessage(`{"code":"`+plainSecret+`","n":7}`),
			"bytes", []byte("token="+plainSecret),
			"struct", struct {
				Pin  string `json:"pin"`
				Size int    `json:"size"`
			}{plainSecret, 42},
			"nil", nil, "token", true)
		return buf.String()
	}
	for name, out := range map[string]string{
		"json": write(slog.NewJSONHandler(&buf, nil)),
		"text": write(slog.NewTextHandler(&buf, nil)),
	} {
		if strings.Contains(out, plainSecret) || strings.Contains(out, "99887766") {
			t.Errorf("%s shows a secret: %s", name, out)
		}
		for _, w := range []string{"hello", "42", "7", "dial"} {
			if !strings.Contains(out, w) {
				t.Errorf("%s lost %q: %s", name, w, out)
			}
		}
	}
	if NewHandler(slog.NewTextHandler(&buf, nil)).Enabled(t.Context(), slog.LevelDebug) {
		t.Error("debug is on though the next handler has it off")
	}
}

func FuzzStar(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"code":"x","b":[{"pin":[1,{"a":"]"}]}]}`, `"{\"token\":1}"`, `{"\u0070in":"\ud800"}`, `[`, ` 1 `, `{"k":"Bearer aaaaaaaaaa"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		out := Star(in)
		if !bytes.Equal(in, before) {
			t.Fatal("the input was changed")
		}
		if len(in) > 0 && !json.Valid(out) {
			t.Fatalf("%q became invalid: %q", in, out)
		}
		var v any
		if json.Unmarshal(out, &v) == nil {
			leak(t, v)
		}
		if again := Star(out); !bytes.Equal(again, out) {
			t.Fatalf("not stable: %q then %q", out, again)
		}
	})
}

// leak fails when a sensitive key still has a value.
func leak(t *testing.T, v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if Sensitive(k) && e != nil && e != Stars {
				t.Fatalf("%q still has %v", k, e)
			}
			leak(t, e)
		}
	case []any:
		for _, e := range x {
			leak(t, e)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("Bearer abcdefgh")
	f.Add("https://a:b@c")
	f.Add("token: '")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<12 {
			return
		}
		Text(s)
		words(s)
	})
}
