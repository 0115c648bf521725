// Package hands does what the door decided: it executes a step of a plan once
// and looks at the house until it shows the change.
//
// Promises. A command is sent at most once, and not at all when every leaf
// already shows what is wanted and the link was heard within 5 s or answers a
// ping within one: a line that died without a word shows old states. Nothing is claimed that was not seen: "done"
// means that the mirror, in a view later than the moment of sending, showed the
// expected value; a device on its way counts as seen and is reported as what it
// shows; a device that reports a problem (a jammed lock) has failed whatever
// Home Assistant answered. When no answer comes, the outcome is unknown, unless
// the house shows the value in a state that carries our own context or user.
// What was asked and no state or attribute shows (media, most colour names)
// makes the outcome accepted, never done. After an error of Home Assistant's
// only a change in a new context of ours counts: what an earlier call left
// behind proves nothing.
// Without a link nothing is sent and nothing waits. The hands never decide
// whether something may be done; the door's judge did.
//
// The function that New returns is safe for concurrent use and ends soon after
// its context does.
//
// A small example:
//
//	do := hands.New(actor, house, log, hands.User(client.User))
//	res := do(ctx, home.Step{
//		Kind:   home.StepService,
//		Call:   &home.ServiceCall{Domain: "light", Service: "turn_on", Target: home.Target{Entities: ids}},
//		Expect: []home.Expect{{Entity: "light.kitchen", States: []string{"on"}}},
//	}, ids, 2*time.Second)
package hands
