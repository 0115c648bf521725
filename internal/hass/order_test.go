package hass

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
)

// TestAnswerAfterWhatCameBefore: a frame may carry differences and, behind them,
// the answer to a command. Whoever gets the answer must find them in the sink.
func TestAnswerAfterWhatCameBefore(t *testing.T) {
	for _, last := range []string{`{"id":9,"type":"result","success":true,"result":null}`, `{"id":9,"type":"pong"}`} {
		synctest.Test(t, func(t *testing.T) {
			c, _, err := New(Config{URL: "http://house", Token: secret.New("t")}, slog.New(slog.DiscardHandler), &health.Registry{})
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			s := newSession(t.Context(), c, nil, func(r home.Report) { told += len(r.Patches) })
			s.subs[3] = subscription{states: true}
			waits := &command{done: make(chan answer)} // unbuffered: the reader stops at the answer
			s.pending[9] = waits
			go s.take([]byte(`[{"id":3,"type":"event","event":{"c":{"lock.a":{"+":{"s":"jammed"}}}}},`+last+`]`), time.Now()) // ends when the answer is taken
			synctest.Wait()
			if told != 1 {
				t.Errorf("%s: the answer came before the difference that stood in front of it", last)
			}
			<-waits.done
		})
	}
}
