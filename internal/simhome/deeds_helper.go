package simhome

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// helperDeeds are the helpers people make, and number, select, text and buttons.
func helperDeeds() map[string]deed {
	press := deed{each: func(c *call, id string) *fault { return c.show(id, iso(c.h.now()), nil) }}
	option := deed{each: func(c *call, id string) *fault {
		if f := oneOf(c.h, id, "options", c.text("option")); f != nil {
			return f
		}
		return c.show(id, c.text("option"), nil)
	}}
	return join(onOff("input_boolean"), map[string]deed{
		"input_number.set_value": {each: func(c *call, id string) *fault {
			v, _ := c.num("value")
			return c.setNumber(id, v)
		}},
		"number.set_value": {each: func(c *call, id string) *fault {
			v, _ := c.num("value")
			return c.setNumber(id, v)
		}},
		"input_number.increment":       stepNumber(1),
		"input_number.decrement":       stepNumber(-1),
		"input_text.set_value":         says("value"),
		"text.set_value":               says("value"),
		"input_select.select_option":   option,
		"select.select_option":         option,
		"input_select.select_next":     selectStep(1),
		"input_select.select_previous": selectStep(-1),
		"input_datetime.set_datetime":  {each: setTime},
		"button.press":                 press,
		"input_button.press":           press,
		"notify.send_message":          press,
		"counter.increment":            count(1),
		"counter.decrement":            count(-1),
		"counter.reset":                shows("0", 0),
		"timer.start":                  {each: timerStart},
		"timer.cancel":                 {each: timerCancel},
	})
}

// setNumber shows a value within the entity's range; the two domains refuse others in their own words.
func (c *call) setNumber(id string, v float64) *fault {
	low, _ := number(c.h.attrs(id)["min"])
	high, _ := number(c.h.attrs(id)["max"])
	val, from, to := pythonFloat(v), pythonFloat(low), pythonFloat(high)
	switch {
	case v >= low && v <= high:
		return c.show(id, val, nil)
	case domainOf(id) == "input_number":
		return &fault{code: "invalid_format", message: "Invalid value for " + id + ": " + val + " (range " + from + " - " + to + ")"}
	}
	return invalid("Value "+val+" for "+id+" is outside valid range "+from+" - "+to, "out_of_range", "number",
		map[string]any{"value": v, "entity_id": id, "min_value": from, "max_value": to})
}

func stepNumber(by float64) deed {
	return deed{each: func(c *call, id string) *fault {
		at, _ := strconv.ParseFloat(c.h.value(id), 64)
		step, _ := number(c.h.attrs(id)["step"])
		low, _ := number(c.h.attrs(id)["min"])
		high, _ := number(c.h.attrs(id)["max"])
		return c.setNumber(id, min(high, max(low, at+by*step)))
	}}
}

func selectStep(by int) deed {
	return deed{each: func(c *call, id string) *fault {
		options := texts2(c.h.attrs(id)["options"])
		at := slices.Index(options, c.h.value(id)) + by
		if c.data["cycle"] == false {
			at = min(max(at, 0), len(options)-1)
		}
		return c.show(id, options[(at+len(options))%len(options)], nil)
	}}
}

func setTime(c *call, id string) *fault {
	text := c.text("time")
	if len(text) == 5 {
		text += ":00"
	}
	t, err := time.Parse("15:04:05", text)
	if err != nil {
		return &fault{code: "invalid_format", message: "Invalid time specified: " + text + " at 'time'"}
	}
	h, m, s := t.Clock()
	return c.show(id, text, map[string]any{"hour": h, "minute": m, "second": s, "timestamp": h*3600 + m*60 + s})
}

func count(by int) deed {
	return deed{each: func(c *call, id string) *fault {
		n, _ := strconv.Atoi(c.h.value(id))
		step, _ := number(c.h.attrs(id)["step"])
		return c.show(id, strconv.Itoa(n+by*int(step)), nil)
	}}
}

// timerStart runs a timer that goes idle by itself.
func timerStart(c *call, id string) *fault {
	h, m := c.h, c.h.mind(id)
	text := c.text("duration")
	if text == "" {
		text, _ = h.attrs(id)["duration"].(string)
	}
	d := clock(text)
	text = clockText(d)
	if m.shown == nil {
		m.shown = h.attrs(id)
	}
	m.stop++
	run := m.stop
	c.show(id, "active", map[string]any{"duration": text, "finishes_at": iso(h.now().Add(d).Truncate(time.Second)), "remaining": text, "last_transition": "started"})
	h.fireJSON("timer.started", c.ctx, map[string]any{"entity_id": id})
	h.after(d, func() {
		if m.stop == run && h.value(id) == "active" {
			h.timerRest(id, "finished", h.newCause("", ""))
		}
	})
	return nil
}

func timerCancel(c *call, id string) *fault {
	if c.h.value(id) != "idle" {
		c.h.mind(id).stop++
		c.h.timerRest(id, "cancelled", c.ctx)
	}
	return nil
}

// timerRest makes a timer idle, with its own duration again.
func (h *House) timerRest(id, why string, ctx cause) {
	h.hold(id, ctx)
	h.show(id, "idle", merged(h.mind(id).shown, map[string]any{"last_transition": why}))
	h.fireJSON("timer."+why, ctx, map[string]any{"entity_id": id})
}

// clock reads a duration written as 0:45:00, and clockText writes one as Python prints it.
func clock(text string) time.Duration {
	var d time.Duration
	for part := range strings.SplitSeq(text, ":") {
		n, _ := strconv.Atoi(part)
		d = d*60 + time.Duration(n)*time.Second
	}
	return d
}

func clockText(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
