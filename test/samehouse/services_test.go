package samehouse

// deed is one service call that works: what it is told and what the house shows then.
type deed struct {
	name   string // domain.service
	target string // JSON object, "" for none
	data   string // JSON object, "" for none
	entity string // who shows it, "" for nobody
	want   string // pattern of its compressed state without c, lc and lu
	answer string // pattern of the response, "" when none is wanted
}

const walkman, hvac = "media_player.walkman", "climate.hvac"

func on(entity string) string { return `{"entity_id":"` + entity + `"}` }

func state(s string) string { return `{"s":"` + s + `","...":0}` }

func with(s, attrs string) string {
	return `{"s":"` + s + `","a":{` + attrs + `,"...":0},"...":0}`
}

// deeds are done in this order; each one changes what it shows.
func deeds() []deed {
	return []deed{
		{"light.turn_on", on("light.bed_light"), `{"brightness_pct":50}`, "light.bed_light", with("on", `"brightness":128,"color_mode":"<string>"`), ""},
		{"light.turn_on", on("light.bed_light"), `{"color_temp_kelvin":3000}`, "light.bed_light", with("on", `"brightness":128,"color_mode":"color_temp","color_temp_kelvin":3000,"rgb_color":"<list>"`), ""},
		{"light.turn_on", on("light.bed_light"), `{"rgb_color":[0,0,255]}`, "light.bed_light", with("on", `"color_mode":"hs","color_temp_kelvin":null,"hs_color":[240,100],"rgb_color":[0,0,255],"xy_color":[0.136,0.04]`), ""},
		{"light.turn_off", on("light.bed_light"), "", "light.bed_light", with("off", `"brightness":null,"color_mode":null,"hs_color":null,"rgb_color":null,"xy_color":null,"effect":null`), ""},
		{"light.toggle", on("light.bed_light"), "", "light.bed_light", with("on", `"brightness":128`), ""},
		{"light.turn_on", `{"area_id":"buro"}`, `{"brightness":90}`, "light.office_rgbw_lights", with("on", `"brightness":90,"rgbw_color":[255,0,0,255]`), ""},
		{"light.turn_off", `{"floor_id":["upstairs"]}`, "", "light.office_rgbw_lights", state("off"), ""},
		{"light.turn_off", on("group.kitchen_group"), "", "group.kitchen_group", state("off"), ""},
		{"light.turn_on", on("light.kitchen_lights"), "", "sensor.kitchen_power", state("120"), ""},
		{"switch.turn_on", on("switch.ac"), "", "switch.ac", state("on"), ""},
		{"switch.turn_off", on("switch.ac"), "", "switch.ac", state("off"), ""},
		{"switch.toggle", on("switch.ac"), "", "switch.ac", state("on"), ""},
		{"homeassistant.turn_off", on("switch.ac"), "", "switch.ac", state("off"), ""},
		{"homeassistant.turn_on", `{"entity_id":["switch.ac","light.kitchen_lights"]}`, "", "switch.ac", state("on"), ""},
		{"homeassistant.toggle", on("switch.ac"), "", "switch.ac", state("off"), ""},
		{"siren.turn_off", on("siren.siren"), "", "siren.siren", state("off"), ""},
		{"siren.turn_on", on("siren.siren"), "", "siren.siren", state("on"), ""},
		{"fan.turn_on", on("fan.living_room_fan"), "", "fan.living_room_fan", with("on", `"percentage":67,"preset_mode":null`), ""},
		{"fan.set_percentage", on("fan.living_room_fan"), `{"percentage":33}`, "fan.living_room_fan", with("on", `"percentage":33`), ""},
		{"fan.set_preset_mode", on("fan.living_room_fan"), `{"preset_mode":"auto"}`, "fan.living_room_fan", with("on", `"percentage":null,"preset_mode":"auto"`), ""},
		{"fan.oscillate", on("fan.living_room_fan"), `{"oscillating":true}`, "fan.living_room_fan", with("on", `"oscillating":true`), ""},
		{"fan.set_direction", on("fan.living_room_fan"), `{"direction":"reverse"}`, "fan.living_room_fan", with("on", `"direction":"reverse"`), ""},
		{"fan.turn_off", on("fan.living_room_fan"), "", "fan.living_room_fan", with("off", `"percentage":0`), ""},
		{"fan.toggle", on("fan.living_room_fan"), "", "fan.living_room_fan", state("on"), ""},
		{"cover.set_cover_position", on("cover.hall_window"), `{"position":30}`, "cover.hall_window", with("open", `"current_position":30,"is_closed":false`), ""},
		{"cover.close_cover", on("cover.hall_window"), "", "cover.hall_window", state("closing"), ""},
		{"cover.stop_cover", on("cover.hall_window"), "", "cover.hall_window", state("open"), ""},
		{"cover.close_cover", on("cover.hall_window"), "", "cover.hall_window", with("closed", `"current_position":0,"is_closed":true`), ""},
		{"cover.open_cover", on("cover.kitchen_window"), "", "cover.kitchen_window", with("open", `"is_closed":false`), ""},
		{"cover.toggle", on("cover.kitchen_window"), "", "cover.kitchen_window", with("closed", `"is_closed":true`), ""},
		{"lock.lock", on("lock.kitchen_door"), "", "lock.kitchen_door", state("locked"), ""},
		{"lock.unlock", on("lock.kitchen_door"), "", "lock.kitchen_door", state("unlocked"), ""},
		{"lock.lock", on("lock.poorly_installed_door"), "", "lock.poorly_installed_door", state("jammed"), ""},
		{"lock.open", on("lock.openable_lock"), "", "lock.openable_lock", state("open"), ""},
		{"valve.close_valve", on("valve.front_garden"), "", "valve.front_garden", state("closed"), ""},
		{"valve.open_valve", on("valve.front_garden"), "", "valve.front_garden", state("open"), ""},
		{"vacuum.start", on("vacuum.demo_vacuum_0_ground_floor"), "", "vacuum.demo_vacuum_0_ground_floor", with("cleaning", `"cleaned_area":1.32`), ""},
		{"vacuum.pause", on("vacuum.demo_vacuum_0_ground_floor"), "", "vacuum.demo_vacuum_0_ground_floor", state("paused"), ""},
		{"vacuum.set_fan_speed", on("vacuum.demo_vacuum_0_ground_floor"), `{"fan_speed":"high"}`, "vacuum.demo_vacuum_0_ground_floor", with("paused", `"fan_speed":"high"`), ""},
		{"vacuum.stop", on("vacuum.demo_vacuum_0_ground_floor"), "", "vacuum.demo_vacuum_0_ground_floor", state("idle"), ""},
		{"vacuum.return_to_base", on("vacuum.demo_vacuum_0_ground_floor"), "", "vacuum.demo_vacuum_0_ground_floor", state("returning"), ""},
		{"vacuum.locate", on("vacuum.demo_vacuum_0_ground_floor"), "", "vacuum.demo_vacuum_0_ground_floor", state("idle"), ""},
		{"alarm_control_panel.alarm_arm_away", on("alarm_control_panel.security"), `{"code":"1234"}`, "alarm_control_panel.security", with("arming", `"previous_state":"disarmed","next_state":"armed_away"`), ""},
		{"alarm_control_panel.alarm_disarm", on("alarm_control_panel.security"), `{"code":"1234"}`, "alarm_control_panel.security", state("disarmed"), ""},
		{"climate.set_temperature", on(hvac), `{"temperature":20.5}`, hvac, with("cool", `"temperature":20.5`), ""},
		{"climate.set_hvac_mode", on(hvac), `{"hvac_mode":"heat"}`, hvac, state("heat"), ""},
		{"climate.set_fan_mode", on(hvac), `{"fan_mode":"auto_low"}`, hvac, with("heat", `"fan_mode":"auto_low"`), ""},
		{"climate.set_humidity", on(hvac), `{"humidity":60}`, hvac, with("heat", `"humidity":60`), ""},
		{"climate.set_preset_mode", on("climate.ecobee"), `{"preset_mode":"eco"}`, "climate.ecobee", with("heat_cool", `"preset_mode":"eco"`), ""},
		{"climate.turn_off", on(hvac), "", hvac, state("off"), ""},
		{"climate.turn_on", on(hvac), "", hvac, state("heat"), ""},
		{"humidifier.turn_off", on("humidifier.hygrostat"), "", "humidifier.hygrostat", state("off"), ""},
		{"humidifier.turn_on", on("humidifier.hygrostat"), "", "humidifier.hygrostat", state("on"), ""},
		{"humidifier.set_humidity", on("humidifier.hygrostat"), `{"humidity":44}`, "humidifier.hygrostat", with("on", `"humidity":44`), ""},
		{"humidifier.set_mode", on("humidifier.hygrostat"), `{"mode":"eco"}`, "humidifier.hygrostat", with("on", `"mode":"eco"`), ""},
		{"humidifier.toggle", on("humidifier.hygrostat"), "", "humidifier.hygrostat", state("off"), ""},
		{"media_player.volume_set", on(walkman), `{"volume_level":0.3}`, walkman, with("playing", `"volume_level":0.3`), ""},
		{"media_player.volume_up", on(walkman), "", walkman, with("playing", `"volume_level":0.4`), ""},
		{"media_player.volume_down", on(walkman), "", walkman, with("playing", `"volume_level":0.30000000000000004`), ""},
		{"media_player.volume_mute", on(walkman), `{"is_volume_muted":true}`, walkman, with("playing", `"is_volume_muted":true`), ""},
		{"media_player.media_pause", on(walkman), "", walkman, state("paused"), ""},
		{"media_player.media_play", on(walkman), "", walkman, state("playing"), ""},
		{"media_player.media_stop", on(walkman), "", walkman, `{"s":"off","a":{"group_members":[],"sound_mode_list":"<list>","friendly_name":"Walkman","supported_features":"<number>"},"...":0}`, ""},
		{"media_player.turn_on", on(walkman), "", walkman, with("playing", `"volume_level":0.30000000000000004,"media_duration":213`), ""},
		{"media_player.turn_off", on(walkman), "", walkman, state("off"), ""},
		{"media_player.toggle", on(walkman), "", walkman, state("playing"), ""},
		{"media_player.select_source", on("media_player.lounge_room"), `{"source":"youtube"}`, "media_player.lounge_room", with("playing", `"source":"youtube"`), ""},
		{"input_boolean.turn_on", on("input_boolean.vacation"), "", "input_select.house_mode", state("Away"), ""},
		{"input_boolean.turn_off", on("input_boolean.vacation"), "", "input_boolean.vacation", state("off"), ""},
		{"input_button.press", on("input_button.doorbell"), "", "input_text.note", state("missed visitor"), ""},
		{"input_select.select_option", on("input_select.house_mode"), `{"option":"Home"}`, "input_select.house_mode", state("Home"), ""},
		{"input_select.select_next", on("input_select.house_mode"), "", "input_select.house_mode", state("Away"), ""},
		{"input_select.select_previous", on("input_select.house_mode"), "", "input_select.house_mode", state("Home"), ""},
		{"input_number.set_value", on("input_number.target_humidity"), `{"value":61}`, "input_text.note", state("humid"), ""},
		{"input_number.increment", on("input_number.target_humidity"), "", "input_number.target_humidity", state("62.0"), ""},
		{"input_number.decrement", on("input_number.target_humidity"), "", "input_number.target_humidity", state("61.0"), ""},
		{"input_text.set_value", on("input_text.note"), `{"value":"grüß dich"}`, "input_text.note", state("grüß dich"), ""},
		{"input_datetime.set_datetime", on("input_datetime.wake_up"), `{"time":"06:45:00"}`, "input_datetime.wake_up", with("06:45:00", `"hour":6,"minute":45,"second":0,"timestamp":24300`), ""},
		{"input_boolean.toggle", on("input_boolean.guest_mode"), "", "script.announce", with("off", `"last_triggered":"<iso>","current":0`), ""},
		{"input_boolean.toggle", on("input_boolean.guest_mode"), "", "group.downstairs_lights", state("off"), ""},
		{"number.set_value", on("number.volume"), `{"value":55}`, "number.volume", state("55.0"), ""},
		{"select.select_option", on("select.speed"), `{"option":"light_speed"}`, "select.speed", state("light_speed"), ""},
		{"text.set_value", on("text.text"), `{"value":"hello"}`, "text.text", state("hello"), ""},
		{"button.press", on("button.push"), "", "button.push", state("<iso>"), ""},
		{"counter.increment", on("counter.visitors"), "", "counter.visitors", state("1"), ""},
		{"counter.increment", on("counter.visitors"), "", "counter.visitors", state("2"), ""},
		{"counter.decrement", on("counter.visitors"), "", "counter.visitors", state("1"), ""},
		{"counter.reset", on("counter.visitors"), "", "counter.visitors", state("0"), ""},
		{"timer.start", on("timer.laundry"), `{"duration":"00:10:00"}`, "timer.laundry", with("active", `"duration":"0:10:00","remaining":"0:10:00","finishes_at":"<iso>"`), ""},
		{"timer.cancel", on("timer.laundry"), "", "timer.laundry", `{"s":"idle","a":{"duration":"0:45:00","editable":false,"last_transition":"cancelled","friendly_name":"Laundry"},"...":0}`, ""},
		{"scene.turn_on", on("scene.movie"), "", "light.ceiling_lights", with("on", `"brightness":40`), ""},
		{"scene.turn_on", on("scene.movie"), "", "scene.movie", state("<iso>"), ""},
		{"automation.turn_off", on("automation.humidity_follows_target"), "", "automation.humidity_follows_target", state("off"), ""},
		{"automation.turn_on", on("automation.humidity_follows_target"), "", "automation.humidity_follows_target", state("on"), ""},
		{"automation.toggle", on("automation.humidity_follows_target"), "", "automation.humidity_follows_target", state("off"), ""},
		{"automation.trigger", on("automation.humidity_follows_target"), "", "input_text.note", state("humid"), ""},
		{"script.turn_on", on("script.slow_goodnight"), "", "script.slow_goodnight", with("on", `"current":1`), ""},
		{"script.turn_off", on("script.slow_goodnight"), "", "script.slow_goodnight", with("off", `"current":0`), ""},
		{"script.toggle", on("script.slow_goodnight"), "", "script.slow_goodnight", state("on"), ""},
		{"script.toggle", on("script.slow_goodnight"), "", "script.slow_goodnight", state("off"), ""},
		{"script.slow_goodnight", "", "", "lock.kitchen_door", state("locked"), ""},
		{"script.announce", "", "", "", "", "fails"},
		{"todo.add_item", on("todo.groceries"), `{"item":"Milk"}`, "todo.groceries", state("1"), ""},
		{"todo.get_items", on("todo.groceries"), "", "", "", `{"todo.groceries":{"items":[{"summary":"Milk","uid":"<string>","status":"needs_action"}]}}`},
		{"todo.update_item", on("todo.groceries"), `{"item":"Milk","status":"completed"}`, "todo.groceries", state("0"), ""},
		{"todo.get_items", on("todo.groceries"), "", "", "", `{"todo.groceries":{"items":[{"summary":"Milk","uid":"<string>","status":"completed","completed":"<iso>"}]}}`},
		{"todo.remove_item", on("todo.groceries"), `{"item":"Milk"}`, "", "", ""},
		{"weather.get_forecasts", on("weather.demo_weather_south"), `{"type":"daily"}`, "", "", `{"weather.demo_weather_south":{"forecast":"<list>"}}`},
		{"calendar.get_events", on("calendar.family"), `{"duration":{"hours":24}}`, "", "", `{"calendar.family":{"events":[]}}`},
		{"notify.send_message", on("notify.notifier"), `{"message":"hello"}`, "notify.notifier", state("<iso>"), ""},
		{"persistent_notification.create", "", `{"message":"hello","notification_id":"samehouse"}`, "", "", ""},
		{"persistent_notification.dismiss", "", `{"notification_id":"samehouse"}`, "", "", ""},
	}
}
