package simhome

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// deed is what a service does.
type deed struct {
	each    func(*call, string) *fault
	whole   func(*call) *fault
	feature int
	also    []string // keys it takes beside those of its description
}

// deeds is the table of everything the house can do.
func deeds() map[string]deed {
	all := map[string]deed{}
	for _, part := range []map[string]deed{lightDeeds(), moverDeeds(), airDeeds(), mediaDeeds(), helperDeeds(), listDeeds(), houseDeeds()} {
		for k, d := range part {
			all[k] = d
		}
	}
	return all
}

// onOff makes the three deeds of a domain that is simply on or off.
func onOff(domain string, feature int) map[string]deed {
	set := func(v string) func(*call, string) *fault {
		return func(c *call, id string) *fault {
			c.show(id, v, nil)
			return nil
		}
	}
	return map[string]deed{
		domain + ".turn_on":  {each: set("on"), feature: feature},
		domain + ".turn_off": {each: set("off"), feature: feature},
		domain + ".toggle": {feature: feature, each: func(c *call, id string) *fault {
			return set(flip(c.h.value(id)))(c, id)
		}},
	}
}

func flip(v string) string {
	if v == "on" {
		return "off"
	}
	return "on"
}

func join(maps ...map[string]deed) map[string]deed {
	all := map[string]deed{}
	for _, m := range maps {
		for k, d := range m {
			all[k] = d
		}
	}
	return all
}

// moverDeeds are covers, locks, valves, vacuums and the alarm: things that take time.
func moverDeeds() map[string]deed {
	return map[string]deed{
		"cover.open_cover":  {each: func(c *call, id string) *fault { return c.moveCover(id, 100) }, feature: 1},
		"cover.close_cover": {each: func(c *call, id string) *fault { return c.moveCover(id, 0) }, feature: 2},
		"cover.set_cover_position": {feature: 4, each: func(c *call, id string) *fault {
			p, _ := c.num("position")
			return c.moveCover(id, int(p+5)/10*10)
		}},
		"cover.stop_cover": {feature: 8, each: func(c *call, id string) *fault {
			c.h.mind(id).goal = nil
			c.show(id, coverRest(c.h.attrs(id)), nil)
			return nil
		}},
		"cover.toggle": {feature: 3, each: func(c *call, id string) *fault {
			if c.h.value(id) == "closed" {
				return c.moveCover(id, 100)
			}
			return c.moveCover(id, 0)
		}},
		"lock.lock":   {each: func(c *call, id string) *fault { return c.turnLock(id, "locking", "locked") }, also: []string{"code"}},
		"lock.unlock": {each: func(c *call, id string) *fault { return c.turnLock(id, "unlocking", "unlocked") }, also: []string{"code"}},
		"lock.open":   {each: func(c *call, id string) *fault { return c.turnLock(id, "opening", "open") }, feature: 1, also: []string{"code"}},
		"valve.open_valve": {feature: 1, each: func(c *call, id string) *fault {
			return c.turnValve(id, "opening", "open", false)
		}},
		"valve.close_valve": {feature: 2, each: func(c *call, id string) *fault {
			return c.turnValve(id, "closing", "closed", true)
		}},
		"vacuum.start":          {each: vacuum("cleaning"), feature: 8192},
		"vacuum.pause":          {each: vacuum("paused"), feature: 4},
		"vacuum.stop":           {each: vacuum("idle"), feature: 8},
		"vacuum.locate":         {each: vacuum("idle"), feature: 512},
		"vacuum.return_to_base": {each: vacuumHome, feature: 16},
		"vacuum.set_fan_speed": {feature: 32, each: func(c *call, id string) *fault {
			c.show(id, c.h.value(id), map[string]any{"fan_speed": c.text("fan_speed")})
			return nil
		}},
		"alarm_control_panel.alarm_arm_away": {each: alarm("armed_away"), feature: 2, also: []string{"code"}},
		"alarm_control_panel.alarm_disarm":   {each: alarm("disarmed"), also: []string{"code"}},
	}
}

// coverStep is how often a moving cover moves, and coverStride how far.
const (
	coverStep   = time.Second
	coverStride = 10
)

// moveCover starts a cover towards a position; one without positions jumps.
func (c *call) moveCover(id string, to int) *fault {
	h := c.h
	at, ok := number(h.attrs(id)["current_position"])
	if !ok {
		c.show(id, map[int]string{0: "closed", 100: "open"}[to], map[string]any{"is_closed": to == 0})
		return nil
	}
	if int(at) == to {
		return nil
	}
	m := h.mind(id)
	moving := m.goal != nil
	m.goal = &to
	c.show(id, map[bool]string{true: "opening", false: "closing"}[to > int(at)], nil)
	if !moving {
		h.after(coverStep, func() { h.coverTick(id) })
	}
	return nil
}

func (h *House) coverTick(id string) {
	m := h.mind(id)
	if m.goal == nil {
		return
	}
	p, _ := number(h.attrs(id)["current_position"])
	at, to := int(p), *m.goal
	if to > at {
		at = min(at+coverStride, to)
	} else {
		at = max(at-coverStride, to)
	}
	attrs := merged(h.attrs(id), map[string]any{"current_position": at, "is_closed": at <= 0})
	if at != to {
		h.show(id, h.value(id), attrs)
		h.after(coverStep, func() { h.coverTick(id) })
		return
	}
	m.goal = nil
	h.show(id, coverRest(attrs), attrs)
}

func coverRest(attrs map[string]any) string {
	if p, ok := number(attrs["current_position"]); ok && p <= 0 || !ok && attrs["is_closed"] == true {
		return "closed"
	}
	return "open"
}

const lockTime = 2 * time.Second

// turnLock takes two seconds, and the call with it; a poorly installed door jams.
func (c *call) turnLock(id, moving, rest string) *fault {
	h := c.h
	c.show(id, moving, nil)
	if h.mind(id).jams && rest == "locked" {
		rest = "jammed"
	}
	c.later(func(do func()) { h.after(lockTime, do) }, func() { h.show(id, rest, h.attrs(id)) })
	return nil
}

func (c *call) turnValve(id, moving, rest string, closed bool) *fault {
	h := c.h
	if h.value(id) == rest {
		return nil
	}
	c.show(id, moving, nil)
	c.later(func(do func()) { h.after(lockTime, do) }, func() {
		h.show(id, rest, merged(h.attrs(id), map[string]any{"is_closed": closed}))
	})
	return nil
}

func vacuum(to string) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		was := c.h.value(id)
		if to == "paused" && was != "cleaning" || to == "cleaning" && was == "cleaning" {
			return nil
		}
		var attrs map[string]any
		if to == "cleaning" {
			area, _ := number(c.h.attrs(id)["cleaned_area"])
			attrs = map[string]any{"cleaned_area": area + 1.32}
		}
		c.show(id, to, attrs)
		return nil
	}
}

// vacuumHome takes thirty seconds, longer than a context is kept.
func vacuumHome(c *call, id string) *fault {
	h := c.h
	c.show(id, "returning", nil)
	h.after(30*time.Second, func() { h.show(id, "docked", h.attrs(id)) })
	return nil
}

// alarm needs the demo panel's code to disarm, and a minute or so to arm.
func alarm(to string) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		h := c.h
		if fmt.Sprint(c.data["code"]) != "1234" {
			return &fault{code: "service_validation_error", message: "Validation error: Invalid alarm code provided",
				key: "invalid_code", domain: "manual"}
		}
		was := h.value(id)
		if to == "disarmed" {
			c.show(id, to, map[string]any{"previous_state": nil, "next_state": nil})
			return nil
		}
		c.show(id, "arming", map[string]any{"previous_state": was, "next_state": to})
		h.after(30*time.Second, func() {
			if h.value(id) == "arming" {
				h.show(id, to, merged(h.attrs(id), map[string]any{"previous_state": nil, "next_state": nil}))
			}
		})
		return nil
	}
}

// pythonFloat writes a number the way Python prints a float: 20 as 20.0.
func pythonFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

// mind is what an entity remembers that its state does not show.
type mind struct {
	goal  *int           // where a cover is going
	jams  bool           // a lock that jams
	shown map[string]any // attributes hidden while off
	stop  int            // counts restarts of a timer
}

func (h *House) mind(id string) *mind {
	if h.minds == nil {
		h.minds = map[string]*mind{}
	}
	m := h.minds[id]
	if m == nil {
		m = &mind{jams: strings.Contains(id, "poorly_installed")}
		h.minds[id] = m
	}
	return m
}
