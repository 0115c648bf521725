package home

// Distance is the number of typing errors between two words: letters added,
// left out, replaced or swapped with their neighbour (Damerau-Levenshtein,
// optimal string alignment). Beyond most it stops and gives most+1.
func Distance(a, b string, most int) int {
	if a == b {
		return 0
	}
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > most {
		return most + 1
	}
	var mem [3 * 66]int
	width := len(x) + 1
	rows := mem[:]
	if 3*width > len(mem) {
		rows = make([]int, 3*width)
	}
	before, prev, cur := rows[:width], rows[width:2*width], rows[2*width:3*width]
	for i := range prev {
		prev[i] = i
	}
	for j := 1; j <= len(y); j++ {
		cur[0] = j
		best := j
		for i := 1; i <= len(x); i++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(prev[i]+1, cur[i-1]+1, prev[i-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[i-2]+1)
			}
			cur[i] = d
			best = min(best, d)
		}
		if best > most {
			return most + 1
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(x)], most+1)
}
