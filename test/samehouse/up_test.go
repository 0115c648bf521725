package samehouse

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// waitUp asks until the house answers again as running.
func waitUp(t *testing.T, h *home) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); <-tick.C {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.base+"/api/config", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+h.hearth)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		var config struct{ State string }
		err = json.NewDecoder(resp.Body).Decode(&config)
		resp.Body.Close()
		if err == nil && config.State == "RUNNING" {
			return
		}
	}
	t.Fatal("the house did not come back")
}
