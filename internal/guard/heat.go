package guard

import (
	"encoding/json"
	"strconv"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// temperatures holds a climate's set points between 7 and 28 °C.
func (j *judging) temperatures(id home.EntityID, a act) *home.Error {
	for _, key := range []string{"temperature", "target_temp_high", "target_temp_low"} {
		if err := j.mild(id, a, key, j.v.Info().Units["temperature"]); err != nil {
			return err
		}
	}
	return nil
}

// number holds a number that is a temperature to what a climate may be set to:
// on a thermostat it is another handle on the same set point, and what it heats
// elsewhere is not known. On a thermostat a number that says neither unit nor
// class may be a set point, too, and a difference moves what it measures.
func (j *judging) number(row *home.Entity, state *home.State, a act) *home.Error {
	var unit string
	if raw := mirror.Attribute(state, "unit_of_measurement"); raw != nil && json.Unmarshal(raw, &unit) != nil {
		unit = "?"
	}
	id, class := idOf(row, state), mirror.Class(row, state)
	heater := j.heater(row)
	switch {
	case class == "temperature":
	case class == "temperature_delta" && heater != "":
		return j.notListedBecause(a, id, "it shifts the temperature of "+j.called(heater))
	case class == "" && (unit == "°C" || unit == "°F" || unit == "K"):
	case class == "" && unit == "" && heater != "":
		unit = j.v.Info().Units["temperature"]
	default:
		return nil
	}
	return j.mild(id, a, "value", unit)
}

// idOf is the id of an entity of which at least one half is known.
func idOf(row *home.Entity, state *home.State) home.EntityID {
	if row != nil {
		return row.ID
	}
	return state.ID
}

// heater finds a climate or water heater of the same device, of the one that it
// is part of, or of another part of it.
func (j *judging) heater(row *home.Entity) home.EntityID {
	if row == nil || row.Device == "" {
		return ""
	}
	own := j.v.Device(row.Device)
	for _, domain := range []string{"climate", "water_heater"} {
		for e := range j.v.Entities(home.Everything(), mirror.Filter{Domain: domain}) {
			if e.Device == "" {
				continue
			}
			other := j.v.Device(e.Device)
			switch {
			case e.Device == row.Device,
				own != nil && own.Parent != "" && own.Parent == e.Device,
				other != nil && other.Parent != "" && (other.Parent == row.Device || own != nil && other.Parent == own.Parent):
				return e.ID
			}
		}
	}
	return ""
}

// mild denies a temperature in the data of a call outside of 7 to 28 °C, and
// one that nobody can compare with that.
func (j *judging) mild(id home.EntityID, a act, key, unit string) *home.Error {
	v, ok := a.data[key]
	if !ok || v == nil {
		return nil
	}
	n, ok := degrees(v)
	if !ok {
		return j.notListedBecause(a, id, key+" is not a plain number")
	}
	low, high := 7.0, 28.0
	switch unit {
	case "°C":
	case "°F":
		low, high = 44.6, 82.4
	case "K":
		low, high = 280.15, 301.15
	default:
		return j.notListedBecause(a, id, "the unit of its temperature is not known")
	}
	if !(n >= low && n <= high) {
		return j.notListedBecause(a, id, key+" must be from "+short(low)+" to "+short(high)+" "+unit)
	}
	return nil
}

func short(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// degrees reads a number or the text of one.
func degrees(v any) (float64, bool) {
	var text string
	switch x := v.(type) {
	case json.Number:
		text = x.String()
	case string:
		text = strings.TrimSpace(x)
	default:
		return 0, false
	}
	if !json.Valid([]byte(text)) {
		return 0, false // ParseFloat also takes hexadecimal and infinity
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}
