package guard

import (
	"slices"
	"strings"
)

// services are the services of a domain that are on the list, space-separated;
// "" for a domain that is not on it. A switch statement, so that nobody can
// change it while the house runs.
func services(domain string) string {
	const onOff = "turn_on turn_off toggle"
	switch domain {
	case "light", "switch", "input_boolean":
		return onOff
	case "fan":
		return onOff + " set_percentage increase_speed decrease_speed set_preset_mode oscillate set_direction"
	case "media_player":
		return onOff + " volume_up volume_down volume_mute volume_set media_play_pause media_play media_pause media_stop" +
			" media_next_track media_previous_track media_seek play_media browse_media search_media select_source" +
			" select_sound_mode clear_playlist shuffle_set repeat_set join unjoin"
	case "climate":
		return onOff + " set_temperature set_hvac_mode set_preset_mode set_fan_mode set_swing_mode set_swing_horizontal_mode set_humidity"
	case "humidifier":
		return onOff + " set_mode set_humidity"
	case "vacuum":
		return "start pause stop return_to_base locate clean_spot clean_area set_fan_speed"
	case "input_number":
		return "set_value increment decrement"
	case "input_select", "select":
		return "select_option select_next select_previous select_first select_last"
	case "input_text", "number":
		return "set_value"
	case "input_datetime":
		return "set_datetime"
	case "input_button":
		return "press"
	case "counter":
		return "increment decrement reset set_value"
	case "timer":
		return "start pause cancel finish change"
	case "lock":
		return "lock"
	case "cover":
		return "open_cover close_cover toggle set_cover_position stop_cover" +
			" open_cover_tilt close_cover_tilt toggle_cover_tilt set_cover_tilt_position stop_cover_tilt"
	}
	return ""
}

// listed reports whether domain.service is on the list.
func listed(domain, service string) bool {
	return service != "" && slices.Contains(strings.Fields(services(domain)), service)
}

// why says what a service that is not on the list would do, where that helps.
func why(domain, service string) string {
	switch {
	case domain == "lock":
		return "it would open a lock"
	case domain == "valve":
		return "it would move a valve"
	case domain == "alarm_control_panel":
		return "it would change the alarm"
	case domain == "automation":
		return "it would start, stop or run an automation"
	case domain == "button":
		return "nobody can tell what a button does"
	case domain == "camera":
		return "it would use a camera"
	case domain == "update" || domain == "hassio" || domain == "backup" || domain == "recorder":
		return "it would change the system"
	case domain == "homeassistant":
		return "it would change Home Assistant itself"
	case domain == "shell_command" || domain == "python_script" || domain == "pyscript" || domain == "rest_command":
		return "it would run a program"
	case domain == "notify" || domain == "tts" || domain == "persistent_notification":
		return "it would send a message"
	case domain == "vacuum" && service == "send_command":
		return "only the robot knows what the command does"
	case service == "reload" || service == "create" || service == "delete" || service == "set_options":
		return "it would change what the house remembers"
	}
	return ""
}
