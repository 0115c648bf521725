// Package hass is the link to Home Assistant: one supervised WebSocket session
// that mirrors the house, REST for what the WebSocket cannot answer, the tests
// of the way there, and the making of Hearth's own user.
//
// [New] gives two ends of the same link. A [Client] reads and cannot write: its
// Call refuses every command that is not known to be a reading one. An [Actor]
// writes, and only the hands of the house hold one.
//
// Promises:
//
//   - Order. The sink of [Client.Run] is called from one goroutine at a time, in
//     the order of the frames: a registry list is reported before the events
//     that came after it, and a snapshot before the differences that follow it.
//     Event subscriptions come first, then the lists, then the states; what
//     arrives meanwhile is kept and reported after the snapshot.
//   - The reader never waits for a disk or a model, only for the sink, which
//     must work in memory. Home Assistant drops clients that read slowly.
//   - A read that comes before the session is ready waits, at most 10 s. A write
//     fails with code offline at once, and nothing is ever sent twice: an error
//     after sending has code timeout and means that it may have happened.
//   - A session that ends fails everything pending at once, with the reason. The
//     link comes back by itself after 1 s, doubling to 30 s; a token refused
//     three times in a row slows it to 5 min.
//   - A frame that cannot be decoded is counted, kept as a sample and answered
//     by a fresh snapshot; it never ends the session.
//   - All methods may be called from any goroutine. Words that come from the
//     house are quoted and clipped in errors.
//
// Attributes in reports and states are raw: the mirror strips them.
//
// Counters in health: hass.sessions, hass.frames, hass.frames.bad,
// hass.differences (patches of live states), hass.events (reported ones) and
// hass.calls (service calls that left).
//
// A small example:
//
//	client, actor, err := hass.New(hass.Config{URL: "http://homeassistant.local:8123", Token: token}, log, &conditions)
//	if err != nil {
//		return err
//	}
//	group.Go(func() error { return client.Run(ctx, writer.Apply) })
//	_, _, err = actor.CallService(ctx, home.ServiceCall{Domain: "light", Service: "turn_on", Target: home.Target{Areas: []home.AreaID{"kitchen"}}})
package hass
