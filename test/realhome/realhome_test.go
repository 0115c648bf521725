package realhome

import "testing"

// TestRealHomeStarts proves the lane itself: the pinned release runs and both accounts work.
func TestRealHomeStarts(t *testing.T) {
	h := Start(t)
	for who, token := range map[string]string{"owner": h.OwnerToken, "hearth": h.HearthToken} {
		ws, err := Dial(t.Context(), h.URL, token)
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		defer ws.Close()
		var cfg struct{ Version, State string }
		if err := ws.Into(t.Context(), "get_config", nil, &cfg); err != nil {
			t.Fatal(err)
		}
		if cfg.Version != Version || cfg.State != "RUNNING" {
			t.Errorf("%s sees version %s, state %s; want %s, RUNNING", who, cfg.Version, cfg.State, Version)
		}
	}
	if h.HearthUser == "" || h.HearthUser == h.OwnerUser {
		t.Errorf("Hearth's user %q must be its own, not the owner's %q", h.HearthUser, h.OwnerUser)
	}
}
