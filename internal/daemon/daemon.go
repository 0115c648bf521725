// Package daemon reads the configuration, wires the rooms, starts them, stops
// them in order, and lets other processes of the same user join.
//
// Promises. One process owns a data directory; a second owner is refused with
// the holder's pid, and the lock of a dead one blocks nobody. wire.go is the
// only place where a room is handed another room's power. Rooms start from the
// inside out and stop from the outside in; a room that ends by itself stops the
// house, and Run returns why. A broken configuration never touches the house:
// ServeBroken shows what is wrong instead. Nothing here prints; commands do.
//
//	src := daemon.Sources{Data: dir, Lookup: os.LookupEnv}
//	loaded, err := daemon.Load(src)
//	if err != nil {
//		return err // a *Broken that lists file, line, field, value and remedy
//	}
//	return daemon.Run(ctx, daemon.Options{Dir: dir, Config: loaded.Config, Log: log})
package daemon
