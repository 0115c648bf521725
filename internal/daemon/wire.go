package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"hearth/internal/guard"
	"hearth/internal/hands"
	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/mcpd"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/store"
	"hearth/internal/tool"
	"hearth/internal/toolbox"
)

// rooms are the rooms of one house, wired and not yet running.
type rooms struct {
	o        Options
	log      *slog.Logger
	health   *health.Registry
	db       *store.DB
	house    *mirror.House
	writer   *mirror.Writer // nobody else holds it
	client   *hass.Client
	journal  *journal.Journal
	index    *recall.Index
	tokens   *guard.Tokens
	registry *tool.Registry
	mcp      *mcpd.Server
	now      func() time.Time // nil means time.Now; tests set it
}

func (r *rooms) clock() time.Time {
	if r.now != nil {
		return r.now()
	}
	return time.Now()
}

// wire builds the house from the bottom up. Where an arrow would have to point
// up, the lower room owns a func type, and this is the only place that sets it.
func wire(ctx context.Context, o Options) (*rooms, error) {
	c, log := o.Config, o.Log
	r := &rooms{o: o, log: log, health: &health.Registry{}}
	var err error

	r.db, err = store.Open(ctx, store.Config{Path: dbPath(o.Dir), Every: c.Store.FlushEvery, Rows: c.Store.FlushRows}, room(log, "store"), r.health)
	if err != nil {
		return nil, err // it names the file and the remedy
	}
	defer func() {
		if err != nil {
			r.db.Close()
		}
	}()

	r.house, r.writer = mirror.New(mirror.Config{Site: home.Site(c.HA.Site), Save: c.Mirror.SaveEvery}, r.db, room(log, "mirror"), r.health)
	if lerr := r.writer.Load(ctx); lerr != nil {
		// The house itself will tell again what could not be loaded.
		log.Warn("the stored state could not be loaded", home.KeyError, lerr)
	}

	client, actor, err := hass.New(o.link(), room(log, "hass"), r.health)
	if err != nil {
		return nil, err
	}
	r.client = client
	r.house.SetFetch(r.fetch) // reads while the live map is down

	r.journal = journal.New(journal.Config{Rules: c.Journal.Rules, Alive: filepath.Join(o.Dir, "alive")}, r.db, r.house, room(log, "journal"), r.health)
	r.index = recall.New(r.house)

	box := &toolbox.Box{
		House: r.house, Hass: client, Journal: r.journal, Recall: r.index, Health: r.health, Version: o.Version, Started: r.clock(), Site: c.HA.Site,
	}
	r.registry = tool.NewRegistry(box.Tools()...)
	r.registry.Judge = guard.NewJudge(r.house)
	r.registry.Hands = tool.Hands(hands.New(actor, r.house, room(log, "hands"), hands.User(client.User))) // the one holder of the actor
	r.registry.Record = r.journal.Record
	r.registry.Log = room(log, "tool")

	r.tokens, err = guard.NewTokens(ctx, r.db, o.Dir, room(log, "guard"))
	if err != nil {
		return nil, fmt.Errorf("open the tokens: %w", err)
	}
	r.mcp = mcpd.New(mcpd.Parts{
		Config: mcpd.Config{
			Sessions: c.MCP.Sessions, Hosts: c.MCP.Hosts, Origins: c.MCP.Origins, CacheMembers: c.MCP.CacheMembers, Version: o.Version,
		},
		Registry: r.registry, Tokens: r.tokens, House: r.house, Log: room(log, "mcpd"), Health: r.health,
	})
	return r, nil
}

// fetch asks Home Assistant itself, unless it is known to be out of reach: a
// read would wait for the link then, though the stored answer is at hand.
func (r *rooms) fetch(ctx context.Context, ids []home.EntityID) ([]home.State, error) {
	if c, lit := r.health.Has(health.HassOffline); lit {
		return nil, home.Errorf(home.Offline, "%s", c.Text).WithHint("Hearth tries again by itself") // the text says what to do
	}
	return r.client.States(ctx, ids)
}

// sink is where the link reports: the mirror's one writer.
func (r *rooms) sink(rep home.Report) {
	if rep.Site == "" {
		rep.Site = home.Site(r.o.Config.HA.Site)
	}
	r.writer.Apply(rep)
}

func room(log *slog.Logger, name string) *slog.Logger { return log.With(home.KeyRoom, name) }

func dbPath(dir string) string { return filepath.Join(dir, "hearth.db") }
