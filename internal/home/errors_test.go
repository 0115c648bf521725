package home

import "testing"

func TestError_HintIsASentence(t *testing.T) {
	for _, c := range []struct{ msg, hint, want string }{
		{"no area", "try area_list", "invalid: no area. Try area_list"},
		{"did you mean hall?", "try again", "invalid: did you mean hall? Try again"},
		{"it ends.", "Now", "invalid: it ends. Now"},
		{"no area", "area_list has all", "invalid: no area. area_list has all"},
		{"no area", "hearth doctor helps", "invalid: no area. hearth doctor helps"},
		{"no area", "--data names another", "invalid: no area. --data names another"},
		{"no area", "see log call_1", "invalid: no area. see log call_1"},
		{"no area", "", "invalid: no area"},
	} {
		if got := Errorf(Invalid, "%s", c.msg).WithHint("%s", c.hint).Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
