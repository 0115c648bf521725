package toolbox

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

var numeralRE = regexp.MustCompile(`^([+-]?\d{1,15})(?:([.,])(\d{1,9}))?\s?(%?)$`)

// numerals makes numbers of the texts that stand where a service wants one:
// "35", "30%" where the field counts in percent, "21,5". Home Assistant takes
// only the first of these.
func (r *request) numerals() {
	for _, f := range r.svc.Fields {
		text, ok := mirror.Unquote(r.data[f.Name])
		if !ok {
			continue
		}
		if n, ok := numeral(text, f); ok {
			r.data[f.Name] = raw(n)
			r.note(f.Name, " ", tool.Quote(text, 40), " was read as ", string(raw(n)))
		}
	}
}

// numeral reads a text as the number a field wants. What could mean two things
// is none: 1,500 and a percentage of something that is not counted in percent.
func numeral(text string, f home.ServiceField) (float64, bool) {
	var selector struct {
		Number *struct {
			Max  *float64
			Unit string `json:"unit_of_measurement"`
		}
		ColorTemp json.RawMessage `json:"color_temp"`
	}
	if json.Unmarshal(f.Selector, &selector) != nil || selector.Number == nil && len(selector.ColorTemp) == 0 {
		return 0, false
	}
	m := numeralRE.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[2] == "," && len(m[3]) == 3 {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1]+"."+m[3]+"0", 64)
	if err != nil || m[4] == "" {
		return n, err == nil
	}
	switch s := selector.Number; {
	case s == nil:
		return 0, false
	case s.Unit == "%", strings.HasSuffix(f.Name, "_pct"):
		return n, true
	case s.Unit == "" && s.Max != nil && *s.Max == 1:
		return n / 100, true
	}
	return 0, false
}
