package hass

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"hearth/internal/home"
)

// dialogue is an authenticated connection for a few commands one after the
// other: the tests of the way, and the making of a user. It is not supervised.
type dialogue struct {
	conn *websocket.Conn
	id   int64
}

// ask sends a command and reads until its result.
func (d *dialogue) ask(ctx context.Context, kind string, fields map[string]any, out any) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	d.id++
	body := map[string]any{"id": d.id, "type": kind}
	for k, v := range fields {
		body[k] = v
	}
	if err := wsjson.Write(ctx, d.conn, body); err != nil {
		return offline(fmt.Sprintf("the connection broke at %s: %s", kind, plain(err)), err)
	}
	for {
		var m struct {
			ID      int64           `json:"id"`
			Type    string          `json:"type"`
			Success bool            `json:"success"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		if err := wsjson.Read(ctx, d.conn, &m); err != nil {
			if ctx.Err() != nil {
				return home.Wrap(home.Timeout, context.Cause(ctx), "wait for the answer to "+kind)
			}
			return offline(fmt.Sprintf("the connection broke at %s: %s", kind, plain(err)), err)
		}
		switch {
		case m.ID != d.id || m.Type != "result":
		case !m.Success:
			return refused(kind, m.Error)
		case out == nil:
			return nil
		default:
			return decode(kind, m.Result, out)
		}
	}
}

func (d *dialogue) close() { _ = d.conn.Close(websocket.StatusNormalClosure, "") }
