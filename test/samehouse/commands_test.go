package samehouse

// step is one command, the answer it gets, and the events it makes.
type step struct {
	kind   string // WebSocket command
	send   string // JSON object of its fields
	want   string // pattern of the answer without id and type; "" means {"success":true,"result":null}
	events []string
}

// talk is a named sequence of steps on one connection.
type talk struct {
	name  string
	steps []step
}

const ok = `{"success":true,"result":null}`

func failed(code, message string) string {
	return `{"success":false,"error":{"code":"` + code + `","message":"` + message + `"}}`
}

// area, floor and label are rows as their lists show them, with what the steps put in.
const (
	areaRow  = `{"aliases":["loft"],"area_id":"samehouse_attic","floor_id":null,"humidity_entity_id":null,"icon":null,"labels":[],"name":"Samehouse attic","picture":null,"temperature_entity_id":null,"created_at":"<number>","modified_at":"<number>"}`
	floorRow = `{"aliases":["cellar"],"created_at":"<number>","floor_id":"samehouse_below","icon":null,"level":-2,"name":"Samehouse below","modified_at":"<number>"}`
	labelRow = `{"color":"blue","created_at":"<number>","description":null,"icon":null,"label_id":"samehouse_mark","name":"Samehouse mark","modified_at":"<number>"}`
	entryRow = `{"area_id":"<any>","categories":{},"config_entry_id":"<any>","config_subentry_id":null,"created_at":"<number>","device_id":"<any>","disabled_by":null,"entity_category":null,"entity_id":"<string>","hidden_by":null,"icon":null,"id":"<hex32>","labels":"<list>","modified_at":"<number>","name":"<any>","next_name_part":"<any>","options":"<object>","original_name":"<any>","platform":"<string>","translation_key":null,"unique_id":"<string>","aliases":"<list>","capabilities":"<any>","device_class":null,"original_device_class":"<any>","original_icon":"<any>"}`
)

func talks() []talk {
	return []talk{
		{"the socket", []step{
			{"ping", `{}`, `{}`, nil},
			{"ping", `{"extra":1}`, `{"success":false,"error":{"code":"invalid_format","message":"<~extra keys not allowed>"}}`, nil},
			{"no/such_command", `{}`, failed("unknown_command", "Unknown command."), nil},
			{"supported_features", `{"features":{"coalesce_messages":1}}`, ok, nil},
			{"unsubscribe_events", `{"subscription":9999}`, failed("not_found", "Subscription not found."), nil},
		}},
		{"what the house is", []step{
			{"get_config", `{}`, `{"success":true,"result":{"time_zone":"Europe/Amsterdam","state":"RUNNING","location_name":"Test Home","version":"2026.11.0","language":"en","currency":"EUR","country":"NL","latitude":52.3731,"longitude":4.8903,"elevation":2,"components":"<list>","unit_system":{"length":"km","accumulated_precipitation":"mm","area":"m²","mass":"g","pressure":"Pa","temperature":"°C","volume":"L","wind_speed":"m/s"},"...":0}}`, nil},
			{"get_states", `{}`, `{"success":true,"result":"<list>"}`, nil},
			{"get_services", `{}`, `{"success":true,"result":{"light":{"turn_on":{"fields":"<object>","target":{"entity":[{"domain":["light"]}]}},"...":0},"weather":{"get_forecasts":{"fields":"<object>","target":"<object>","response":{"optional":false}},"...":0},"script":{"announce":{"name":"Announce","description":"","fields":{},"response":{"optional":true}},"...":0},"...":0}}`, nil},
		}},
		{"who is there", []step{
			{"auth/current_user", `{}`, `{"success":true,"result":{"id":"<$me>","name":"Hearth","is_owner":false,"is_admin":true,"credentials":[{"auth_provider_type":"homeassistant","auth_provider_id":null}],"mfa_modules":"<list>"}}`, nil},
			{"config/auth/list", `{}`, `{"success":true,"result":"<list>"}`, nil},
			{"person/list", `{}`, `{"success":true,"result":{"storage":[{"id":"test_owner","name":"Test Owner","user_id":"<hex32>","device_trackers":[]}],"config":[]}}`, nil},
			{"auth/long_lived_access_token", `{"client_name":"samehouse","lifespan":3650}`, `{"success":true,"result":"<jwt>"}`, nil},
			{"auth/long_lived_access_token", `{"client_name":"samehouse"}`, `{"success":false,"error":{"code":"invalid_format","message":"<~required key not provided at 'lifespan'>"}}`, nil},
			{"config/auth/create", `{"name":"Guest","group_ids":["system-users"],"local_only":true}`, `{"success":true,"result":{"user":{"id":"<$guest>","username":null,"name":"Guest","is_owner":false,"is_active":true,"local_only":true,"system_generated":false,"group_ids":["system-users"],"credentials":[]}}}`, nil},
			{"config/auth_provider/homeassistant/create", `{"user_id":"$guest","username":"guest","password":"guest-house-1"}`, ok, nil},
			{"config/auth/create", `{"name":"Short stay"}`, `{"success":true,"result":{"user":{"id":"<$short>","group_ids":[],"local_only":false,"...":0}}}`, nil},
			{"config/auth/delete", `{"user_id":"$short"}`, ok, nil},
			{"config/auth/delete", `{"user_id":"$short"}`, failed("not_found", "User not found"), nil},
			{"config/auth/delete", `{"user_id":"$me"}`, failed("no_delete_self", "Unable to delete your own account"), nil},
			{"config/auth_provider/homeassistant/create", `{"user_id":"nobody","username":"x","password":"y"}`, `{"success":false,"error":{"code":"not_found","message":"User not found"}}`, nil},
			{"config/auth_provider/homeassistant/create", `{"user_id":"$guest","username":"guest","password":"y"}`, `{"success":false,"error":{"code":"<$code>","message":"<$message>","...":0}}`, nil},
		}},
		{"entities in the registry", []step{
			{"config/entity_registry/list", `{}`, `{"success":true,"result":"<list>"}`, nil},
			{"config/entity_registry/get", `{"entity_id":"light.kitchen_lights"}`, `{"success":true,"result":` + entryRow + `}`, nil},
			{"config/entity_registry/get", `{"entity_id":"light.nope"}`, failed("not_found", "Entity not found"), nil},
			{"config/entity_registry/get_entries", `{"entity_ids":["cover.garage_door","light.nope"]}`, `{"success":true,"result":{"light.nope":null,"cover.garage_door":` + entryRow + `}}`, nil},
			{"subscribe_events", `{"event_type":"entity_registry_updated"}`, ok, nil},
			{"config/entity_registry/update", `{"entity_id":"switch.ac","aliases":[null,"cooler"],"name":"Cooler"}`, `{"success":true,"result":{"entity_entry":{"aliases":[null,"cooler"],"name":"Cooler","entity_id":"switch.ac","...":0}}}`,
				[]string{`{"event_type":"entity_registry_updated","data":{"action":"update","entity_id":"switch.ac","changes":{"name":null,"aliases":[0]}},"origin":"LOCAL","time_fired":"<iso>","context":{"id":"<ulid>","parent_id":null,"user_id":null}}`}},
			{"config/entity_registry/update", `{"entity_id":"switch.ac","new_entity_id":"switch.cooler"}`, `{"success":true,"result":{"entity_entry":{"entity_id":"switch.cooler","...":0}}}`,
				[]string{`{"event_type":"entity_registry_updated","data":{"action":"update","entity_id":"switch.cooler","changes":{"entity_id":"switch.ac"},"old_entity_id":"switch.ac"},"...":0}`}},
			{"config/entity_registry/update", `{"entity_id":"switch.cooler","new_entity_id":"switch.ac","name":null,"aliases":[null],"hidden_by":"user"}`, `{"success":true,"result":{"entity_entry":{"entity_id":"switch.ac","hidden_by":"user","...":0}}}`, nil},
			{"config/entity_registry/update", `{"entity_id":"switch.ac","hidden_by":null}`, `{"success":true,"result":{"entity_entry":{"hidden_by":null,"...":0}}}`, nil},
			{"config/entity_registry/update", `{"entity_id":"light.bed_light","area_id":"kitchen"}`, failed("invalid_info", "An entity without a name of its own cannot have an area of its own, set the area on its device instead"), nil},
			{"config/entity_registry/update", `{"entity_id":"light.nope","name":"x"}`, failed("not_found", "Entity not found"), nil},
		}},
		{"devices in the registry", []step{
			{"config/device_registry/list", `{}`, `{"success":true,"result":"<list>"}`, nil},
			{"config/device_registry/list_composite_splits", `{}`, `{"success":true,"result":{}}`, nil},
			{"config/entity_registry/get", `{"entity_id":"light.ceiling_lights"}`, `{"success":true,"result":{"device_id":"<$device>","...":0}}`, nil},
			{"subscribe_events", `{"event_type":"device_registry_updated"}`, ok, nil},
			{"config/device_registry/update", `{"device_id":"$device","name_by_user":"Big lamp"}`, `{"success":true,"result":{"id":"$device","name":"Ceiling Lights","name_by_user":"Big lamp","...":0}}`,
				[]string{`{"event_type":"device_registry_updated","data":{"action":"update","device_id":"$device","changes":{"name_by_user":null}},"...":0}`}},
			{"config/device_registry/update", `{"device_id":"$device","name_by_user":null}`, `{"success":true,"result":{"name_by_user":null,"area_id":"living_room","...":0}}`, nil},
			{"config/device_registry/update", `{"device_id":"nope"}`, `{"success":false,"error":{"code":"not_found","message":"Device not found"}}`, nil},
		}},
		{"areas come and go", []step{
			{"config/area_registry/list", `{}`, `{"success":true,"result":"<list>"}`, nil},
			{"subscribe_events", `{"event_type":"area_registry_updated"}`, ok, nil},
			{"config/area_registry/create", `{"name":"Samehouse attic","aliases":["loft"]}`, `{"success":true,"result":` + areaRow + `}`,
				[]string{`{"event_type":"area_registry_updated","data":{"action":"create","area_id":"samehouse_attic"},"...":0}`}},
			{"config/area_registry/create", `{"name":"samehouse ATTIC"}`, failed("invalid_info", "The name samehouse ATTIC (samehouseattic) is already in use"), nil},
			{"config/area_registry/update", `{"area_id":"samehouse_attic","floor_id":"upstairs"}`, `{"success":true,"result":{"floor_id":"upstairs","...":0}}`,
				[]string{`{"event_type":"area_registry_updated","data":{"action":"update","area_id":"samehouse_attic"},"...":0}`}},
			{"config/area_registry/delete", `{"area_id":"samehouse_attic"}`, `{"success":true,"result":"success"}`,
				[]string{`{"event_type":"area_registry_updated","data":{"action":"remove","area_id":"samehouse_attic"},"...":0}`}},
			{"config/area_registry/delete", `{"area_id":"samehouse_attic"}`, failed("invalid_info", "Area ID doesn't exist"), nil},
		}},
		{"floors come and go", []step{
			{"config/floor_registry/list", `{}`, `{"success":true,"result":"<list>"}`, nil},
			{"subscribe_events", `{"event_type":"floor_registry_updated"}`, ok, nil},
			{"config/floor_registry/create", `{"name":"Samehouse below","level":-2,"aliases":["cellar"]}`, `{"success":true,"result":` + floorRow + `}`,
				[]string{`{"event_type":"floor_registry_updated","data":{"action":"create","floor_id":"samehouse_below"},"...":0}`}},
			{"config/floor_registry/update", `{"floor_id":"samehouse_below","name":"Samehouse deeper"}`, `{"success":true,"result":{"name":"Samehouse deeper","...":0}}`, nil},
			{"config/floor_registry/delete", `{"floor_id":"samehouse_below"}`, `{"success":true,"result":"<any>"}`,
				[]string{`{"event_type":"floor_registry_updated","data":{"action":"remove","floor_id":"samehouse_below"},"...":0}`}},
			{"config/floor_registry/delete", `{"floor_id":"samehouse_below"}`, failed("invalid_info", "Floor ID doesn't exist"), nil},
		}},
		{"labels come and go", []step{
			{"config/label_registry/list", `{}`, `{"success":true,"result":"<list>"}`, nil},
			{"subscribe_events", `{"event_type":"label_registry_updated"}`, ok, nil},
			{"config/label_registry/create", `{"name":"Samehouse mark","color":"blue"}`, `{"success":true,"result":` + labelRow + `}`,
				[]string{`{"event_type":"label_registry_updated","data":{"action":"create","label_id":"samehouse_mark"},"...":0}`}},
			{"config/entity_registry/update", `{"entity_id":"fan.ceiling_fan","labels":["samehouse_mark","no_such_label"]}`, `{"success":true,"result":{"entity_entry":{"labels":["samehouse_mark"],"...":0}}}`, nil},
			{"extract_from_target", `{"target":{"label_id":["samehouse_mark"]}}`, `{"success":true,"result":{"referenced_entities":["fan.ceiling_fan"],"...":0}}`, nil},
			{"config/label_registry/update", `{"label_id":"samehouse_mark","description":"for a while"}`, `{"success":true,"result":{"description":"for a while","...":0}}`, nil},
			{"config/label_registry/delete", `{"label_id":"samehouse_mark"}`, ok,
				[]string{`{"event_type":"label_registry_updated","data":{"action":"remove","label_id":"samehouse_mark"},"...":0}`}},
			{"config/label_registry/delete", `{"label_id":"samehouse_mark"}`, failed("invalid_info", "Label ID doesn't exist"), nil},
			{"config/entity_registry/get", `{"entity_id":"fan.ceiling_fan"}`, `{"success":true,"result":{"labels":[],"...":0}}`, nil},
		}},
		{"what a target is", []step{
			{"extract_from_target", `{"target":{"entity_id":["group.downstairs_lights","light.nope"]}}`, `{"success":true,"result":{"referenced_entities":["group.downstairs_lights","light.nope"],"referenced_devices":[],"referenced_areas":[],"missing_devices":[],"missing_areas":[],"missing_floors":[],"missing_labels":[]}}`, nil},
			{"extract_from_target", `{"target":{"entity_id":["group.downstairs_lights"]},"expand_group":true}`, `{"success":true,"result":{"referenced_entities":["light.ceiling_lights","light.kitchen_lights"],"...":0}}`, nil},
			{"extract_from_target", `{"target":{"floor_id":["upstairs"]}}`, `{"success":true,"result":{"referenced_entities":["climate.ecobee","cover.hall_window","fan.ceiling_fan","light.bed_light","light.office_rgbw_lights"],"referenced_areas":["buro","kids_room"],"...":0}}`, nil},
			{"extract_from_target", `{"target":{"area_id":["kitchen","nowhere"],"label_id":["hearth_confirm","no_label"],"floor_id":["no_floor"],"device_id":["no_device"]}}`, `{"success":true,"result":{"referenced_entities":["binary_sensor.kuchenfenster","cover.garage_door","light.kitchen_lights","sensor.kitchen_power","switch.ac"],"referenced_areas":["kitchen","nowhere"],"missing_areas":["nowhere"],"missing_floors":["no_floor"],"missing_labels":["no_label"],"missing_devices":["no_device"],"...":0}}`, nil},
			{"extract_from_target", `{}`, `{"success":false,"error":{"code":"invalid_format","message":"<~required key not provided at 'target'>"}}`, nil},
		}},
		{"bodies and what hangs together", []step{
			{"automation/config", `{"entity_id":"automation.guests_gone"}`, `{"success":true,"result":{"config":{"id":"guest_leave","alias":"Guests gone","triggers":[{"trigger":"state","entity_id":"input_boolean.guest_mode","to":"off"}],"conditions":[{"condition":"state","entity_id":"input_select.house_mode","state":"Home"}],"actions":[{"action":"light.turn_off","target":{"entity_id":"group.downstairs_lights"}}]}}}`, nil},
			{"automation/config", `{"entity_id":"automation.nope"}`, failed("not_found", "Entity not found"), nil},
			{"script/config", `{"entity_id":"script.slow_goodnight"}`, `{"success":true,"result":{"config":{"alias":"Slow goodnight","sequence":[{"action":"light.turn_off","target":{"entity_id":"light.bed_light"}},{"delay":{"seconds":2}},{"action":"lock.lock","target":{"entity_id":"lock.kitchen_door"}}]}}}`, nil},
			{"script/config", `{"entity_id":"script.nope"}`, failed("not_found", "Entity not found"), nil},
		}},
		{"the past, asked wrongly", []step{
			{"history/history_during_period", `{"start_time":"bad","entity_ids":["light.bed_light"]}`, failed("invalid_start_time", "Invalid start_time"), nil},
			{"history/history_during_period", `{"start_time":"2026-01-01T00:00:00+00:00","end_time":"bad","entity_ids":["light.bed_light"]}`, failed("invalid_end_time", "Invalid end_time"), nil},
			{"history/history_during_period", `{"start_time":"2026-01-01T00:00:00+00:00"}`, `{"success":false,"error":{"code":"invalid_format","message":"required key not provided at 'entity_ids'. Got None"}}`, nil},
			{"history/history_during_period", `{"start_time":"2026-01-01T00:00:00+00:00","entity_ids":["nope"]}`, failed("invalid_entity_ids", "Invalid entity_ids"), nil},
			{"history/history_during_period", `{"start_time":"2100-01-01T00:00:00+00:00","entity_ids":["light.bed_light"]}`, `{"success":true,"result":{}}`, nil},
			{"logbook/get_events", `{"start_time":"bad"}`, failed("invalid_start_time", "Invalid start_time"), nil},
			{"trace/list", `{"domain":"light"}`, `{"success":false,"error":{"code":"invalid_format","message":"value must be one of ['automation', 'script'] at 'domain'. Got 'light'"}}`, nil},
			{"trace/get", `{"domain":"automation","item_id":"x","run_id":"y"}`, failed("not_found", "The trace could not be found"), nil},
		}},
		{"calls that cannot be", []step{
			{"call_service", `{"domain":"light","service":"nope"}`, `{"success":false,"error":{"code":"not_found","message":"Service light.nope not found.","translation_key":"service_not_found","translation_domain":"homeassistant","translation_placeholders":{"domain":"light","service":"nope"}}}`, nil},
			{"call_service", `{"domain":"light","service":"turn_on","target":{"entity_id":"nope"}}`, failed("invalid_format", "expected 'all' or 'none' at 'target.entity_id'. Got 'nope'"), nil},
			{"call_service", `{"domain":"light","service":"turn_on"}`, failed("invalid_format", "at least one of ['entity_id', 'device_id', 'area_id', 'floor_id', 'label_id'] is required"), nil},
			{"call_service", `{"domain":"light","service":"turn_on","target":{"entity_id":"light.bed_light"},"service_data":{"bogus":1}}`, failed("invalid_format", "not a valid option at 'bogus'"), nil},
			{"call_service", `{"domain":"light","service":"turn_on","target":{"entity_id":"light.bed_light"},"service_data":{"brightness":"abc"}}`, failed("invalid_format", "expected int at 'brightness'"), nil},
			{"call_service", `{"domain":"light","service":"turn_on","target":{"entity_id":"light.bed_light"},"service_data":{"brightness_pct":300}}`, failed("invalid_format", "expected a percentage between 0 and 100 at 'brightness_pct'"), nil},
			{"call_service", `{"domain":"light","service":"turn_on","target":{"entity_id":"light.bed_light"},"return_response":true}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: An action which does not return responses can't be called with return_response=True","translation_key":"service_does_not_support_response","translation_domain":"homeassistant","translation_placeholders":{"return_response":"return_response=True"}}}`, nil},
			{"call_service", `{"domain":"todo","service":"get_items","target":{"entity_id":"todo.groceries"}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: The action requires responses and must be called with return_response=True","...":0}}`, nil},
			{"call_service", `{"domain":"light","service":"turn_on","target":{"entity_id":"light.nope"}}`, `{"success":true,"result":{"context":{"id":"<ulid>","parent_id":null,"user_id":"<hex32>"}}}`, nil},
			{"call_service", `{"domain":"media_player","service":"volume_set","target":{"entity_id":"media_player.walkman"}}`, failed("invalid_format", "required key not provided at 'volume_level'"), nil},
			{"call_service", `{"domain":"media_player","service":"volume_set","target":{"entity_id":"media_player.lounge_room"},"service_data":{"volume_level":0.3}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: Entity media_player.lounge_room does not support action media_player.volume_set","translation_key":"service_not_supported","translation_domain":"homeassistant","translation_placeholders":{"domain":"media_player","service":"volume_set","entity_id":"media_player.lounge_room"}}}`, nil},
			{"call_service", `{"domain":"climate","service":"set_temperature","target":{"entity_id":"climate.hvac"},"service_data":{"temperature":99}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: Provided temperature 99.0 is not valid. Accepted range is 7 to 35","translation_key":"temp_out_of_range","translation_domain":"climate","translation_placeholders":{"check_temp":"99.0","min_temp":"7","max_temp":"35"}}}`, nil},
			{"call_service", `{"domain":"climate","service":"set_hvac_mode","target":{"entity_id":"climate.heatpump"},"service_data":{"hvac_mode":"cool"}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: HVAC mode cool is not valid. Valid HVAC modes are: heat, off","translation_key":"not_valid_hvac_mode","translation_domain":"climate","translation_placeholders":{"mode":"cool","modes":"heat, off"}}}`, nil},
			{"call_service", `{"domain":"input_number","service":"set_value","target":{"entity_id":"input_number.target_humidity"},"service_data":{"value":500}}`, failed("invalid_format", "Invalid value for input_number.target_humidity: 500.0 (range 20.0 - 80.0)"), nil},
			{"call_service", `{"domain":"input_select","service":"select_option","target":{"entity_id":"input_select.house_mode"},"service_data":{"option":"Bogus"}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: Option Bogus is not valid for input_select.house_mode. Valid options are: Home, Away, Night, Party","translation_key":"invalid_option","translation_domain":"input_select","translation_placeholders":{"entity_id":"input_select.house_mode","option":"Bogus","options":"Home, Away, Night, Party"}}}`, nil},
			{"call_service", `{"domain":"number","service":"set_value","target":{"entity_id":"number.volume"},"service_data":{"value":500}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: Value 500.0 for number.volume is outside valid range 0.0 - 100.0","translation_key":"out_of_range","translation_domain":"number","translation_placeholders":{"value":500,"entity_id":"number.volume","min_value":"0.0","max_value":"100.0"}}}`, nil},
			{"call_service", `{"domain":"select","service":"select_option","target":{"entity_id":"select.speed"},"service_data":{"option":"nope"}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: Option nope is not valid for entity select.speed, valid options are: light_speed, ridiculous_speed, ludicrous_speed","...":0}}`, nil},
			{"call_service", `{"domain":"fan","service":"set_preset_mode","target":{"entity_id":"fan.living_room_fan"},"service_data":{"preset_mode":"nope"}}`, `{"success":false,"error":{"code":"service_validation_error","message":"<$fanmessage>","translation_key":"not_valid_preset_mode","translation_domain":"fan","translation_placeholders":"<object>"}}`, nil},
			{"call_service", `{"domain":"todo","service":"remove_item","target":{"entity_id":"todo.groceries"},"service_data":{"item":"Gold"}}`, `{"success":false,"error":{"code":"service_validation_error","message":"Validation error: Unable to find to-do list item: Gold","translation_key":"item_not_found","translation_domain":"todo","translation_placeholders":{"item":"Gold"}}}`, nil},
			{"call_service", `{"domain":"alarm_control_panel","service":"alarm_disarm","target":{"entity_id":"alarm_control_panel.security"},"service_data":{"code":"0000"}}`, `{"success":false,"error":{"code":"service_validation_error","message":"<$alarm>","...":0}}`, nil},
		}},
	}
}
