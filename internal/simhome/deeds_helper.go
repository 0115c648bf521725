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
	return join(onOff("input_boolean", 0), map[string]deed{
		"input_number.set_value": {each: func(c *call, id string) *fault {
			v, _ := c.num("value")
			return c.setInputNumber(id, v)
		}},
		"input_number.increment": {each: stepNumber(1)},
		"input_number.decrement": {each: stepNumber(-1)},
		"input_text.set_value": {each: func(c *call, id string) *fault {
			c.show(id, fmt.Sprint(c.data["value"]), nil)
			return nil
		}},
		"input_select.select_option":   {each: selectOption},
		"select.select_option":         {each: selectOption},
		"input_select.select_next":     {each: selectStep(1)},
		"input_select.select_previous": {each: selectStep(-1)},
		"input_datetime.set_datetime":  {each: setTime},
		"number.set_value":             {each: setNumber},
		"text.set_value": {each: func(c *call, id string) *fault {
			c.show(id, fmt.Sprint(c.data["value"]), nil)
			return nil
		}},
		"button.press":       {each: press},
		"input_button.press": {each: press},
		"counter.increment":  {each: count(1)},
		"counter.decrement":  {each: count(-1)},
		"counter.reset": {each: func(c *call, id string) *fault {
			c.show(id, "0", nil)
			return nil
		}},
		"timer.start":  {each: timerStart},
		"timer.cancel": {each: timerCancel},
	})
}

func press(c *call, id string) *fault {
	c.show(id, iso(c.h.now()), nil)
	return nil
}

func (c *call) setInputNumber(id string, v float64) *fault {
	low, _ := number(c.h.attrs(id)["min"])
	high, _ := number(c.h.attrs(id)["max"])
	if v < low || v > high {
		return &fault{code: "invalid_format", message: fmt.Sprintf("Invalid value for %s: %s (range %s - %s)", id, pythonFloat(v), pythonFloat(low), pythonFloat(high))}
	}
	c.show(id, pythonFloat(v), nil)
	return nil
}

func stepNumber(by float64) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		at, _ := strconv.ParseFloat(c.h.value(id), 64)
		step, _ := number(c.h.attrs(id)["step"])
		low, _ := number(c.h.attrs(id)["min"])
		high, _ := number(c.h.attrs(id)["max"])
		return c.setInputNumber(id, min(high, max(low, at+by*step)))
	}
}

func selectOption(c *call, id string) *fault {
	if f := oneOf(c.h, id, "options", c.text("option")); f != nil {
		return f
	}
	c.show(id, c.text("option"), nil)
	return nil
}

func selectStep(by int) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		options := texts2(c.h.attrs(id)["options"])
		at := slices.Index(options, c.h.value(id)) + by
		if cycle, ok := c.data["cycle"].(bool); ok && !cycle {
			at = min(max(at, 0), len(options)-1)
		}
		c.show(id, options[(at+len(options))%len(options)], nil)
		return nil
	}
}

func setNumber(c *call, id string) *fault {
	v, _ := c.num("value")
	attrs := c.h.attrs(id)
	low, _ := number(attrs["min"])
	high, _ := number(attrs["max"])
	if v < low || v > high {
		return invalidChoice(fmt.Sprintf("Value %s for %s is outside valid range %s - %s", pythonFloat(v), id, pythonFloat(low), pythonFloat(high)),
			"out_of_range", "number", map[string]any{"value": v, "entity_id": id, "min_value": pythonFloat(low), "max_value": pythonFloat(high)})
	}
	c.show(id, pythonFloat(v), nil)
	return nil
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
	c.show(id, text, map[string]any{"hour": h, "minute": m, "second": s, "timestamp": h*3600 + m*60 + s})
	return nil
}

func count(by int) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		n, _ := strconv.Atoi(c.h.value(id))
		step, ok := number(c.h.attrs(id)["step"])
		if !ok {
			step = 1
		}
		c.show(id, strconv.Itoa(n+by*int(step)), nil)
		return nil
	}
}

// timerStart runs a timer that goes idle by itself.
func timerStart(c *call, id string) *fault {
	h := c.h
	text := c.text("duration")
	if text == "" {
		text, _ = h.attrs(id)["duration"].(string)
	}
	d := clock(text)
	text = clockText(d)
	m := h.mind(id)
	if m.shown == nil {
		m.shown = h.attrs(id)
	}
	m.stop++
	run := m.stop
	at := h.now()
	c.show(id, "active", map[string]any{"duration": text, "finishes_at": iso(at.Add(d).Truncate(time.Second)), "remaining": text, "last_transition": "started"})
	h.fireJSON("timer.started", c.ctx, map[string]any{"entity_id": id})
	h.after(d, func() {
		if m.stop == run && h.value(id) == "active" {
			h.show(id, "idle", h.timerRest(id, "finished"))
			h.fireJSON("timer.finished", h.newCause("", ""), map[string]any{"entity_id": id})
		}
	})
	return nil
}

func timerCancel(c *call, id string) *fault {
	h := c.h
	if h.value(id) == "idle" {
		return nil
	}
	h.mind(id).stop++
	h.hold(id, c.ctx)
	h.show(id, "idle", h.timerRest(id, "cancelled"))
	h.fireJSON("timer.cancelled", c.ctx, map[string]any{"entity_id": id})
	return nil
}

// timerRest is what a timer shows when it is over: its own duration again.
func (h *House) timerRest(id, why string) map[string]any {
	return merged(h.mind(id).shown, map[string]any{"last_transition": why})
}

// clockText writes a duration the way Python prints one.
func clockText(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// clock reads a duration written as 0:45:00.
func clock(text string) time.Duration {
	var d time.Duration
	for part := range strings.SplitSeq(text, ":") {
		n, _ := strconv.Atoi(part)
		d = d*60 + time.Duration(n)*time.Second
	}
	return d
}
