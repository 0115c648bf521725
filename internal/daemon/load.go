package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hearth/internal/home"
	"hearth/internal/secret"
)

// Sources is where a configuration comes from. Flags win over the environment,
// which wins over the file.
type Sources struct {
	Data   string              // the data directory, for the default file and relative paths
	File   string              // hearth.yaml elsewhere; it must exist then
	Flags  map[string][]string // by flag name, only those given
	Lookup func(string) (string, bool)
	Names  []string // names of all environment variables, to find misspelt ones
}

// Origin says where a setting's value came from.
type Origin struct {
	Kind string // default, file, environment, flag
	File string
	Line int
	Name string // of the variable or flag
}

// String is the origin as a person reads it.
func (o Origin) String() string {
	switch o.Kind {
	case "file":
		return o.File + ":" + strconv.Itoa(o.Line)
	case "environment", "flag":
		return o.Name
	}
	return "default"
}

// Loaded is a configuration with its sources.
type Loaded struct {
	Config
	File    string            // the file read, "" when there was none
	Origins map[string]Origin // by key
	Notes   []string          // what looks like a mistake and is none for sure
}

// Load reads and checks the configuration. What is wrong with it comes as one
// *Broken that lists everything; Loaded holds what could be understood all the
// same, so that the address to complain at is known.
func Load(src Sources) (Loaded, error) {
	l := Loaded{Config: Defaults(), Origins: map[string]Origin{}}
	bad := &Broken{}
	l.readFile(src, bad)
	l.readEnv(src, bad)
	l.readFlags(src, bad)
	l.resolve(src)
	if len(bad.Problems) == 0 {
		// Checks come last and only on what could be read: complaining of a missing
		// URL beside a misspelt one would send the reader to the wrong line.
		l.loadToken(bad)
		l.check(bad)
	}
	return l, bad.orNil()
}

func (l *Loaded) readFile(src Sources, bad *Broken) {
	path := src.File
	if path == "" {
		path = filepath.Join(src.Data, "hearth.yaml")
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && src.File == "":
		return
	case err != nil:
		bad.add(Problem{File: path, Msg: "cannot be read: " + reason(err), Remedy: "check the path and its rights, or run hearth setup"})
		return
	}
	l.File = path
	(&reader{l: l, file: path, bad: bad, settings: Settings()}).read(text)
}

func (l *Loaded) readEnv(src Sources, bad *Broken) {
	known := []string{"HEARTH_DATA", "HEARTH_CONFIG"}
	for _, s := range Settings() {
		if s.Kind == "rules" {
			continue
		}
		known = append(known, s.Env)
		text, ok := src.Lookup(s.Env)
		if !ok || text == "" {
			continue
		}
		if err := s.set(&l.Config, text); err != nil {
			bad.add(Problem{Field: s.Env, Value: shown(s, text), Msg: err.Error(), Remedy: "correct or unset the environment variable; " + s.form()})
			continue
		}
		l.Origins[s.Key] = Origin{Kind: "environment", Name: s.Env}
	}
	for _, n := range src.Names {
		if strings.HasPrefix(n, "HEARTH_") && !slices.Contains(known, n) {
			// Not an error: container platforms set HEARTH_PORT and the like by themselves.
			if near := nearest(n, known); near != "" && home.Distance(n, near, 2) <= 2 {
				l.Notes = append(l.Notes, "the environment variable "+n+" means nothing to Hearth; did you mean "+near+"?")
			}
		}
	}
}

func (l *Loaded) readFlags(src Sources, bad *Broken) {
	for _, s := range Settings() {
		texts := src.Flags[s.Flag]
		if len(texts) == 0 {
			continue
		}
		if err := s.set(&l.Config, texts...); err != nil {
			bad.add(Problem{Field: "--" + s.Flag, Value: strings.Join(texts, ","), Msg: err.Error(), Remedy: s.form()})
			continue
		}
		l.Origins[s.Key] = Origin{Kind: "flag", Name: "--" + s.Flag}
	}
}

// resolve makes relative paths absolute: those of the file start in the data
// directory, those of flags and variables where the command runs.
func (l *Loaded) resolve(src Sources) {
	for key, p := range map[string]*string{"ha.token_file": &l.HA.TokenFile, "ha.ca_file": &l.HA.CAFile} {
		if *p == "" || filepath.IsAbs(*p) || l.Origins[key].Kind != "file" {
			continue
		}
		*p = filepath.Join(src.Data, *p)
	}
}

// loadToken reads ha.token_file unless a stronger source gave the token: a
// flag's file wins over the variable's token.
func (l *Loaded) loadToken(bad *Broken) {
	if l.HA.TokenFile == "" || !l.HA.Token.Empty() && l.Origins["ha.token_file"].Kind != "flag" {
		return
	}
	v, err := secret.Load(l.HA.TokenFile)
	if err != nil {
		p := l.problem("ha.token_file", l.HA.TokenFile)
		p.Msg = "cannot be used: " + strings.TrimPrefix(err.Error(), "read secret: ")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			p.Msg = "cannot be read: " + reason(err)
			if at, err := filepath.Abs(l.HA.TokenFile); err == nil && at != p.Value {
				p.Msg += " (" + at + ")"
			}
		}
		p.Remedy = "put a long-lived access token into the file (one line, mode 0600), or run hearth setup"
		bad.add(p)
		return
	}
	if secret.Loose(l.HA.TokenFile) {
		l.Notes = append(l.Notes, "others may read "+l.HA.TokenFile+": chmod 600 it")
	}
	l.HA.Token = v
}

func (l *Loaded) check(bad *Broken) {
	all := Settings()
	for section, c := range sections(&l.Config) {
		for _, f := range c.Check() {
			key := section + f.Key
			i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
			p := l.problem(key, shown(all[i], all[i].text(&l.Config)))
			p.Msg, p.Remedy = f.Msg, f.Remedy
			bad.add(p)
		}
	}
}

// problem starts a Problem at the place where key was set.
func (l *Loaded) problem(key, value string) Problem {
	o := l.Origins[key]
	p := Problem{Field: key, Value: value, File: o.File, Line: o.Line}
	if o.Name != "" {
		p.Field = o.Name
	} else if o.Kind == "" {
		p.File = l.File // a missing one belongs into the file
	}
	return p
}

// shown is a value as a message may show it.
func shown(s Setting, text string) string {
	if text != "" && (s.Kind == "secret" || secret.Sensitive(s.Key)) {
		return secret.Stars
	}
	return secret.Text(text)
}

// form says how a value of the setting is written.
func (s Setting) form() string {
	if s.Enum != nil {
		return "use one of " + strings.Join(s.Enum, ", ")
	}
	switch {
	case s.Example != "":
		return "write for example " + s.Example
	case s.Default != "":
		return "write for example " + s.Default
	}
	return "see docs/config.md"
}

// Environ gives Sources the process's own environment.
func Environ() (lookup func(string) (string, bool), names []string) {
	for _, kv := range os.Environ() {
		n, _, _ := strings.Cut(kv, "=")
		names = append(names, n)
	}
	return os.LookupEnv, names
}

// FlagStruct makes a struct with one field per setting that may stand on the
// command line, for kong; FlagValues reads what was given.
func FlagStruct() any {
	var fields []reflect.StructField
	for i, s := range Settings() {
		if !s.OnLine() {
			continue
		}
		t := reflect.TypeFor[*string]()
		tag := `name:"` + s.Flag + `" help:` + strconv.Quote(strings.ReplaceAll(s.Help, "$", "$$")) + ` group:"Settings"`
		switch s.Kind {
		case "list":
			t = reflect.TypeFor[[]string]()
		case "yes or no":
			t, tag = reflect.TypeFor[*bool](), tag+` negatable:""`
		}
		if s.Kind != "yes or no" {
			tag += ` placeholder:` + strconv.Quote(home.Clip(firstOf(s.Default, s.Example, strings.ToUpper(s.Kind)), 40))
		}
		fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: t, Tag: reflect.StructTag(tag)})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// FlagValues reads the settings given on the command line out of a FlagStruct.
func FlagValues(flags any) map[string][]string {
	out := map[string][]string{}
	v := reflect.ValueOf(flags).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("name")
		switch x := v.Field(i).Interface().(type) {
		case *string:
			if x != nil {
				out[name] = []string{*x}
			}
		case *bool:
			if x != nil {
				out[name] = []string{strconv.FormatBool(*x)}
			}
		case []string:
			if x != nil {
				out[name] = x
			}
		}
	}
	return out
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
