// Package guard says who may see and do what: it keeps the tokens that open
// the door, and it is the judge that looks at what a plan would really touch.
//
// The judge resolves a plan down to leaves: groups (nested, in circles), areas,
// floors, labels and devices, comma lists, "all", targets hidden in the data,
// the bodies of scripts and scenes and what those call in turn. Every leaf must
// be on a short list, and everything else is denied with a reason:
//
//	light, fan, humidifier, switch, input helpers, counter, timer, number, select
//	media_player   everything
//	climate        temperatures from 7 to 28 °C (converted for a house in °F)
//	number         when it is a temperature, from 7 to 28 °C as well
//	vacuum         everything but send_command, whose words only the robot knows
//	lock           lock.lock only
//	cover          all but garage doors, gates and doors; one without a class whose
//	               name sounds like one counts as one
//	script, scene  when all they do is known and on this list
//	homeassistant  turn_on, turn_off and toggle, leaf by leaf, as each leaf's own service
//
// A switch, number or select of a device that is also a lock, an alarm panel or
// a guarded cover is refused, since it may be the very thing that opens it, and
// so is a switch that Home Assistant shows as a lock, a valve or a cover.
// Services that change what the house remembers (reload, create, delete,
// set_options) are not on the list. Templates are never guessed at: a templated
// service, target or temperature is unknown, and what is unknown is denied.
//
// Promises. The judge never acts. It answers from one view of the house, so it
// does not mix two moments. What the caller may not see is answered like what
// does not exist. An unknown area, device, floor or label is an error and never
// "everything". It is safe for concurrent use. Tokens compare in constant time,
// never touch the database on the way of a request, and stop working the moment
// Revoke returns; the owner's token never opens MCP, and an MCP token never
// acts as the owner.
//
// A small example:
//
//	registry.Judge = guard.NewJudge(house)
//	tokens, err := guard.NewTokens(ctx, db, dir, log)
//	if caller, ok := tokens.Verify(bearer); ok {
//		answer := registry.Call(ctx, caller, "entity_get", args)
//	}
package guard
