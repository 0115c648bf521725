package simhome

import (
	"fmt"
	"strconv"
	"time"
)

// Calls is how many calls of a service came from clients, by name such as "light.turn_on".
func (h *House) Calls(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[name]
}

// CallsTotal is how many service calls came from clients.
func (h *House) CallsTotal() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, c := range h.calls {
		n += c
	}
	return n
}

// ResetCalls sets all counters of service calls to zero.
func (h *House) ResetCalls() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.calls)
}

// act is something of the hour of life: when, and what.
type act struct {
	at time.Duration
	do func()
}

// planLife books an hour of believable life, and the next hour at its end.
func (h *House) planLife() {
	for _, a := range h.hour() {
		h.after(a.at, a.do)
	}
	h.after(time.Hour, h.planLife)
}

// device makes an entity show a value as its device reports it.
func (h *House) device(id, value string) func() {
	return func() {
		if h.states[id] != nil {
			h.write(id, value, h.attrs(id), h.newCause("", ""))
		}
	}
}

// person calls a service as somebody does with the app.
func (h *House) person(user, domain, name string, data map[string]any) func() {
	return func() {
		h.call(ask{domain: domain, name: name, data: data, ctx: h.newCause("", user)}, nil)
	}
}

// hour is what happens within one hour; the seed moves it a little.
func (h *House) hour() []act {
	jitter := func(d time.Duration) time.Duration {
		return d + time.Duration(h.rng.Int64N(int64(20*time.Second)))
	}
	m := time.Minute
	one := func(id string) map[string]any { return map[string]any{"entity_id": []any{id}} }
	acts := []act{
		{jitter(10 * time.Second), h.device("binary_sensor.hallway_motion", "on")},
		{jitter(2 * m), h.device("binary_sensor.hallway_motion", "off")},
		{jitter(5 * m), h.person(annaID, "light", "turn_on", map[string]any{"entity_id": []any{"light.schreibtisch"}, "brightness_pct": 60.0})},
		{jitter(9 * m), h.person(ownerID, "input_boolean", "turn_on", one("input_boolean.guest_mode"))},
		{jitter(12 * m), h.person(annaID, "cover", "close_cover", one("cover.hall_window"))},
		{jitter(15 * m), h.person(ownerID, "climate", "set_temperature", map[string]any{"entity_id": []any{"climate.hvac"}, "temperature": 20.5})},
		{jitter(18 * m), h.person(annaID, "script", "turn_on", one("script.lesezeit"))},
		{jitter(22 * m), h.device("binary_sensor.hallway_motion", "on")},
		{jitter(24 * m), h.device("binary_sensor.hallway_motion", "off")},
		{jitter(28 * m), h.device("binary_sensor.haustur", "on")},
		{jitter(28*m + 20*time.Second), h.device("binary_sensor.haustur", "off")},
		{jitter(31 * m), h.person(ownerID, "lock", "lock", one("lock.kitchen_door"))},
		{jitter(34 * m), h.person(ownerID, "vacuum", "start", one("vacuum.demo_vacuum_0_ground_floor"))},
		{jitter(40 * m), h.person(ownerID, "vacuum", "return_to_base", one("vacuum.demo_vacuum_0_ground_floor"))},
		{jitter(43 * m), h.person(annaID, "media_player", "volume_set", map[string]any{"entity_id": []any{"media_player.walkman"}, "volume_level": 0.35})},
		{jitter(47 * m), h.person(ownerID, "input_boolean", "turn_off", one("input_boolean.guest_mode"))},
		{jitter(50 * m), h.person(ownerID, "lock", "unlock", one("lock.kitchen_door"))},
		{jitter(53 * m), h.device("sensor.waschmaschine_leistung", "4.2")},
		{jitter(57 * m), h.person(annaID, "light", "turn_off", one("light.schreibtisch"))},
	}
	return append(acts, h.drift()...)
}

// drift lets the sensors wander.
func (h *House) drift() []act {
	var acts []act
	for _, w := range []struct {
		id string
		by float64
	}{{"sensor.outside_temperature", 0.1}, {"sensor.outside_humidity", 1}, {"sensor.power_consumption", 7},
		{"sensor.waschmaschine_leistung", 35}, {"sensor.carbon_dioxide", 4}, {"sensor.kuche_sud_temperatur", 0.1}} {
		id, by := w.id, w.by
		s := h.states[id]
		if s == nil {
			continue
		}
		v, err := strconv.ParseFloat(s.value, 64)
		if err != nil {
			continue
		}
		for at := time.Duration(0); at < time.Hour; at += 45*time.Second + time.Duration(h.rng.Int64N(int64(90*time.Second))) {
			v += by * (2*h.rng.Float64() - 1)
			acts = append(acts, act{at, h.device(id, fmt.Sprintf("%.1f", max(v, 0)))})
		}
	}
	return acts
}
