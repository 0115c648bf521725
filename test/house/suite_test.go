package house_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/internal/simhome"
	"hearth/test/realhome"
)

// subject is a house under test and the ways to reach it.
type subject struct {
	url         string
	hearthToken string
	ownerToken  string
}

func TestSimulatedHouse(t *testing.T) {
	l, addr := listen(t)
	sim := simhome.New(simhome.Options{Seed: 7})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	// Ends when the test cancels it.
	go func() { ended <- sim.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	s := subject{url: "http://" + addr, hearthToken: sim.HearthToken(), ownerToken: sim.OwnerToken()}
	suite(t, s)
}

func TestRealHouse(t *testing.T) {
	h := realhome.Start(t)
	suite(t, subject{url: h.URL, hearthToken: h.HearthToken, ownerToken: h.OwnerToken})
}

// suite is the end-to-end suite: what it asks of one house it asks of the other.
func suite(t *testing.T, s subject) {
	h := serve(t, s.url, s.hearthToken)
	ws, err := realhome.Dial(t.Context(), s.url, s.ownerToken)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	h.until("every state has come through", 20*time.Second, func() bool {
		return number(object(h.ask("hearth_status", nil)["mirror"])["entities"]) == float64(len(look(t, ws).seen()))
	})
	for _, c := range []struct {
		tool string
		run  func(t *testing.T, h *hearth, ws *realhome.Socket)
	}{
		{"entity_get", checkEveryEntity},
		{"house_overview", checkOverview},
		{"hearth_status", checkStatus},
		{"entity_search", checkSearch},
		{"entity_list", checkList},
		{"area_list", checkAreas},
		{"device_list", checkDevices},
		{"service_list", checkServices},
		{"service_call", checkCall},
		{"service_call refused", checkRefusedCall},
		{"history_get", checkHistory},
		{"journal_query", checkJournal},
		{"journal_why", checkWhy},
	} {
		t.Run(c.tool, func(t *testing.T) {
			h.t = t
			c.run(t, h, ws)
		})
		h.t = t
	}
	t.Run("refusals", func(t *testing.T) { h.t = t; checkRefusals(t, h, ws); h.t = t })
	h.t = t
	t.Run("restart", func(t *testing.T) { h.t = t; checkRestart(t, h, s); h.t = t })
	h.t = t
}

// entityWant is what entity_get must say of an entity.
func (w *world) entityWant(id string) map[string]any {
	s := w.states[id]
	ctx := object(s["context"])
	area := w.area(id)
	want := map[string]any{
		"entity_id": id, "state": s["state"], "attributes": stripped(object(s["attributes"])),
		"changed": s["last_changed"], "updated": s["last_updated"], "context_id": ctx["id"],
		"area_id": area, "area": text(object(w.areas[area])["name"]),
		"floor_id": w.floor(area), "floor": text(object(w.floors[w.floor(area)])["name"]),
		"class": w.class(id),
	}
	if e := w.entities[id]; e != nil {
		want["device_id"], want["platform"] = text(e["device_id"]), e["platform"]
		if labels := list(e["labels"]); len(labels) > 0 {
			want["label_ids"] = labels
		}
		var aliases []any
		for _, a := range list(e["aliases"]) {
			if a != nil {
				aliases = append(aliases, a)
			}
		}
		if len(aliases) > 0 {
			want["aliases"] = aliases
		}
	}
	if n := w.name(id); n != "" {
		want["name"] = n
	}
	for k, v := range want {
		if v == "" {
			delete(want, k) // an absent field says the same
		}
	}
	return want
}

// checkEveryEntity compares every entity of the house, all fields. A house lives
// while it is read: an entity that changed in between is read again.
func checkEveryEntity(t *testing.T, h *hearth, ws *realhome.Socket) {
	before := look(t, ws)
	ids := before.seen()
	if len(ids) < 100 {
		t.Fatalf("only %d entities in the house", len(ids))
	}
	for _, id := range ids {
		var got, want map[string]any
		for range 5 {
			want = look1(t, ws, before, id)
			got = h.ask("entity_get", map[string]any{"entity_id": id})
			if again := look1(t, ws, before, id); text(again["updated"]) == text(want["updated"]) {
				break
			}
		}
		if notes := brief(got["notes"]); strings.Contains(notes, "is cut from") {
			names := []any{}
			for k := range object(want["attributes"]) {
				names = append(names, k)
			}
			got["attributes"] = h.ask("entity_get", map[string]any{"entity_id": id, "attributes": names})["attributes"]
		}
		for k := range object(got["attributes"]) {
			if _, ok := object(want["attributes"])[k]; !ok {
				t.Errorf("%s: attribute %s is no attribute of the house, or should have been stripped", id, k)
			}
		}
		if id == "light.kitchen_lights" {
			agree(t, "entity_get "+id, got, want)
			fresh := h.ask("entity_get", map[string]any{"entity_id": id, "fresh": true})
			agree(t, "entity_get fresh "+id, fresh, want)
			continue
		}
		for _, d := range differences("entity_get "+id, got, normal(want)) {
			t.Error(d)
		}
	}
}

// look1 reads one entity anew.
func look1(t *testing.T, ws *realhome.Socket, w *world, id string) map[string]any {
	t.Helper()
	states := table(t, t.Context(), ws, "get_states", nil, "entity_id")
	again := *w
	again.states = states
	return normal(again.entityWant(id))
}

func checkOverview(t *testing.T, h *hearth, ws *realhome.Socket) {
	w := look(t, ws)
	got := h.ask("house_overview", nil)
	seen := w.seen()
	domains, noArea, lightsOn, unavailable, people, atHome := map[string]int{}, 0, 0, 0, 0, 0
	open, unlocked := 0, 0
	for _, id := range seen {
		domain, _, _ := strings.Cut(id, ".")
		domains[domain]++
		if w.area(id) == "" {
			noArea++
		}
		state := text(w.states[id]["state"])
		switch {
		case state == "unavailable":
			unavailable++
		case domain == "light" && state == "on":
			lightsOn++
		case domain == "person":
			people++
			if state == "home" {
				atHome++
			}
		case (domain == "cover" || domain == "valve") && (state == "open" || state == "opening"):
			open++
		case domain == "binary_sensor" && state == "on" && slices.Contains([]string{"door", "garage_door", "window", "opening"}, w.class(id)):
			open++
		case domain == "lock" && state != "locked" && state != "locking" && state != "unknown",
			domain == "binary_sensor" && state == "on" && w.class(id) == "lock":
			unlocked++
		}
	}
	all := counts(domains, nil)
	shown := len(list(got["domains"]))
	if shown == 0 || shown > len(all) {
		t.Fatalf("%d domains shown of %d", shown, len(all))
	}
	want := map[string]any{
		"house": w.config["location_name"], "entities": len(seen), "no_area": noArea,
		"domains": all[:shown], "home": map[string]any{"people": people, "at_home": atHome},
		"lights_on": map[string]any{"total": lightsOn}, "unavailable": map[string]any{"total": unavailable},
		"open": map[string]any{"total": open}, "unlocked": map[string]any{"total": unlocked},
	}
	agree(t, "house_overview", got, want)
	if b := brief(got); len(b) > 3000 {
		t.Errorf("the overview has %d bytes", len(b))
	}
}

func checkStatus(t *testing.T, h *hearth, ws *realhome.Socket) {
	w := look(t, ws)
	got := h.ask("hearth_status", nil)
	bodies := 0
	for id := range w.states {
		if d, _, _ := strings.Cut(id, "."); d == "automation" || d == "script" || d == "scene" {
			bodies++
		}
	}
	agree(t, "hearth_status", got, map[string]any{
		"mirror": map[string]any{"entities": len(w.seen()), "areas": len(w.areas), "of_bodies": bodies},
		"links":  []any{map[string]any{"up": true, "version": w.config["version"], "state": w.config["state"], "admin": "yes"}},
	})
}

// rowWant is an entity as lists show it.
func (w *world) rowWant(id string) map[string]any {
	area := w.area(id)
	row := map[string]any{"entity_id": id, "state": w.states[id]["state"]}
	if n := w.name(id); n != "" {
		row["name"] = n
	}
	if area != "" {
		row["area_id"], row["area"] = area, w.areas[area]["name"]
	}
	return row
}

func checkSearch(t *testing.T, h *hearth, ws *realhome.Socket) {
	w := look(t, ws)
	for query, id := range map[string]string{
		"kitchen lights": "light.kitchen_lights",
		"kichen lihgt":   "light.kitchen_lights",
		"kuchenfenster":  "binary_sensor.kuchenfenster",
		"Küchenfenster":  "binary_sensor.kuchenfenster",
		"big door":       "cover.garage_door",
		"guest mode":     "input_boolean.guest_mode",
	} {
		got := h.ask("entity_search", map[string]any{"query": query, "limit": 5})
		items := list(got["items"])
		if len(items) == 0 || text(object(items[0])["entity_id"]) != id {
			t.Errorf("%q: got %s first, want %s", query, brief(items), id)
			continue
		}
		if text(object(items[0])["why"]) == "" {
			t.Errorf("%q: the hit does not say why", query)
		}
		agree(t, "entity_search "+query, object(items[0]), w.rowWant(id))
	}
}

func checkList(t *testing.T, h *hearth, ws *realhome.Socket) {
	w := look(t, ws)
	var lights, kitchen []any
	for _, id := range w.seen() {
		if strings.HasPrefix(id, "light.") {
			lights = append(lights, w.rowWant(id))
		}
		if w.area(id) == "kitchen" {
			kitchen = append(kitchen, w.rowWant(id))
		}
	}
	agree(t, "entity_list lights", h.ask("entity_list", map[string]any{"domain": "light", "limit": 200}), map[string]any{"total": len(lights), "items": lights})
	agree(t, "entity_list kitchen", h.ask("entity_list", map[string]any{"area": "Kitchen", "limit": 200}), map[string]any{"total": len(kitchen), "items": kitchen})

	// Pages of three join to the whole.
	var pages []any
	args := map[string]any{"domain": "light", "limit": 3}
	for range len(lights) + 1 {
		got := h.ask("entity_list", args)
		pages = append(pages, list(got["items"])...)
		if got["next"] == nil {
			break
		}
		args["cursor"] = got["next"]
	}
	agree(t, "entity_list pages", map[string]any{"items": pages}, map[string]any{"items": lights})

	domains := map[string]int{}
	for _, id := range w.seen() {
		d, _, _ := strings.Cut(id, ".")
		domains[d]++
	}
	histogram := h.ask("entity_list", nil)
	all := counts(domains, nil)
	agree(t, "entity_list histogram", histogram, map[string]any{"total": len(w.seen()), "domains": all[:min(len(all), len(list(histogram["domains"])))]})
	if len(list(histogram["domains"])) < min(len(all), 20) {
		t.Errorf("the histogram shows %d domains of %d", len(list(histogram["domains"])), len(all))
	}
}

func checkAreas(t *testing.T, h *hearth, ws *realhome.Socket) {
	w := look(t, ws)
	per := map[string]int{}
	for _, id := range w.seen() {
		per[w.area(id)]++
	}
	var ids []string
	for id := range w.areas {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var items []any
	for _, id := range ids {
		a := w.areas[id]
		row := map[string]any{"area_id": id, "name": a["name"], "entities": per[id]}
		if f := w.floor(id); f != "" {
			row["floor_id"], row["floor"] = f, w.floors[f]["name"]
		}
		if al := list(a["aliases"]); len(al) > 0 {
			row["aliases"] = al
		}
		items = append(items, row)
	}
	got := h.ask("area_list", nil)
	agree(t, "area_list", got, map[string]any{"total": len(ids), "items": items})
	if len(list(got["floors"])) != len(w.floors) {
		t.Errorf("%d floors, want %d", len(list(got["floors"])), len(w.floors))
	}
}

func checkDevices(t *testing.T, h *hearth, ws *realhome.Socket) {
	w := look(t, ws)
	var ids []string
	for id, d := range w.devices {
		if d["disabled_by"] == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	var items []any
	for _, id := range ids {
		d := w.devices[id]
		name := d["name_by_user"]
		if name == nil {
			name = d["name"]
		}
		row := map[string]any{"device_id": id}
		for k, v := range map[string]any{"name": name, "manufacturer": d["manufacturer"], "model": d["model"], "parent_device_id": d["parent_device_id"], "via_device_id": d["via_device_id"]} {
			if v != nil && v != "" {
				row[k] = v
			}
		}
		if a := w.deviceArea(id); a != "" {
			row["area_id"], row["area"] = a, w.areas[a]["name"]
		}
		items = append(items, row)
	}
	var pages []any
	args := map[string]any{"limit": 200}
	for {
		got := h.ask("device_list", args)
		if number(got["total"]) != float64(len(ids)) {
			t.Fatalf("%v devices, want %d", got["total"], len(ids))
		}
		pages = append(pages, list(got["items"])...)
		if got["next"] == nil {
			break
		}
		args["cursor"] = got["next"]
	}
	agree(t, "device_list", map[string]any{"items": pages}, map[string]any{"items": items})
}

func checkServices(t *testing.T, h *hearth, ws *realhome.Socket) {
	w := look(t, ws)
	domains := map[string]int{}
	for d, all := range w.services {
		domains[d] = len(all)
	}
	agree(t, "service_list", h.ask("service_list", nil), map[string]any{"domains": byName(counts(domains, nil))})
	for _, name := range []string{"light.turn_on", "climate.set_temperature", "lock.lock"} {
		d, s, _ := strings.Cut(name, ".")
		desc := object(w.services[d][s])
		got := h.ask("service_list", map[string]any{"service": name})
		items := list(got["items"])
		if len(items) != 1 {
			t.Fatalf("%s: %d rows", name, len(items))
		}
		agree(t, "service_list "+name, object(items[0]), map[string]any{"service": name, "target": desc["target"] != nil})
		have := map[string]bool{}
		for _, f := range list(object(items[0])["fields"]) {
			have[text(object(f)["name"])] = true
		}
		for f, v := range object(desc["fields"]) {
			for _, name := range fieldNames(f, v) {
				if !have[name] {
					t.Errorf("%s: field %s is missing", s, name)
				}
			}
		}
	}
}

// fieldNames are the names of a field, or of the fields of a section.
func fieldNames(name string, v any) []string {
	inner := object(object(v)["fields"])
	if inner == nil {
		return []string{name}
	}
	var out []string
	for k := range inner {
		out = append(out, k)
	}
	return out
}

// call makes the house do something as its owner, and gives the call's context.
func call(t *testing.T, ws *realhome.Socket, service, entity string, data map[string]any) string {
	t.Helper()
	domain, name, _ := strings.Cut(service, ".")
	var res struct{ Context struct{ ID string } }
	fields := map[string]any{"domain": domain, "service": name, "target": map[string]any{"entity_id": entity}}
	if data != nil {
		fields["service_data"] = data
	}
	if err := ws.Into(t.Context(), "call_service", fields, &res); err != nil {
		t.Fatal(err)
	}
	return res.Context.ID
}

func state(t *testing.T, ws *realhome.Socket, id string) map[string]any {
	t.Helper()
	s := table(t, t.Context(), ws, "get_states", nil, "entity_id")[id]
	if s == nil {
		t.Fatalf("the house has no %s", id)
	}
	return s
}

func checkCall(t *testing.T, h *hearth, ws *realhome.Socket) {
	call(t, ws, "light.turn_off", "light.bed_light", nil)
	h.until("the light is off in the mirror", 5*time.Second, func() bool {
		return h.ask("entity_get", map[string]any{"entity_id": "light.bed_light"})["state"] == "off"
	})
	args := map[string]any{"service": "light.turn_on", "entity_id": []any{"light.bed_light"}, "data": map[string]any{"brightness_pct": 50}}
	dry := map[string]any{"dry_run": true}
	for k, v := range args {
		dry[k] = v
	}
	if got := h.ask("service_call", dry); got["dry_run"] != true || state(t, ws, "light.bed_light")["state"] != "off" {
		t.Fatalf("a dry run changed the house or does not say it is one: %s", brief(got))
	}
	got := h.ask("service_call", args)
	now := state(t, ws, "light.bed_light")
	agree(t, "service_call", got, map[string]any{
		"outcome": "done",
		"targets": []any{map[string]any{"entity_id": "light.bed_light", "name": w1name(now), "outcome": "done", "before": "off", "after": "on, brightness 128 (50 %)"}},
	})
	if b := number(object(now["attributes"])["brightness"]); b < 125 || b > 130 {
		t.Errorf("the house shows brightness %v, want about 128", b)
	}
	id := text(got["call"])
	rows := list(h.ask("journal_query", map[string]any{"kinds": []any{"hearth"}, "limit": 5})["rows"])
	if !slices.ContainsFunc(rows, func(r any) bool { return object(r)["call"] == id }) {
		t.Errorf("the journal does not name call %s: %s", id, brief(rows))
	}
	if again := h.ask("service_call", map[string]any{"service": "light.turn_on", "entity_id": []any{"light.bed_light"}}); again["outcome"] != "already" {
		t.Errorf("turning on a light that is on: outcome %v, want already", again["outcome"])
	}
	// Whole areas and floors resolve to what the house itself says.
	area := h.ask("service_call", map[string]any{"service": "light.turn_off", "area_id": []any{"Kids' Room"}})
	if area["outcome"] != "done" || state(t, ws, "light.bed_light")["state"] != "off" {
		t.Errorf("turning off Kids' Room: %s", brief(area))
	}
}

// checkRefusedCall asks for what a light cannot become. Whether the house says no,
// takes another colour without a word, or Hearth refuses it: it is not done.
func checkRefusedCall(t *testing.T, h *hearth, ws *realhome.Socket) {
	const lamp = "light.kitchen_lights"
	on := func(data map[string]any) map[string]any {
		return map[string]any{"service": "light.turn_on", "entity_id": []any{lamp}, "data": data}
	}
	notDone := func(when string, data map[string]any) string {
		t.Helper()
		got, text, bad := h.try("service_call", on(data))
		if o := got["outcome"]; !bad && o != "failed" && o != "accepted" && o != "unknown" {
			t.Errorf("%s, %s: outcome %v: %s", when, brief(data), o, brief(got))
		}
		if strings.Contains(text, "but this one shows it") {
			t.Errorf("%s, %s: %s", when, brief(data), text)
		}
		return text
	}
	for _, when := range []string{"off", "on by our own call"} {
		for _, data := range []map[string]any{
			{"rgb_color": "red"}, {"rgb_color": []any{300, 0, 0}}, {"xy_color": "blue"}, {"color_name": "nosuch"}, {"color_name": "warm white"},
		} {
			call(t, ws, "light.turn_off", lamp, nil)
			h.until("the light is off in the mirror", 5*time.Second, func() bool {
				return h.ask("entity_get", map[string]any{"entity_id": lamp})["state"] == "off"
			})
			if when != "off" {
				if got := h.ask("service_call", on(map[string]any{"brightness_pct": 60})); got["outcome"] != "done" {
					t.Fatalf("turning the light on: %s", brief(got))
				}
			}
			notDone(when, data)
		}
	}
	if text := notDone("on", map[string]any{"color_name": "nosuch"}); !strings.HasPrefix(text, "invalid: ") {
		t.Errorf("an unknown colour's name is not refused: %s", text)
	}
	// A colour that the house shows is done, and the receipt says it.
	got := h.ask("service_call", on(map[string]any{"rgb_color": []any{255, 0, 0}, "brightness_pct": 30}))
	if rows := list(got["targets"]); got["outcome"] != "done" || len(rows) != 1 || !strings.Contains(text(object(rows[0])["after"]), "brightness 76 (30 %), rgb_color [255,") {
		t.Errorf("red at 30 %%: %s", brief(got))
	}
	if got = h.ask("service_call", on(map[string]any{"rgb_color": []any{255, 0, 0}, "brightness_pct": 30})); got["outcome"] != "already" {
		t.Errorf("the same again: %s", brief(got))
	}
}

func w1name(s map[string]any) any { return object(s["attributes"])["friendly_name"] }

func checkRefusals(t *testing.T, h *hearth, ws *realhome.Socket) {
	for _, c := range []struct {
		args map[string]any
		code string
	}{
		{map[string]any{"service": "lock.unlock", "entity_id": []any{"lock.front_door"}}, "denied"},
		{map[string]any{"service": "cover.open_cover", "entity_id": []any{"cover.garage_door"}}, "denied"},
		{map[string]any{"service": "homeassistant.restart"}, "denied"},
		{map[string]any{"service": "light.turn_on", "entity_id": []any{"light.kichen_lights"}}, "not_found"},
		{map[string]any{"service": "light.turn_on", "area_id": []any{"Ballroom"}}, "not_found"},
		{map[string]any{"service": "light.explode", "entity_id": []any{"light.bed_light"}}, "not_found"},
		{map[string]any{"service": "climate.set_temperature", "entity_id": []any{"climate.ecobee"}, "data": map[string]any{"temperature": 45}}, "denied"},
		{map[string]any{"service": "light.turn_on"}, "invalid"},
		{map[string]any{"service": "light.turn_on", "entity_id": []any{"light.bed_light"}, "data": map[string]any{"brightness_pct": "banana"}}, "invalid"},
	} {
		before := state(t, ws, "lock.front_door")["state"]
		_, text, bad := h.try("service_call", c.args)
		if !bad || !strings.HasPrefix(text, c.code+": ") {
			t.Errorf("%s: got %q, want an error that begins with %q", brief(c.args), text, c.code+": ")
		}
		if strings.Contains(text, "\n") {
			t.Errorf("%s: the error has more than one line: %q", brief(c.args), text)
		}
		if now := state(t, ws, "lock.front_door")["state"]; now != before {
			t.Fatalf("the front door's lock went from %v to %v", before, now)
		}
	}
	if _, text, bad := h.try("entity_get", map[string]any{"entity_id": "light.kichen_lights"}); !bad || !strings.Contains(text, "light.kitchen_lights") {
		t.Errorf("an unknown entity does not name the nearest: %q", text)
	}
	if _, text, bad := h.try("entity_get", map[string]any{"entity_idd": "light.kitchen_lights", "nonsense": 1}); !bad || !strings.Contains(text, "invalid: ") {
		t.Errorf("an unknown argument: %q", text)
	}
}
