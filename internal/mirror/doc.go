// Package mirror holds the newest state of the house in memory and tells
// everyone what changed, in one order.
//
// It is fed by a link through the one [Writer] and read through [House]. A read
// takes a [View]: the whole house at one sequence number, which never changes
// and costs nothing to hold. Applying a report makes the next view, which
// shares everything that stayed the same, and swaps one pointer.
//
// Promises:
//   - One order for all: changes carry consecutive sequence numbers, and every
//     watcher sees them in that order.
//   - Your view never goes backwards. What you read at sequence n holds every
//     change up to n, and a watcher that was given change n finds it in View.
//   - You may be cut off, and you will be told: [Watch.Next] says how many
//     changes were dropped before the ones it returns.
//   - The writer never waits: not for a watcher, not for the disk.
//   - Secrets, coordinates and pictures are stripped from attributes before
//     they are kept; see [Strip].
//   - Slices and pointers a view hands out are shared: read them, never write.
//
// All methods of House, Writer, View and Watch may be used from any goroutine.
//
//	house, writer := mirror.New(mirror.Config{Site: "ha"}, nil, log, &conditions)
//	go link.Run(ctx, writer.Apply)
//	v := house.View()
//	for row, state := range v.Entities(scope, mirror.Filter{Domain: "light", Area: "kitchen"}) {
//		fmt.Println(row.Name, state.Value)
//	}
package mirror
