package daemon

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/secret"
	"hearth/internal/tool"
)

// Setting is one line of the configuration, read off Config's declaration.
type Setting struct {
	Key     string // "ha.token_file": its place in hearth.yaml
	Env     string // "HEARTH_HA_TOKEN_FILE"
	Flag    string // "ha-token-file", without the dashes
	Help    string
	Default string // as a person would write it; "" for none
	Example string
	Enum    []string
	Kind    string // text, yes or no, number, duration, size, list, rules, secret
	index   []int
}

// InFile reports whether the setting may stand in hearth.yaml: secrets may not.
func (s Setting) InFile() bool { return s.Kind != "secret" }

// OnLine reports whether it may stand on the command line: neither secrets nor
// rules may.
func (s Setting) OnLine() bool { return s.Kind != "secret" && s.Kind != "rules" }

// Settings are all settings in the order of the declaration.
func Settings() []Setting {
	return settingsOf(reflect.TypeFor[Config](), "", nil)
}

func settingsOf(t reflect.Type, section string, index []int) []Setting {
	var out []Setting
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		key := section + f.Tag.Get("key")
		kind := kindOf(f.Type)
		if kind == "" {
			out = append(out, settingsOf(f.Type, key+".", at)...)
			continue
		}
		flat := strings.ReplaceAll(key, ".", "_")
		s := Setting{
			Key: key, Env: "HEARTH_" + strings.ToUpper(flat), Flag: strings.ReplaceAll(flat, "_", "-"),
			Help: f.Tag.Get("help"), Default: f.Tag.Get("default"), Example: f.Tag.Get("example"), Kind: kind, index: at,
		}
		if e := f.Tag.Get("enum"); e != "" {
			s.Enum = strings.Split(e, ",")
		}
		out = append(out, s)
	}
	return out
}

// kindOf names the kind of a setting, "" for a section.
func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[secret.Value]():
		return "secret"
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[Bytes]():
		return "size"
	case reflect.TypeFor[[]string]():
		return "list"
	case reflect.TypeFor[[]journal.Rule]():
		return "rules"
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "yes or no"
	case reflect.Int:
		return "number"
	case reflect.Struct:
		return ""
	}
	panic("daemon: a setting of type " + t.String() + " has no form in files, variables and flags")
}

// set gives the setting its value from text; lists take several texts, or one
// with commas. The error completes the sentence "ha.url …".
func (s Setting) set(c *Config, texts ...string) error {
	v := reflect.ValueOf(c).Elem().FieldByIndex(s.index)
	text := strings.TrimSpace(texts[len(texts)-1])
	switch s.Kind {
	case "text":
		if s.Enum != nil && !slices.Contains(s.Enum, text) {
			return fmt.Errorf("is none of %s", strings.Join(s.Enum, ", "))
		}
		v.SetString(text)
	case "yes or no":
		b, err := parseBool(text)
		if err != nil {
			return err
		}
		v.SetBool(b)
	case "number":
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("is not a whole number")
		}
		v.SetInt(int64(n))
	case "duration":
		d, err := home.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("is not a duration; write it as 5s or 1m30s")
		}
		v.SetInt(int64(d))
	case "size":
		b, err := parseBytes(text)
		if err != nil {
			return err
		}
		v.SetInt(int64(b))
	case "list":
		v.Set(reflect.ValueOf(split(texts)))
	case "secret":
		v.Set(reflect.ValueOf(secret.New(text)))
	default:
		return fmt.Errorf("can only stand in hearth.yaml")
	}
	return nil
}

func split(texts []string) []string {
	var out []string
	for _, t := range texts {
		for _, p := range strings.Split(t, ",") {
			if p = strings.TrimSpace(p); p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("is neither true nor false")
}

// text is the setting's value in c as a person would write it; secrets are stars.
func (s Setting) text(c *Config) string {
	switch v := reflect.ValueOf(c).Elem().FieldByIndex(s.index).Interface().(type) {
	case []string:
		return strings.Join(v, ", ")
	case time.Duration:
		return home.FormatDuration(v)
	case []journal.Rule:
		return fmt.Sprintf("%d rules", len(v))
	default:
		return fmt.Sprint(v)
	}
}

// yaml is the setting's value in c as hearth.yaml holds it.
func (s Setting) yaml(c *Config) string {
	switch v := reflect.ValueOf(c).Elem().FieldByIndex(s.index).Interface().(type) {
	case string:
		return strconv.Quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, t := range v {
			quoted[i] = strconv.Quote(t)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return s.text(c)
}

// sections yields every part of c that has a Check, with its key.
func sections(c *Config) map[string]interface{ Check() []Fault } {
	out := map[string]interface{ Check() []Fault }{"": c}
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if ch, ok := v.Field(i).Addr().Interface().(interface{ Check() []Fault }); ok {
			out[v.Type().Field(i).Tag.Get("key")+"."] = ch
		}
	}
	return out
}

// Defaults is the configuration when nobody sets anything.
func Defaults() Config {
	var c Config
	for _, s := range Settings() {
		if s.Default == "" {
			continue
		}
		if err := s.set(&c, s.Default); err != nil {
			panic("daemon: the default of " + s.Key + " " + err.Error())
		}
	}
	return c
}

// nearest is the word of list that s was probably meant to be, "" when none is close.
func nearest(s string, list []string) string {
	if near := tool.Nearest(s, list, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}
