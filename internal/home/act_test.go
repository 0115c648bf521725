package home

import "testing"

func TestWorst_IsTheLeastCertain(t *testing.T) {
	order := []Outcome{Already, Done, Accepted, Assumed, Sent, Waiting, Unclear, Failed, Refused}
	for i, a := range order {
		for _, b := range order[i:] {
			if Worst(a, b) != b || Worst(b, a) != b {
				t.Errorf("%s and %s: %s, want %s", a, b, Worst(a, b), b)
			}
		}
	}
	if got := Worst(); got != Accepted {
		t.Errorf("no parts: %s", got)
	}
	if got := Worst(Done, "never heard of"); got != Done {
		t.Errorf("an unknown word made it %s", got)
	}
}

func TestClass_ZeroIsInvalidAndReachesNothing(t *testing.T) {
	for c, want := range map[Class]string{0: "invalid", Read: "read", Act: "act", Config: "config", Danger: "danger", 9: "invalid"} {
		if c.String() != want {
			t.Errorf("class %d is %q, want %q", c, c, want)
		}
	}
	if (Grant{}).Allows(Read) || (Grant{Upto: Danger}).Allows(0) || !(Grant{Upto: Act}).Allows(Read) || (Grant{Upto: Act}).Allows(Config) {
		t.Error("a grant reaches what it should not, or not what it should")
	}
	if (Scope{}).Sees(nil) || (Scope{}).Sees(&Entity{}) || Visible().Sees(&Entity{HiddenBy: "user"}) || !Visible().Sees(nil) || !Everything().Sees(&Entity{HiddenBy: "user"}) {
		t.Error("a scope sees what it should not, or not what it should")
	}
}
