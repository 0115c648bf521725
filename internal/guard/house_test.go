package guard

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
)

var t0 = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// shown is one entity of the test house: id, state and attributes.
func shown(id, value, attrs string) home.Patch {
	return home.Patch{ID: home.EntityID(id), Full: true, Value: &value, Set: json.RawMessage(attrs),
		Changed: t0, Updated: t0, Context: &home.Context{ID: "c-" + id}}
}

// row is a row of the registry, changed by f.
func row(id string, f func(*home.Entity)) home.Entity {
	e := home.Entity{ID: home.EntityID(id), RegistryID: rid(id), Platform: "demo"}
	if f != nil {
		f(&e)
	}
	return e
}

// rid is a registry id of Home Assistant's form, made of the entity id.
func rid(id string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	sum := uint32(2166136261)
	for i := range 32 {
		sum = (sum ^ uint32(id[i%len(id)])) * 16777619
		b.WriteByte(hex[sum>>13&15])
	}
	return b.String()
}

// scripts are the bodies of the test house's scripts, by object id.
func scripts() map[string]string {
	return map[string]string{
		"nice": `{"alias":"Nice","sequence":[
			{"action":"light.turn_on","target":{"entity_id":["light.a","light.b"]},"data":{"brightness_pct":"{{ 10 }}"}},
			{"delay":{"seconds":1}},
			{"if":[{"condition":"state","entity_id":"lock.front","state":"locked"}],"then":[{"service":"switch.turn_on","entity_id":"switch.plug"}],"else":{"scene":"scene.movie"}},
			{"choose":[{"conditions":"{{ true }}","sequence":[{"action":"script.turn_on","target":{"entity_id":"script.inner"}}]}],"default":[{"action":"lock.lock","target":{"entity_id":"lock.front"}}]},
			{"repeat":{"count":2,"sequence":[{"action":"cover.open_cover","target":{"entity_id":"cover.blind"}}]}},
			{"parallel":[[{"action":"fan.turn_on","target":{"entity_id":"fan.f"}}],{"sequence":[{"action":"input_boolean.turn_on","target":{"entity_id":"input_boolean.guest"}}]}]},
			{"variables":{"x":"{{ 1 }}"}},{"wait_template":"{{ true }}"},{"wait_for_trigger":[{"trigger":"event","event_type":"x"}]},
			{"condition":"device","device_id":"d-lock","domain":"lock","type":"is_locked","entity_id":"lock.front"},
			{"stop":"done"}]}`,
		"inner":          `{"sequence":[{"action":"media_player.volume_set","target":{"entity_id":"media_player.tv"},"data":{"volume_level":0.3}},{"action":"script.nice"}]}`,
		"unlocks":        `{"sequence":[{"action":"lock.unlock","target":{"entity_id":"lock.front"}}]}`,
		"unlocks_deep":   `{"sequence":[{"choose":[{"conditions":[],"sequence":[{"if":[],"then":[],"else":[{"repeat":{"count":1,"sequence":[{"parallel":[{"sequence":[{"action":"script.unlocks"}]}]}]}}]}]}]}]}`,
		"unlocks_area":   `{"sequence":[{"action":"homeassistant.turn_off","target":{"entity_id":"group.trojan"}}]}`,
		"unlocks_device": `{"sequence":[{"device_id":"d-lock","domain":"lock","type":"unlock","entity_id":"lock.front"}]}`,
		"locks_device":   `{"sequence":[{"device_id":"d-lock","domain":"lock","type":"lock","entity_id":"` + rid("lock.front") + `"}]}`,
		"by_rid":         `{"sequence":[{"action":"cover.open_cover","target":{"entity_id":"` + rid("cover.garage") + `"}}]}`,
		"templ_target":   `{"sequence":[{"action":"light.turn_on","target":{"entity_id":"{{ which }}"}}]}`,
		"templ_whole":    `{"sequence":[{"action":"light.turn_on","target":"{{ t }}"}]}`,
		"templ_service":  `{"sequence":[{"action":"{{ 'lock.unlock' }}","target":{"entity_id":"lock.front"}}]}`,
		"templ_data":     `{"sequence":[{"action":"light.turn_on","data":"{{ d }}","target":{"entity_id":"light.a"}}]}`,
		"templ_key":      `{"sequence":[{"action":"homeassistant.turn_on","data":{"{{ 'entity_id' }}":"cover.garage"},"target":{"entity_id":"light.a"}}]}`,
		"templ_id_data":  `{"sequence":[{"action":"cover.open_cover","data":{"entity_id":"{{ x }}"}}]}`,
		"templ_temp":     `{"sequence":[{"action":"climate.set_temperature","data":{"temperature":"{{ 35 }}"},"target":{"entity_id":"climate.c"}}]}`,
		"old_template":   `{"sequence":[{"service_template":"lock.unlock","entity_id":"lock.front"}]}`,
		"fires":          `{"sequence":[{"event":"open_the_door"}]}`,
		"shell":          `{"sequence":[{"action":"shell_command.open"}]}`,
		"hot_number":     `{"sequence":[{"action":"number.set_value","data":{"value":35},"target":{"entity_id":"number.trv_target"}}]}`,
		"hot_device":     `{"sequence":[{"device_id":"d-trv","domain":"number","type":"set_value","entity_id":"number.trv_target","value":35}]}`,
		"mild_device":    `{"sequence":[{"device_id":"d-trv","domain":"number","type":"set_value","entity_id":"number.trv_target","value":21}]}`,
		"templ_number":   `{"sequence":[{"action":"number.set_value","data":{"value":"{{ 35 }}"},"target":{"entity_id":"number.trv_target"}}]}`,
		"hot":            `{"sequence":[{"action":"climate.set_temperature","data":{"temperature":35},"target":{"entity_id":"climate.c"}}]}`,
		"strange":        `{"sequence":[{"new_kind_of_action":"lock.unlock"}]}`,
		"text":           `{"sequence":["lock.unlock"]}`,
		"blueprint":      `{"use_blueprint":{"path":"x.yaml","input":{}}}`,
		"empty":          `{"alias":"nothing"}`,
		"bad_scene":      `{"sequence":[{"scene":"scene.opens"}]}`,
		"garage_scene":   `{"sequence":[{"action":"scene.apply","data":{"entities":{"cover.garage":"open"}}}]}`,
		"automation":     `{"sequence":[{"action":"automation.trigger","target":{"entity_id":"automation.x"}}]}`,
		"user_hidden":    `{"sequence":[{"action":"light.turn_on","target":{"entity_id":"light.secret"}}]}`,
		"gone":           `{"sequence":[{"action":"light.turn_on","target":{"entity_id":"light.nobody","area_id":"nowhere"}}]}`,
		"upper":          `{"sequence":[{"action":"LOCK.Unlock","target":{"entity_id":"LOCK.FRONT"}}]}`,
		"floor_off":      `{"sequence":[{"action":"homeassistant.toggle","target":{"floor_id":"ground"}}]}`,
		"renamed_inside": `{"sequence":[{"action":"script.original"}]}`,
	}
}

func scenes() map[string]string {
	return map[string]string{
		"movie":    `{"entities":{"light.a":{"state":"on","brightness":40},"light.b":"off","lock.front":"locked","cover.blind":"closed"}}`,
		"opens":    `{"entities":{"light.a":"on","LOCK.front":"unlocked"}}`,
		"jar":      `{"entities":{"cover.garage":{"state":"open"}}}`,
		"hot":      `{"entities":{"climate.c":{"state":"heat","temperature":31}}}`,
		"hot_num":  `{"entities":{"number.trv_target":"31"}}`,
		"hot_nums": `{"entities":{"number.trv_target":{"state":31}}}`,
		"mild_num": `{"entities":{"number.trv_target":"21.0","number.trv_boost":"90"}}`,
		"disarm":   `{"entities":{"alarm_control_panel.a":"disarmed"}}`,
		"grouped":  `{"entities":{"group.trojan":"off"}}`,
		"auto":     `{"entities":{"automation.x":"off"}}`,
		"broken":   `{"entities":["lock.front"]}`,
		"no_id":    `{"entities":{"lockfront":"unlocked"}}`,
		"template": `{"entities":{"light.a":"{{ x }}"}}`,
	}
}

// testHouse has what the judge is asked about. change edits the report first.
func testHouse(t testing.TB, change ...func(*home.Report)) *mirror.House {
	t.Helper()
	r := home.Report{Kind: home.ReportSnapshot, At: t0,
		Info:       &home.Info{Name: "Home", Zone: "Europe/Amsterdam", Units: map[string]string{"temperature": "°C"}},
		Registries: registries(), Patches: patches(), Services: everyService()}
	bodies(&r)
	for _, f := range change {
		f(&r)
	}
	h, w := mirror.New(mirror.Config{Site: "ha"}, nil, slog.New(slog.DiscardHandler), &health.Registry{})
	w.Apply(r)
	w.Apply(home.Report{Kind: home.ReportServices, At: t0, Services: r.Services})
	w.Apply(home.Report{Kind: home.ReportBodies, At: t0, Bodies: r.Bodies})
	return h
}

func registries() *home.Registries {
	on := func(device string) func(*home.Entity) {
		return func(e *home.Entity) { e.Device = home.DeviceID(device) }
	}
	labelled := func(e *home.Entity) { e.Labels = []home.LabelID{"all"} }
	regs := &home.Registries{
		Entities: []home.Entity{
			row("light.a", labelled), row("light.b", labelled), row("switch.plug", nil), row("fan.f", nil), row("climate.c", nil),
			row("light.secret", func(e *home.Entity) { e.HiddenBy = "user" }),
			row("light.member", func(e *home.Entity) { e.HiddenBy = "integration" }),
			row("lock.front", func(e *home.Entity) { e.Device = "d-lock"; e.OwnArea = "hall"; e.Labels = []home.LabelID{"all"} }),
			row("switch.auto_unlock", on("d-lock")), row("select.lock_mode", on("d-lock")), row("number.relock", on("d-lock")), row("light.keypad", on("d-lock")),
			row("light.hall", func(e *home.Entity) { e.OwnArea = "hall" }),
			row("lock.shed", func(e *home.Entity) { e.Labels = []home.LabelID{"trap"} }),
			row("switch.shed", func(e *home.Entity) { e.Labels = []home.LabelID{"trap"} }),
			row("light.attic", func(e *home.Entity) { e.OwnArea = "attic" }), row("lock.attic", func(e *home.Entity) { e.OwnArea = "attic" }),
			row("sensor.attic", func(e *home.Entity) { e.OwnArea = "attic" }),
			row("cover.garage", func(e *home.Entity) { e.OrigClass = "garage"; e.OwnArea = "hall"; e.Device = "d-garage" }),
			row("switch.relay", on("d-garage")),
			row("climate.trv", on("d-trv")), row("number.trv_target", on("d-trv")), row("number.trv_bare", on("d-trv")),
			row("number.trv_boost", on("d-trv")), row("number.trv_offset", on("d-trv")), row("number.trv_part", on("d-trv-part")),
			row("cover.blind", func(e *home.Entity) { e.OrigClass = "blind" }),
			row("cover.posing", func(e *home.Entity) { e.OrigClass = "garage"; e.Class = "blind" }),
			row("cover.by_alias", func(e *home.Entity) { e.Aliases = []string{"Garage door"} }),
			row("switch.gate", func(e *home.Entity) { e.HiddenBy = "" }),
			row("lock.gate", func(e *home.Entity) { e.Platform = "switch_as_x" }),
			row("script.renamed", func(e *home.Entity) { e.UniqueID = "original" }),
			row("script.decoy", func(e *home.Entity) { e.UniqueID = "unlocks_by_other_name" }),
		},
		Devices: []home.Device{{ID: "d-lock", Name: "Front door lock", Area: "hall"}, {ID: "d-garage", Name: "Opener"}, {ID: "d-trv", Name: "Radiator"}, {ID: "d-trv-part", Name: "Radiator valve", Parent: "d-trv"}},
		Areas:   []home.Area{{ID: "hall", Name: "Hall", Floor: "ground"}, {ID: "living", Name: "Living"}, {ID: "attic", Name: "Attic"}},
		Floors:  []home.Floor{{ID: "ground", Name: "Ground"}},
		Labels:  []home.Label{{ID: "all", Name: "All"}, {ID: "trap", Name: "Trap"}},
	}
	for name := range scripts() {
		regs.Entities = append(regs.Entities, row("script."+name, func(e *home.Entity) { e.UniqueID = name; e.Platform = "script" }))
	}
	return regs
}

func patches() []home.Patch {
	ps := []home.Patch{
		shown("lock.shed", "locked", `{}`), shown("switch.shed", "off", `{"entity_id":["lock.shed"]}`),
		shown("light.old_pair", "off", `{"entity_id":["light.a","light.long_gone"]}`),
		shown("light.attic", "on", `{}`), shown("lock.attic", "locked", `{}`), shown("sensor.attic", "1", `{}`),
		shown("light.a", "off", `{"friendly_name":"Lamp A"}`), shown("light.b", "on", `{}`), shown("light.secret", "off", `{"friendly_name":"Vault"}`),
		shown("light.member", "off", `{}`), shown("light.keypad", "off", `{}`), shown("light.hall", "off", `{}`),
		shown("light.pair", "off", `{"entity_id":["light.a","light.member"]}`),
		shown("light.odd", "off", `{"entity_id":["light.a","lock.front"]}`),
		shown("light.vault_pair", "off", `{"entity_id":["light.a","light.secret"]}`),
		shown("switch.plug", "off", `{"device_class":"outlet"}`), shown("switch.auto_unlock", "off", `{}`), shown("switch.relay", "off", `{}`),
		shown("switch.gate", "off", `{}`), shown("select.lock_mode", "x", `{}`), shown("number.relock", "5", `{}`),
		shown("fan.f", "off", `{}`), shown("climate.c", "heat", `{}`), shown("humidifier.h", "off", `{}`), shown("vacuum.v", "docked", `{}`),
		shown("media_player.tv", "off", `{}`), shown("input_boolean.guest", "off", `{}`), shown("input_number.n", "1", `{}`),
		shown("input_select.s", "a", `{}`), shown("input_text.t", "", `{}`), shown("input_datetime.d", "x", `{}`), shown("input_button.b", "x", `{}`),
		shown("counter.c", "1", `{}`), shown("timer.t", "idle", `{}`), shown("number.n", "1", `{}`), shown("select.s", "a", `{}`),
		shown("climate.trv", "heat", `{}`), shown("number.trv_target", "20", `{"unit_of_measurement":"°C","device_class":"temperature"}`),
		shown("number.trv_bare", "20", `{}`), shown("number.trv_part", "20", `{}`), shown("number.trv_boost", "60", `{"unit_of_measurement":"min"}`),
		shown("number.trv_offset", "0", `{"unit_of_measurement":"°C","device_class":"temperature_delta"}`),
		shown("number.flow", "70", `{"unit_of_measurement":"°F","device_class":"temperature"}`), shown("number.kelvin", "290", `{"unit_of_measurement":"K"}`),
		shown("number.unitless", "20", `{"device_class":"temperature"}`),
		shown("lock.front", "locked", `{"friendly_name":"Front door"}`), shown("lock.gate", "locked", `{}`),
		shown("cover.garage", "closed", `{"device_class":"garage"}`), shown("cover.blind", "closed", `{"device_class":"blind"}`),
		shown("cover.posing", "closed", `{}`), shown("cover.by_alias", "closed", `{}`), shown("cover.hoftor", "closed", `{"friendly_name":"Tor"}`),
		shown("cover.pergola", "closed", `{"friendly_name":"Pergola roof"}`), shown("cover.gate", "closed", `{"device_class":"gate"}`),
		shown("cover.door", "closed", `{"device_class":"door"}`), shown("cover.attr", "closed", `{"device_class":"GARAGE"}`),
		shown("cover.all", "closed", `{"device_class":"shutter","entity_id":["cover.blind","cover.nested"]}`),
		shown("cover.nested", "closed", `{"device_class":"shutter","entity_id":["cover.garage"]}`),
		shown("valve.water", "closed", `{}`), shown("alarm_control_panel.a", "armed_away", `{}`), shown("automation.x", "on", `{}`),
		shown("button.open", "x", `{}`), shown("siren.s", "off", `{}`), shown("camera.c", "idle", `{}`), shown("sensor.s", "1", `{}`),
		shown("group.lights", "off", `{"entity_id":["light.a","group.more"]}`),
		shown("group.more", "off", `{"entity_id":["light.b","group.lights"]}`),
		shown("group.trojan", "off", `{"entity_id":["light.a","group.deep"]}`),
		shown("group.deep", "off", `{"entity_id":["group.trojan","group.deeper"]}`),
		shown("group.deeper", "off", `{"entity_id":["lock.front"]}`),
		shown("group.jars", "off", `{"entity_id":["light.a","cover.garage"]}`),
		shown("group.mute", "off", `{}`),
		shown("script.yaml", "off", `{}`), shown("script.renamed", "off", `{}`), shown("script.decoy", "off", `{}`), shown("scene.unknown", "x", `{}`),
	}
	for name := range scripts() {
		ps = append(ps, shown("script."+name, "off", `{}`))
	}
	for name := range scenes() {
		ps = append(ps, shown("scene."+name, "x", `{}`))
	}
	return ps
}

func bodies(r *home.Report) {
	for name, text := range scripts() {
		r.Bodies = append(r.Bodies, home.Body{Entity: home.EntityID("script." + name), Config: json.RawMessage(text), Fetched: t0})
	}
	for name, text := range scenes() {
		r.Bodies = append(r.Bodies, home.Body{Entity: home.EntityID("scene." + name), Config: json.RawMessage(text), Fetched: t0})
	}
	r.Bodies = append(r.Bodies,
		home.Body{Entity: "script.yaml", Missing: home.NoID, Fetched: t0},
		home.Body{Entity: "script.renamed", Config: json.RawMessage(scripts()["unlocks"]), Fetched: t0},
		home.Body{Entity: "script.decoy", Config: json.RawMessage(scripts()["gone"]), Fetched: t0})
}

// everyService is a service list as Home Assistant 2026.11 has it, in short.
func everyService() []home.Service {
	all := map[string]string{
		"lock": "lock unlock open", "valve": "open_valve close_valve toggle", "alarm_control_panel": "alarm_disarm alarm_arm_away",
		"automation": "turn_on turn_off toggle trigger reload", "button": "press", "siren": "turn_on turn_off toggle", "camera": "snapshot turn_on turn_off",
		"scene": "turn_on apply create delete reload", "script": "turn_on turn_off toggle reload original", "homeassistant": "turn_on turn_off toggle restart stop update_entity reload_all",
		"vacuum": "send_command", "input_select": "set_options reload", "input_boolean": "reload", "notify": "notify", "shell_command": "open", "group": "set reload",
		"hassio": "host_reboot", "tts": "speak", "mqtt": "publish", "light": "strange",
	}
	var out []home.Service
	add := func(domain, names string) {
		for name := range strings.FieldsSeq(names) {
			out = append(out, home.Service{Domain: domain, Name: name, Target: json.RawMessage(`{"entity":[{}]}`)})
		}
	}
	for d, names := range all {
		add(d, names)
	}
	for _, d := range []string{"light", "switch", "fan", "media_player", "climate", "humidifier", "vacuum", "input_boolean", "input_number", "input_select", "select",
		"input_text", "number", "input_datetime", "input_button", "counter", "timer", "cover"} {
		add(d, services(d))
	}
	for name := range scripts() {
		add("script", name)
	}
	add("script", "unlocks_by_other_name")
	return out
}
