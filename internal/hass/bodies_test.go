package hass

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"hearth/internal/home"
)

// trusted plays the bodies of reports: which text counts in the end, "" while
// it is in doubt.
func trusted(rs []home.Report, id home.EntityID) (text string) {
	for _, rep := range rs {
		for _, b := range rep.Bodies {
			switch {
			case b.Entity != id:
			case b.Old:
				text = ""
			default:
				text = string(b.Config)
			}
		}
	}
	return text
}

// A reload takes a script whose text changed out and puts it in again: it goes
// to unavailable and comes back. Until its text has been read after that, what
// was read before counts for nothing.
func TestAScriptThatIsMadeAnewIsReadAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		text := `{"alias":"good"}`
		var said atomic.Pointer[string] // by the house, on its own goroutines
		var wait atomic.Int64
		said.Store(&text)
		r.on("script/config", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			answer, later := `{"config":`+*said.Load()+`}`, time.Duration(wait.Load())
			go func() {
				pass(later)
				p.result(id, answer)
			}()
			return true
		})
		r.set(func() { r.states = `{"script.mood":{"s":"off","a":{},"c":"x","lc":1}}` })
		r.up()
		pass(time.Second)
		if got := trusted(r.took(), "script.mood"); got != text {
			t.Fatalf("at the start: %s", got)
		}

		r.peer().event("call_service", `{"domain":"script","service":"reload"}`)
		pass(reloadTime / 2)
		if rs := r.took(); trusted(rs, "script.mood") != "" || find(rs, home.ReportBodies) == nil {
			t.Error("the text is trusted while a reload is under way")
		}
		pass(reloadTime)
		if got := trusted(r.took(), "script.mood"); got != text {
			t.Errorf("after a reload that changed nothing: %s", got)
		}

		// A slow reload: the entity is made anew long after the call, while an
		// answer with the old text is still under way.
		wait.Store(int64(500 * time.Millisecond))
		r.peer().event("call_service", `{"domain":"script","service":"reload"}`)
		pass(reloadTime + 100*time.Millisecond)
		r.peer().differ(`{"c":{"script.mood":{"+":{"s":"unavailable","a":{"restored":true}}}}}`)
		bad := `{"alias":"bad"}`
		said.Store(&bad)
		wait.Store(0)
		r.peer().differ(`{"c":{"script.mood":{"+":{"s":"off"},"-":{"a":["restored"]}}}}`)
		pass(time.Second)
		if got := trusted(r.took(), "script.mood"); got != bad {
			t.Errorf("after the entity was made anew: %s", got)
		}
	})
}

// A text that was asked for before a reload and comes after it is not taken.
func TestATextThatWasOvertakenIsNotTaken(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("script/config", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			go func() {
				pass(time.Second)
				p.result(id, `{"config":{"alias":"good"}}`)
			}()
			return true
		})
		r.set(func() { r.states = `{"script.mood":{"s":"off","a":{},"c":"x","lc":1}}` })
		r.up()
		pass(500 * time.Millisecond)
		r.peer().event("call_service", `{"domain":"script","service":"reload"}`)
		pass(time.Second)
		if got := trusted(r.took(), "script.mood"); got != "" {
			t.Errorf("trusted: %s", got)
		}
		pass(time.Minute)
		if got := trusted(r.took(), "script.mood"); got == "" {
			t.Error("it was never read again")
		}
	})
}
