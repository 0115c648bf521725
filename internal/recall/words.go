package recall

import (
	_ "embed" // the word lists
	"regexp"
	"strings"
	"sync"
	"unicode"

	"hearth/internal/mirror"
)

//go:embed lexicon.txt
var lexiconText string

//go:embed synonyms.txt
var synonymText string

//go:embed stop.txt
var stopText string

// lexicon is what the word lists say.
type lexicon struct {
	domain map[string][]string // what entities of a domain are called
	class  map[string][]string // what entities of a device class are called
	means  map[string][]string // a word of a question → what else it may be called
	known  map[string]bool     // every word of the lists: parts of compounds are found by it
	stop   map[string]bool
	phrase int // most words in a key of means
}

// words reads the embedded lists, once.
var words = sync.OnceValue(func() *lexicon { return readLexicon(lexiconText, synonymText, stopText) })

func readLexicon(lex, syn, stop string) *lexicon {
	l := &lexicon{domain: map[string][]string{}, class: map[string][]string{}, means: map[string][]string{},
		known: map[string]bool{}, stop: map[string]bool{}, phrase: 1}
	for line := range lines(lex) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		ws := stems(f[2:])
		switch f[0] {
		case "domain":
			l.domain[f[1]] = ws
		case "class":
			l.class[f[1]] = ws
		}
		l.learn(ws)
	}
	for line := range lines(syn) {
		if from, to, ok := strings.Cut(line, ">"); ok {
			l.add(strings.Fields(from), strings.Fields(to))
			continue
		}
		all := strings.Fields(strings.ReplaceAll(line, "=", " "))
		l.add(all, all)
	}
	for line := range lines(stop) {
		for _, w := range strings.Fields(line) {
			l.stop[strings.ReplaceAll(w, "_", " ")] = true
		}
	}
	return l
}

func (l *lexicon) learn(ws []string) {
	for _, w := range ws {
		if len(w) >= 3 {
			l.known[w] = true
		}
	}
}

// add says that who asks for one of from may mean any of to.
func (l *lexicon) add(from, to []string) {
	var targets []string
	for _, w := range to {
		for _, part := range stems(strings.Split(w, "_")) {
			if part != "room" || w == "room" { // every room is one
				targets = append(targets, part)
			}
		}
	}
	for _, w := range from {
		parts := stems(strings.Split(w, "_"))
		key := strings.Join(parts, " ")
		l.phrase = max(l.phrase, len(parts))
		for _, t := range targets {
			if !has(parts, t) && !has(l.means[key], t) {
				l.means[key] = append(l.means[key], t)
			}
		}
		l.learn(parts)
	}
	l.learn(targets)
}

func lines(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(s) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
	}
}

func has(list []string, w string) bool {
	for _, x := range list {
		if x == w {
			return true
		}
	}
	return false
}

func stems(ws []string) []string {
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = stem(w)
	}
	return out
}

// stem takes the commonest English endings off, so that "lights" finds "light".
// It is meant to be cautious: what it gets wrong, it gets wrong on both sides.
func stem(w string) string {
	n := len(w)
	if n < 4 || w[n-1] >= 0x80 {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && n > 4:
		return w[:n-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "xes"):
		return w[:n-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	case w[n-1] == 's':
		return w[:n-1]
	case strings.HasSuffix(w, "ing") && n > 6:
		return undouble(w[:n-3])
	case strings.HasSuffix(w, "ed") && n > 5 && w[n-3] != 'e':
		return undouble(w[:n-2])
	}
	return w
}

func undouble(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' {
		return w[:n-1]
	}
	return w
}

// dense reports whether a rune belongs to a script written without spaces.
func dense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) || r == 'ー'
}

// split folds s and gives its words, stemmed. Runs of a script without spaces
// become pairs of neighbours, and single characters too when indexing.
func split(s string, single bool) []string {
	var out []string
	for _, w := range strings.Fields(mirror.Fold(unelide(s))) {
		if isASCII(w) {
			out = append(out, parts(w)...)
			continue
		}
		out = dissect(out, w, single)
	}
	return out
}

// unelide parts a word from the article or preposition that lost its vowel to
// it: d'amis is amis, dell'ingresso is ingresso.
func unelide(s string) string {
	if !strings.ContainsAny(s, "'’ʼ") {
		return s
	}
	return elided.ReplaceAllString(s, "$1$2 $3")
}

var elided = regexp.MustCompile(`(?i)(^|[^\pL])([dljmntsc]|qu|un|[dnsc]ell|all|dall|sull|quest|quell)['’ʼ](\pL)`)

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// parts separates letters from a number behind them (light2), and keeps short
// mixtures (co2, s8) as they are.
func parts(w string) []string {
	i := strings.IndexAny(w, "0123456789")
	if i < 4 || strings.Trim(w[i:], "0123456789") != "" {
		return []string{stem(w)}
	}
	return []string{stem(w[:i]), w[i:]}
}

// dissect takes a word with other than ASCII letters apart into dense runs and
// the rest.
func dissect(out []string, w string, single bool) []string {
	rs := []rune(w)
	for i := 0; i < len(rs); {
		j := i
		d := dense(rs[i])
		for j < len(rs) && dense(rs[j]) == d {
			j++
		}
		run := rs[i:j]
		i = j
		switch {
		case !d:
			out = append(out, stem(string(run)))
			continue
		case len(run) == 1:
			out = append(out, string(run))
			continue
		}
		for k := range run {
			if single {
				out = append(out, string(run[k]))
			}
			if k+1 < len(run) {
				out = append(out, string(run[k:k+2]))
			}
		}
	}
	return out
}
