package guard

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/tool"
)

func caller() tool.Caller {
	return tool.Caller{Via: "mcp", Who: "test", Grant: home.Grant{Upto: home.Act, Scope: home.Visible()}}
}

// asked reads "light.turn_on light.a light.b {data}" and words like area:hall.
func asked(t *testing.T, text string) tool.Plan {
	t.Helper()
	line, data, ok := strings.Cut(text, " {")
	c := &home.ServiceCall{}
	if ok {
		c.Data = json.RawMessage("{" + data)
	}
	fields := strings.Split(line, " ")
	c.Domain, c.Service, _ = strings.Cut(fields[0], ".")
	for _, f := range fields[1:] {
		kind, id, ok := strings.Cut(f, ":")
		if !ok {
			c.Target.Entities = append(c.Target.Entities, home.EntityID(f))
			continue
		}
		switch kind {
		case "area":
			c.Target.Areas = append(c.Target.Areas, home.AreaID(id))
		case "floor":
			c.Target.Floors = append(c.Target.Floors, home.FloorID(id))
		case "label":
			c.Target.Labels = append(c.Target.Labels, home.LabelID(id))
		case "device":
			c.Target.Devices = append(c.Target.Devices, home.DeviceID(id))
		default:
			t.Fatalf("what is %s", f)
		}
	}
	return tool.Plan{Steps: []home.Step{{Kind: home.StepService, Call: c}}}
}

func TestJudge_Allows(t *testing.T) {
	h := testHouse(t)
	for _, c := range []struct{ name, call, leaves string }{
		{"a light", "light.turn_on light.a", "light.a"},
		{"a light in upper case", "Light.Turn_ON LIGHT.A", "light.a"},
		{"a comma list", "light.turn_on light.a,light.b", "light.a light.b"},
		{"the entity in the data", `light.turn_on {"entity_id":"light.a"}`, "light.a"},
		{"the area in the data", `light.turn_off {"area_id":["hall"]}`, "light.hall light.keypad"},
		{"an area", "light.turn_off area:hall", "light.hall light.keypad"},
		{"everything that lights under a label, beside a lock", "light.turn_off label:all", "light.a light.b"},
		{"a whole floor of lights, beside a lock and a garage door", "light.turn_off floor:ground", "light.hall light.keypad"},
		{"a device's own lamp", "light.turn_on device:d-lock", "light.keypad"},
		{"a group in a circle", "light.turn_on group.lights", "light.a light.b"},
		{"the lights of a group with a lock in it", "light.turn_on group.trojan", "light.a"},
		{"a group whose member its integration hides", "light.turn_on light.pair", "light.a light.member light.pair"},
		{"a group with a member that is gone", "light.turn_on light.old_pair", "light.a light.old_pair"},
		{"turn off what can be, in an attic with a lock and a sensor", "homeassistant.turn_off area:attic", "light.attic"},
		{"a group, leaf by leaf", "homeassistant.turn_off group.lights", "light.a light.b"},
		{"an outlet", "switch.turn_on switch.plug", "switch.plug"},
		{"a fan", `fan.set_percentage fan.f {"percentage":30}`, "fan.f"},
		{"a humidifier", "humidifier.turn_on humidifier.h", "humidifier.h"},
		{"a vacuum", "vacuum.return_to_base vacuum.v", "vacuum.v"},
		{"a television", `media_player.play_media media_player.tv {"media_content_id":"x","media_content_type":"music"}`, "media_player.tv"},
		{"joined speakers", `media_player.join media_player.tv {"group_members":["media_player.tv"]}`, "media_player.tv"},
		{"an input boolean", "input_boolean.turn_on input_boolean.guest", "input_boolean.guest"},
		{"an input number", `input_number.set_value input_number.n {"value":3}`, "input_number.n"},
		{"an input select", `input_select.select_option input_select.s {"option":"b"}`, "input_select.s"},
		{"an input text with braces", `input_text.set_value input_text.t {"value":"{{ x }}"}`, "input_text.t"},
		{"an input datetime", `input_datetime.set_datetime input_datetime.d {"time":"10:00:00"}`, "input_datetime.d"},
		{"an input button", "input_button.press input_button.b", "input_button.b"},
		{"a counter", "counter.increment counter.c", "counter.c"},
		{"a timer", "timer.start timer.t", "timer.t"},
		{"a number", `number.set_value number.n {"value":3}`, "number.n"},
		{"a thermostat's own number", `number.set_value number.trv_target {"value":28}`, "number.trv_target"},
		{"a thermostat's minutes", `number.set_value number.trv_boost {"value":90}`, "number.trv_boost"},
		{"82 °F", `number.set_value number.flow {"value":82}`, "number.flow"},
		{"290 K", `number.set_value number.kelvin {"value":"290"}`, "number.kelvin"},
		{"a scene with a mild number", "scene.turn_on scene.mild_num", "number.trv_boost number.trv_target scene.mild_num"},
		{"a script with a mild number, by device", "script.mild_device", "number.trv_target script.mild_device"},
		{"a select", `select.select_option select.s {"option":"b"}`, "select.s"},
		{"locking", "lock.lock lock.front", "lock.front"},
		{"a blind", "cover.open_cover cover.blind", "cover.blind"},
		{"a cover without class and with a harmless name", "cover.open_cover cover.pergola", "cover.pergola"},
		{"7 degrees", `climate.set_temperature climate.c {"temperature":7}`, "climate.c"},
		{"28 degrees as text", `climate.set_temperature climate.c {"temperature":"28"}`, "climate.c"},
		{"a range", `climate.set_temperature climate.c {"target_temp_low":18,"target_temp_high":24.5}`, "climate.c"},
		{"a mode", `climate.set_hvac_mode climate.c {"hvac_mode":"off"}`, "climate.c"},
		{"a scene", "scene.turn_on scene.movie", "cover.blind light.a light.b lock.front scene.movie"},
		{"a scene turned on in general", "homeassistant.turn_on scene.movie", "cover.blind light.a light.b lock.front scene.movie"},
		{"a scene made up", `scene.apply {"entities":{"light.a":"on","lock.front":"locked"}}`, "light.a lock.front"},
		{"a script and all it may do", "script.nice", "cover.blind fan.f input_boolean.guest light.a light.b lock.front media_player.tv scene.movie script.inner script.nice switch.plug"},
		{"a script turned on", "script.turn_on script.inner", "cover.blind fan.f input_boolean.guest light.a light.b lock.front media_player.tv scene.movie script.inner script.nice switch.plug"},
		{"a script that locks by device", "script.locks_device", "lock.front script.locks_device"},
		{"a script about things that are gone", "script.gone", "script.gone"},
		{"nothing beside a light", "light.turn_on light.a none", "light.a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := NewJudge(h)(t.Context(), caller(), "service_call", asked(t, c.call))
			if err != nil {
				t.Fatal(err)
			}
			if !v.Allow || v.Class != home.Act {
				t.Fatalf("%s is denied: %s", c.call, v.Why)
			}
			if got := ids(v.Leaves[0]); got != c.leaves {
				t.Errorf("leaves %q\nwant   %q", got, c.leaves)
			}
		})
	}
}

func ids(leaves []home.EntityID) string {
	var out []string
	for _, l := range leaves {
		out = append(out, string(l))
	}
	return strings.Join(out, " ")
}

// TestJudge_CannotBeTalkedIntoIt tries to open, disarm, heat and change things
// along every way there is.
func TestJudge_CannotBeTalkedIntoIt(t *testing.T) {
	h := testHouse(t)
	k := "\u212a" // the Kelvin sign, which becomes k in lower case
	for _, c := range []struct {
		name, call string
		code       home.Code
	}{
		{"unlock", "lock.unlock lock.front", home.Denied},
		{"open a lock", "lock.open lock.front", home.Denied},
		{"unlock in upper case", "LOCK.UNLOCK LOCK.FRONT", home.Denied},
		{"unlock with a look-alike letter", "loc" + k + ".unloc" + k + " lock.front", home.NotFound},
		{"unlock with a space", "lock.unlock\u00a0 lock.front", home.NotFound},
		{"a look-alike lock", "homeassistant.turn_off loc" + k + ".front", home.Invalid},
		{"a group with a lock deep inside", "homeassistant.turn_off group.trojan", home.Denied},
		{"the same in the data", `homeassistant.turn_off {"entity_id":"group.trojan"}`, home.Denied},
		{"the same beside a harmless target", `homeassistant.turn_off light.a {"entity_id":"GROUP.Trojan"}`, home.Denied},
		{"the same in a comma list", `homeassistant.turn_off light.a {"entity_id":"light.b , group.trojan"}`, home.Denied},
		{"the same in a list of comma lists", `homeassistant.turn_off {"entity_id":["light.b","light.a, group.trojan"]}`, home.Denied},
		{"toggle a group with a lock", "homeassistant.toggle group.trojan", home.Denied},
		{"a switch with a lock inside, both under one label", "switch.turn_on label:trap", home.Denied},
		{"a switch with a lock inside, after a group with that lock", "light.turn_on group.trojan light.odd", home.Denied},
		{"a lock itself, in general", "homeassistant.turn_on lock.front", home.Denied},
		{"a light that is also a lock", "light.turn_on light.odd", home.Denied},
		{"a light that is also a lock, in general", "homeassistant.turn_off light.odd", home.Denied},
		{"the garage", "cover.open_cover cover.garage", home.Denied},
		{"close the garage", "cover.close_cover cover.garage", home.Denied},
		{"the garage's tilt", "cover.toggle_cover_tilt cover.garage", home.Denied},
		{"a garage called a blind", "cover.open_cover cover.posing", home.Denied},
		{"a garage by its attribute only", "cover.open_cover cover.attr", home.Denied},
		{"a garage by its alias only", "cover.open_cover cover.by_alias", home.Denied},
		{"a gate by its name only, in German", "cover.open_cover cover.hoftor", home.Denied},
		{"a gate", "cover.open_cover cover.gate", home.Denied},
		{"a door", `cover.set_cover_position cover.door {"position":100}`, home.Denied},
		{"a cover group with the garage nested in it", "cover.open_cover cover.all", home.Denied},
		{"all covers", "cover.open_cover all", home.Denied},
		{"all covers in the data", `cover.open_cover {"entity_id":"ALL"}`, home.Denied},
		{"the hall's covers", "cover.open_cover area:hall", home.Denied},
		{"the hall's covers, area in the data", `cover.open_cover cover.blind {"area_id":"hall"}`, home.Denied},
		{"the floor's covers", "cover.toggle floor:ground", home.Denied},
		{"turn off a hall with a lock's own switch", "homeassistant.turn_off area:hall", home.Denied},
		{"toggle a floor with a garage", "homeassistant.toggle floor:ground", home.Denied},
		{"toggle an area with a garage in the data", `homeassistant.toggle light.a {"floor_id":"ground"}`, home.Denied},
		{"the garage's device", "cover.open_cover device:d-garage", home.Denied},
		{"the garage's device in the data", `cover.open_cover cover.blind {"device_id":"d-garage"}`, home.Denied},
		{"a group with the garage", "cover.open_cover group.jars", home.Denied},
		{"a group with the garage, in general", "homeassistant.toggle group.jars", home.Denied},
		{"the relay of the garage", "switch.turn_on switch.relay", home.Denied},
		{"the lock's own switch", "switch.turn_on switch.auto_unlock", home.Denied},
		{"the lock's own mode", `select.select_option select.lock_mode {"option":"x"}`, home.Denied},
		{"the lock's own number", `number.set_value number.relock {"value":0}`, home.Denied},
		{"a switch shown as a lock", "switch.turn_on switch.gate", home.Denied},
		{"all switches", "switch.turn_on all", home.Denied},
		{"a valve", "valve.open_valve valve.water", home.Denied},
		{"the alarm", "alarm_control_panel.alarm_disarm alarm_control_panel.a", home.Denied},
		{"an automation", "automation.turn_off automation.x", home.Denied},
		{"trigger an automation", "automation.trigger automation.x", home.Denied},
		{"an automation, in general", "homeassistant.turn_off automation.x", home.Denied},
		{"a button", "button.press button.open", home.Denied},
		{"a siren", "siren.turn_on siren.s", home.Denied},
		{"a camera", "camera.turn_off camera.c", home.Denied},
		{"a sensor, in general", "homeassistant.turn_off sensor.s", home.Denied},
		{"restart", "homeassistant.restart", home.Denied},
		{"a service of a light nobody knows", "light.strange light.a", home.Denied},
		{"reload", "input_boolean.reload", home.Denied},
		{"reload scripts", "script.reload", home.Denied},
		{"other options", `input_select.set_options input_select.s {"options":["x"]}`, home.Denied},
		{"a raw command to the vacuum", `vacuum.send_command vacuum.v {"command":"x"}`, home.Denied},
		{"a message", `notify.notify {"message":"x"}`, home.Denied},
		{"a shell", "shell_command.open", home.Denied},
		{"raw mqtt", `mqtt.publish {"topic":"lock/open","payload":"1"}`, home.Denied},
		{"another group", `group.set {"object_id":"lights","entities":["lock.front"]}`, home.Denied},
		{"reboot", "hassio.host_reboot", home.Denied},
		{"6.9 degrees", `climate.set_temperature climate.c {"temperature":6.9}`, home.Denied},
		{"28.1 degrees", `climate.set_temperature climate.c {"temperature":"28.1"}`, home.Denied},
		{"a hot upper end", `climate.set_temperature climate.c {"target_temp_low":20,"target_temp_high":40}`, home.Denied},
		{"no number", `climate.set_temperature climate.c {"temperature":"nan"}`, home.Denied},
		{"infinite", `climate.set_temperature climate.c {"temperature":"Infinity"}`, home.Denied},
		{"underscores, which Python reads", `climate.set_temperature climate.c {"temperature":"3_5"}`, home.Denied},
		{"other digits, which Python reads", `climate.set_temperature climate.c {"temperature":"３５"}`, home.Denied},
		{"a list", `climate.set_temperature climate.c {"temperature":[20]}`, home.Denied},
		{"true", `climate.set_temperature climate.c {"temperature":true}`, home.Denied},
		{"a thermostat's number, too hot", `number.set_value number.trv_target {"value":28.5}`, home.Denied},
		{"a thermostat's number, too cold", `number.set_value number.trv_target {"value":"6"}`, home.Denied},
		{"a thermostat's number by its device", `number.set_value device:d-trv {"value":35}`, home.Denied},
		{"a thermostat's number without unit", `number.set_value number.trv_bare {"value":40}`, home.Denied},
		{"the number of a thermostat's part", `number.set_value number.trv_part {"value":40}`, home.Denied},
		{"a thermostat's offset", `number.set_value number.trv_offset {"value":8}`, home.Denied},
		{"a temperature of its own, 90 °F", `number.set_value number.flow {"value":90}`, home.Denied},
		{"20 K", `number.set_value number.kelvin {"value":20}`, home.Denied},
		{"a temperature nobody knows the unit of", `number.set_value number.unitless {"value":20}`, home.Denied},
		{"a number's list", `number.set_value number.trv_target {"value":[20]}`, home.Denied},
		{"a scene with a hot number", "scene.turn_on scene.hot_num", home.Denied},
		{"a scene with a hot number as an object", "scene.turn_on scene.hot_nums", home.Denied},
		{"apply a hot number", `scene.apply {"entities":{"number.trv_target":40}}`, home.Denied},
		{"a script with a hot number", "script.hot_number", home.Denied},
		{"a script with a hot number, by device", "script.hot_device", home.Denied},
		{"a script with a templated number", "script.templ_number", home.Denied},
		{"a scene that unlocks", "scene.turn_on scene.opens", home.Denied},
		{"a scene that opens the garage", "scene.turn_on scene.jar", home.Denied},
		{"a scene that heats", "scene.turn_on scene.hot", home.Denied},
		{"a scene that disarms", "scene.turn_on scene.disarm", home.Denied},
		{"a scene with a group with a lock", "scene.turn_on scene.grouped", home.Denied},
		{"a scene that stops an automation", "scene.turn_on scene.auto", home.Denied},
		{"a scene nobody can read", "scene.turn_on scene.broken", home.Denied},
		{"a scene with no id", "scene.turn_on scene.no_id", home.Denied},
		{"a scene with a template", "scene.turn_on scene.template", home.Denied},
		{"a scene without a body", "scene.turn_on scene.unknown", home.Denied},
		{"all scenes", "scene.turn_on all", home.Denied},
		{"a scene that unlocks, in general", "homeassistant.turn_on scene.opens", home.Denied},
		{"apply an unlocking", `scene.apply {"entities":{"lock.front":"unlocked"}}`, home.Denied},
		{"apply an unlocking as an object", `scene.apply {"entities":{"Lock.Front":{"state":"unlocked"}}}`, home.Denied},
		{"apply an open garage", `scene.apply {"entities":{"cover.garage":"open"}}`, home.Denied},
		{"apply nothing understood", `scene.apply {"entities":"lock.front"}`, home.Denied},
		{"make a scene", `scene.create {"scene_id":"x","entities":{"lock.front":"unlocked"}}`, home.Denied},
		{"a script that unlocks", "script.unlocks", home.Denied},
		{"a script that unlocks, turned on", "script.turn_on script.unlocks", home.Denied},
		{"a script that unlocks, in general", "homeassistant.turn_on script.unlocks", home.Denied},
		{"a script that unlocks deep inside", "script.unlocks_deep", home.Denied},
		{"a script that unlocks through a group", "script.unlocks_area", home.Denied},
		{"a script that unlocks by device", "script.unlocks_device", home.Denied},
		{"a script that names the garage by registry id", "script.by_rid", home.Denied},
		{"a script with a templated target", `script.templ_target {"which":"lock.front"}`, home.Denied},
		{"a script whose whole target is a template", "script.templ_whole", home.Denied},
		{"a script with a templated service", "script.templ_service", home.Denied},
		{"a script whose whole data is a template", "script.templ_data", home.Denied},
		{"a script with a templated key", "script.templ_key", home.Denied},
		{"a script with a templated id in the data", "script.templ_id_data", home.Denied},
		{"a script with a templated temperature", "script.templ_temp", home.Denied},
		{"a script in the old form", "script.old_template", home.Denied},
		{"a script that fires an event", "script.fires", home.Denied},
		{"a script that runs a program", "script.shell", home.Denied},
		{"a script that heats", "script.hot", home.Denied},
		{"a script with an action from the future", "script.strange", home.Denied},
		{"a script with text for an action", "script.text", home.Denied},
		{"a script from a blueprint", "script.blueprint", home.Denied},
		{"a script without a sequence", "script.empty", home.Denied},
		{"a script in YAML", "script.turn_on script.yaml", home.Denied},
		{"a script that turns on a bad scene", "script.bad_scene", home.Denied},
		{"a script that applies an open garage", "script.garage_scene", home.Denied},
		{"a script that triggers an automation", "script.automation", home.Denied},
		{"a script that touches what is hidden", "script.user_hidden", home.Denied},
		{"a script that shouts", "script.upper", home.Denied},
		{"a script that toggles a floor with a garage", "script.floor_off", home.Denied},
		{"a renamed script by its service", "script.original", home.Denied},
		{"a renamed script from inside another", "script.renamed_inside", home.Denied},
		{"a renamed script by its entity", "script.turn_on script.renamed", home.Denied},
		{"stop a script that unlocks", "script.turn_off script.unlocks", home.Denied},
		{"all scripts", "script.turn_on all", home.Denied},
		{"templates for variables", `script.nice {"x":"{{ states }}"}`, home.Denied},
		{"templates for variables, deep", `script.turn_on script.nice {"variables":{"a":[{"b":"{% if 1 %}"}]}}`, home.Denied},
		{"a templated entity", `light.turn_on {"entity_id":"{{ 'lock.front' }}"}`, home.Denied},
		{"a group that shows nothing", "homeassistant.turn_off group.mute", home.Denied},
		{"a hidden light", "light.turn_on light.secret", home.NotFound},
		{"a hidden light in a group", "light.turn_on light.vault_pair", home.NotFound},
		{"a scene for a hidden light", `scene.apply {"entities":{"light.secret":"on"}}`, home.NotFound},
		{"no target", "light.turn_off", home.Invalid},
		{"none for a target", "light.turn_off none", home.Invalid},
		{"all, in general", "homeassistant.turn_off all", home.Invalid},
		{"an unknown area", "light.turn_off area:kichen", home.NotFound},
		{"an unknown area in the data", `light.turn_off {"area_id":"hal"}`, home.NotFound},
		{"an unknown floor", "light.turn_off floor:grund", home.NotFound},
		{"an unknown label", "light.turn_off label:al", home.NotFound},
		{"an unknown device", "light.turn_off device:d-lok", home.NotFound},
		{"an area without lights", "light.turn_off area:living", home.NotFound},
		{"an unknown entity", "light.turn_off light.aa", home.NotFound},
		{"an unknown service", "light.turn_of light.a", home.NotFound},
		{"another domain's entity", "light.turn_on switch.plug", home.Invalid},
		{"no id", "light.turn_on kitchen", home.Invalid},
		{"a registry id", "light.turn_on " + rid("light.a"), home.Invalid},
		{"a target inside the data", `light.turn_on {"target":{"entity_id":"light.a"}}`, home.Invalid},
		{"something left out", `light.turn_on light.a {"exclude":{"entity_id":"light.a"}}`, home.Invalid},
		{"an object for an id", `light.turn_on {"entity_id":{"a":1}}`, home.Invalid},
		{"a number for an id", `light.turn_on {"entity_id":[1]}`, home.Invalid},
		{"data that is a list", `light.turn_on light.a {"x":1}{"entity_id":"lock.front"}`, home.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := NewJudge(h)(t.Context(), caller(), "service_call", asked(t, c.call))
			code, text := home.CodeOf(err), ""
			switch {
			case err != nil:
				text = err.Error()
			case !v.Allow:
				code, text = home.Denied, v.Why
			default:
				t.Fatalf("%s is allowed, touching %v", c.call, v.Leaves)
			}
			if code != c.code {
				t.Errorf("code %s, want %s: %s", code, c.code, text)
			}
			if len(text) < 20 || strings.Contains(text, "Vault") || code != home.Denied && strings.Contains(text, "secret") && !strings.Contains(c.call, "secret") {
				t.Errorf("the answer says too little or too much: %s", text)
			}
		})
	}
}

func TestJudge_HiddenLooksLikeMissing(t *testing.T) {
	judge := NewJudge(testHouse(t))
	_, hidden := judge(t.Context(), caller(), "", asked(t, "light.turn_on light.secret"))
	_, missing := judge(t.Context(), caller(), "", asked(t, "light.turn_on light.secre9"))
	if hidden == nil || missing == nil {
		t.Fatal("both must be errors")
	}
	a := strings.ReplaceAll(hidden.Error(), "light.secret", "X")
	b := strings.ReplaceAll(missing.Error(), "light.secre9", "X")
	if a != b {
		t.Errorf("a hidden entity is answered\n%s\nand a missing one\n%s", a, b)
	}
}

func TestJudge_NamesCandidates(t *testing.T) {
	judge := NewJudge(testHouse(t))
	for call, want := range map[string]string{
		"fan.turn_on fan.g":           "Did you mean fan.f",
		"light.turn_on light.haal":    "Did you mean light.hall",
		"light.turn_of light.a":       "light.turn_off",
		"light.turn_off area:hal":     "Did you mean hall?",
		"lock.unlock lock.front":      "it would open a lock",
		"cover.open_cover cover.gate": "it is a gate",
	} {
		v, err := judge(t.Context(), caller(), "", asked(t, call))
		text := v.Why
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in: %s", call, want, text)
		}
	}
}

func TestJudge_FahrenheitAndNoUnit(t *testing.T) {
	for _, c := range []struct {
		name, unit, call string
		allow            bool
	}{
		{"70 °F", "°F", `climate.set_temperature climate.c {"temperature":70}`, true},
		{"44.6 °F", "°F", `climate.set_temperature climate.c {"temperature":44.6}`, true},
		{"82.5 °F", "°F", `climate.set_temperature climate.c {"temperature":82.5}`, false},
		{"20 °F is frost", "°F", `climate.set_temperature climate.c {"temperature":20}`, false},
		{"no unit known", "", `climate.set_temperature climate.c {"temperature":20}`, false},
		{"a mode needs no unit", "", `climate.set_hvac_mode climate.c {"hvac_mode":"heat"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := testHouse(t, func(r *home.Report) { r.Info.Units = map[string]string{"temperature": c.unit} })
			v, err := NewJudge(h)(t.Context(), caller(), "", asked(t, c.call))
			if err != nil || v.Allow != c.allow {
				t.Errorf("allow %v (%s, %v), want %v", v.Allow, v.Why, err, c.allow)
			}
		})
	}
}

func TestJudge_StepsTogether(t *testing.T) {
	judge := NewJudge(testHouse(t))
	good, bad := asked(t, "light.turn_on light.a").Steps[0], asked(t, "lock.unlock lock.front").Steps[0]
	v, err := judge(t.Context(), caller(), "", tool.Plan{Steps: []home.Step{good, bad, good}})
	if err != nil || v.Allow || len(v.Leaves) != 3 || v.Class != home.Danger {
		t.Errorf("one bad step denies the plan: %+v, %v", v, err)
	}
	v, err = judge(t.Context(), caller(), "", tool.Plan{Steps: []home.Step{{Kind: "document"}}})
	if err != nil || v.Allow {
		t.Errorf("an unknown kind of step is denied: %+v, %v", v, err)
	}
	c := caller()
	c.Grant.Scope = home.Scope{}
	if _, err = judge(t.Context(), c, "", tool.Plan{Steps: []home.Step{good}}); home.CodeOf(err) != home.NotFound {
		t.Errorf("the zero scope sees nothing: %v", err)
	}
}

func TestJudge_LeavesTheCallAlone(t *testing.T) {
	p := asked(t, "light.turn_on LIGHT.A,light.b area:hall")
	before, _ := json.Marshal(p)
	if _, err := NewJudge(testHouse(t))(t.Context(), caller(), "", p); err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal(p); !slices.Equal(before, after) {
		t.Errorf("the judge changed the plan: %s", after)
	}
}

// TestListed_IsSmall holds the list: a service that gets onto it does so here, too.
func TestListed_IsSmall(t *testing.T) {
	for _, name := range []string{"lock.unlock", "lock.open", "valve.open_valve", "automation.trigger", "vacuum.send_command", "scene.create",
		"input_select.set_options", "input_boolean.reload", "button.press", "homeassistant.restart", "light.", "cover.", "switch.press"} {
		domain, service, _ := strings.Cut(name, ".")
		if listed(domain, service) {
			t.Errorf("%s is on the list", name)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, seed := range []string{`{"entity_id":"lock.front"}`, `{"area_id":["hall"],"temperature":40}`, `{"entities":{"lock.front":"unlocked"}}`, `[]`, `{"variables":{"a":"{{"}}`} {
		f.Add("homeassistant", "turn_on", "light.a", seed)
	}
	f.Add("LOCK", "unlock", "lock.front,light.a", `null`)
	h := testHouse(f)
	f.Fuzz(func(t *testing.T, domain, service, id, data string) {
		p := tool.Plan{Steps: []home.Step{{Kind: home.StepService, Call: &home.ServiceCall{Domain: domain, Service: service,
			Target: home.Target{Entities: []home.EntityID{home.EntityID(id)}}, Data: json.RawMessage(data)}}}}
		v, err := NewJudge(h)(t.Context(), caller(), "", p)
		if err != nil || !v.Allow {
			return
		}
		for _, leaf := range v.Leaves[0] {
			switch leaf.Domain() {
			case "valve", "alarm_control_panel", "automation", "button", "siren", "camera", "sensor":
				t.Errorf("%s.%s on %q with %s is allowed, touching %s", domain, service, id, data, leaf)
			case "cover":
				if guarded(h.View(), h.View().Row(leaf), h.View().State(leaf)) != "" {
					t.Errorf("%s.%s on %q with %s is allowed, touching %s", domain, service, id, data, leaf)
				}
			}
		}
	})
}
