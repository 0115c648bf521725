package simhome

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// deed is what a service does: to each entity, or to the whole house.
type deed struct {
	each    func(*call, string) *fault
	whole   func(*call) *fault
	feature int    // an entity must support one of these bits; 0: none needed
	also    string // keys it takes beside those of its description
}

// deeds is the table of everything the house can do.
func deeds() map[string]deed {
	return join(lightDeeds(), moverDeeds(), airDeeds(), mediaDeeds(), helperDeeds(), listDeeds(), houseDeeds())
}

func join(parts ...map[string]deed) map[string]deed {
	all := map[string]deed{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

// shows is the deed of a service after which the entity shows a state.
func shows(state string, feature int) deed {
	return deed{feature: feature, each: func(c *call, id string) *fault { return c.show(id, state, nil) }}
}

// sets is the deed of a service that gives an attribute the value of a key of its data.
func sets(key string, feature int) deed {
	return deed{feature: feature, each: func(c *call, id string) *fault {
		return c.show(id, c.h.value(id), map[string]any{key: c.data[key]})
	}}
}

// chooses is sets for a key that must be one of those another attribute offers.
func chooses(key, offered string, feature int) deed {
	return deed{feature: feature, each: func(c *call, id string) *fault {
		if f := oneOf(c.h, id, offered, c.text(key)); f != nil {
			return f
		}
		return c.show(id, c.h.value(id), map[string]any{key: c.data[key]})
	}}
}

// says is the deed of a service after which the entity shows a value of its data.
func says(key string) deed {
	return deed{each: func(c *call, id string) *fault { return c.show(id, fmt.Sprint(c.data[key]), nil) }}
}

// toggles does one of two deeds, by what the entity shows.
func toggles(shown string, then, otherwise deed) deed {
	return deed{feature: then.feature | otherwise.feature, also: then.also, each: func(c *call, id string) *fault {
		if c.h.value(id) == shown {
			return then.each(c, id)
		}
		return otherwise.each(c, id)
	}}
}

// onOff makes the three deeds of a domain that is simply on or off.
func onOff(domain string) map[string]deed {
	on, off := shows("on", 0), shows("off", 0)
	return map[string]deed{domain + ".turn_on": on, domain + ".turn_off": off, domain + ".toggle": toggles("on", off, on)}
}

func flip(v string) string {
	if v == "on" {
		return "off"
	}
	return "on"
}

// moverDeeds are covers, locks, valves, vacuums and the alarm: things that take time.
func moverDeeds() map[string]deed {
	cover := func(to, feature int) deed {
		return deed{feature: feature, each: func(c *call, id string) *fault { return c.moveCover(id, to) }}
	}
	slow := func(moving, rest string, feature int) deed {
		return deed{feature: feature, also: "code", each: func(c *call, id string) *fault { return c.turn(id, moving, rest) }}
	}
	return map[string]deed{
		"cover.open_cover":  cover(100, 1),
		"cover.close_cover": cover(0, 2),
		"cover.toggle":      toggles("closed", cover(100, 1), cover(0, 2)),
		"cover.set_cover_position": {feature: 4, each: func(c *call, id string) *fault {
			p, _ := c.num("position")
			return c.moveCover(id, int(p+5)/10*10)
		}},
		"cover.stop_cover": {feature: 8, each: func(c *call, id string) *fault {
			c.h.mind(id).goal = nil
			return c.show(id, coverRest(c.h.attrs(id)), nil)
		}},
		"lock.lock":                          slow("locking", "locked", 0),
		"lock.unlock":                        slow("unlocking", "unlocked", 0),
		"lock.open":                          slow("opening", "open", 1),
		"valve.open_valve":                   slow("opening", "open", 1),
		"valve.close_valve":                  slow("closing", "closed", 2),
		"vacuum.start":                       {each: vacuumStart, feature: 8192},
		"vacuum.pause":                       toggles("cleaning", shows("paused", 4), deed{each: func(*call, string) *fault { return nil }}),
		"vacuum.stop":                        shows("idle", 8),
		"vacuum.locate":                      shows("idle", 512),
		"vacuum.set_fan_speed":               sets("fan_speed", 32),
		"vacuum.return_to_base":              {each: vacuumHome, feature: 16},
		"alarm_control_panel.alarm_arm_away": {each: alarm("armed_away"), feature: 2, also: "code"},
		"alarm_control_panel.alarm_disarm":   {each: alarm("disarmed"), also: "code"},
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
		return c.show(id, map[int]string{0: "closed", 100: "open"}[to], map[string]any{"is_closed": to == 0})
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

const turnTime = 2 * time.Second

// turn takes two seconds, and the call with it; a poorly installed door jams.
func (c *call) turn(id, moving, rest string) *fault {
	h := c.h
	lock := domainOf(id) == "lock"
	if !lock && h.value(id) == rest {
		return nil
	}
	c.show(id, moving, nil)
	if h.mind(id).jams && rest == "locked" {
		rest = "jammed"
	}
	c.pending++
	h.after(turnTime, func() {
		attrs := h.attrs(id)
		if !lock {
			attrs = merged(attrs, map[string]any{"is_closed": rest == "closed"})
		}
		h.show(id, rest, attrs)
		c.finish()
	})
	return nil
}

func vacuumStart(c *call, id string) *fault {
	if c.h.value(id) == "cleaning" {
		return nil
	}
	area, _ := number(c.h.attrs(id)["cleaned_area"])
	return c.show(id, "cleaning", map[string]any{"cleaned_area": area + 1.32})
}

// vacuumHome takes thirty seconds, longer than a context is kept.
func vacuumHome(c *call, id string) *fault {
	h := c.h
	h.after(30*time.Second, func() { h.show(id, "docked", h.attrs(id)) })
	return c.show(id, "returning", nil)
}

// alarm needs the demo panel's code; arming takes half a minute.
func alarm(to string) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		h := c.h
		if fmt.Sprint(c.data["code"]) != "1234" {
			return invalid("Invalid alarm code provided", "invalid_code", "manual", nil)
		}
		done := map[string]any{"previous_state": nil, "next_state": nil}
		if to == "disarmed" {
			return c.show(id, to, done)
		}
		h.after(30*time.Second, func() {
			if h.value(id) == "arming" {
				h.show(id, to, merged(h.attrs(id), done))
			}
		})
		return c.show(id, "arming", map[string]any{"previous_state": h.value(id), "next_state": to})
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
	m := h.minds[id]
	if m == nil {
		m = &mind{jams: strings.Contains(id, "poorly_installed")}
		h.minds[id] = m
	}
	return m
}
