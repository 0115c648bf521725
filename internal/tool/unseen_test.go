package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"hearth/internal/home"
)

// What is out of the caller's sight is recorded, and only its fault is told.
func TestCall_UnseenLeavesAreNotShown(t *testing.T) {
	for _, outcome := range []home.Outcome{home.Done, home.Sent} {
		d := newDoor(setTool(nil))
		d.verdict.Leaves = [][]home.EntityID{{"light.a", "light.vault"}}
		d.verdict.Unseen = map[home.EntityID]bool{"light.vault": true}
		d.results = []home.StepResult{{Outcome: outcome, Leaves: []home.LeafResult{
			{Entity: "light.a", Outcome: home.Done}, {Entity: "light.vault", Name: "Vault", Outcome: outcome},
		}}}
		a := d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`))
		if r := receiptOf(t, a); len(r.Targets) != 1 || r.Outcome != outcome || strings.Contains(strings.ToLower(string(a.JSON)), "vault") ||
			strings.Contains(string(a.JSON), "not shown here") != (outcome == home.Sent) {
			t.Errorf("%s", a.JSON)
		}
		if len(d.records[0].Steps[0].Leaves) != 2 {
			t.Errorf("the record has %v", d.records[0].Steps[0].Leaves)
		}
		a = d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a","dry_run":true}`))
		if strings.Contains(string(a.JSON), "vault") {
			t.Errorf("a dry run: %s", a.JSON)
		}
	}
}
