// Package home holds the words of the house: the things in it, what happens to
// them, what people ask of them and what may go wrong. It does no input or
// output and imports nothing of the module, so every other room can share it.
//
// Promises: values are plain data and safe to copy; a *State and the JSON it
// carries are never changed once handed out; the zero Scope sees nothing and
// the zero Class, Outcome and Kind are invalid, so that forgetting one fails.
//
// A small example:
//
//	id, err := home.ParseEntityID("light.kitchen")
//	if err != nil {
//		return home.Wrap(home.Invalid, err, "read the entity id")
//	}
//	fmt.Println(id.Domain()) // light
package home
