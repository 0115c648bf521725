// Package recall finds entities by what people call them: words of their id,
// name, aliases, device, area, floor and labels, and what kind of thing they
// are, in whatever spelling. Typing errors, accents, joined and Chinese,
// Japanese or Korean words are tolerated; synonyms and the words for kinds of
// things are readable lists (lexicon.txt, synonyms.txt) in English and a little
// German, French, Spanish and Dutch.
//
// Promises: a search sees only what the scope shows; filters narrow before the
// best are chosen; values come from the newest view, never from the index; a
// search never waits for an index to be built, except for the very first one.
// While a new index is being built, the old one answers: an entity that was
// just added may be missing for a moment. Index may be used from any goroutine.
//
//	x := recall.New(house)
//	go x.Run(ctx)
//	hits, ambiguous := x.Find(scope, recall.Query{Text: "kichen lihgt", Domain: "light"})
package recall
