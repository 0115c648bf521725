package hass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

// entityBatch is how many rows of the entity registry are asked for at once: about 0.8 MB.
const entityBatch = 1000

// batchesAhead is how many such requests are under way at once.
const batchesAhead = 3

// identify asks for coalesced messages and learns who we are.
func (k *keeper) identify(ctx context.Context) error {
	// An older Home Assistant does not know the command; it then sends one message a frame.
	if _, err := k.s.do(ctx, "supported_features", map[string]any{"features": map[string]int{"coalesce_messages": 1}}); err != nil && k.s.over() != nil {
		return err
	}
	begin := time.Now()
	raw, err := k.s.do(ctx, "auth/current_user", nil)
	if err != nil {
		return err
	}
	k.s.c.latency.Store(int64(time.Since(begin)))
	var me struct {
		userRow
		Admin bool `json:"is_admin"`
	}
	if err := decode("auth/current_user", raw, &me); err != nil {
		return err
	}
	k.me = me.userRow
	k.s.c.identified(me.ID, me.Admin)
	return nil
}

// subscribe opens the events, before anything is read. Those that only an
// administrator gets are left out where they are refused.
func (k *keeper) subscribe(ctx context.Context) error {
	events := openEvents()
	open := len(events)
	if admin, _ := k.s.c.Admin(); admin {
		events = append(events, adminEvents()...)
	}
	var sent []*command
	for _, e := range events {
		c, err := k.s.start(ctx, "subscribe_events", map[string]any{"event_type": e}, &subscription{event: e})
		if err != nil {
			return k.s.lost("subscribe_events", err)
		}
		sent = append(sent, c)
	}
	for i, c := range sent {
		_, err := k.s.result(ctx, c)
		switch {
		case err == nil:
		case k.s.over() != nil || home.CodeOf(err) == home.Timeout:
			return err
		case i < open:
			k.s.c.log.Warn("Home Assistant refuses an event; its list is read every ten minutes only", home.KeyEvent, events[i], home.KeyError, err)
		default:
			k.s.c.log.Warn("Home Assistant refuses an event the journal wants", home.KeyEvent, events[i], home.KeyError, err)
		}
	}
	return nil
}

// snapshot reads the whole house and reports it. up says that the link starts
// with it.
func (k *keeper) snapshot(ctx context.Context, up bool) error {
	f := &k.s.flow
	f.hold()
	k.forget()
	begin := time.Now()
	r := home.Registries{}
	var info infoRow
	var catalogue map[string]map[string]serviceRow
	if err := k.lists(ctx, &r, &info, &catalogue); err != nil {
		return err
	}
	rows, err := k.allEntities(ctx)
	if err != nil {
		return err
	}
	r.Entities = rows
	k.learnPersons(rows)
	if r.Users, err = k.users(ctx); err != nil {
		return err
	}
	patches, at, err := k.states(ctx)
	if err != nil {
		return err
	}
	i := info.info()
	k.state = i.State
	first := []home.Report{
		{Kind: home.ReportSnapshot, At: at, Registries: &r, Patches: patches, Info: &i, Services: services(catalogue)},
	}
	if up {
		k.s.c.live(i, len(patches), len(rows), time.Since(begin))
		first = append([]home.Report{{Kind: home.ReportLink, At: at, Up: true}}, first...)
	}
	f.release(first...)
	return nil
}

// forget drops what is marked: the snapshot reads everything. What is marked
// from now on is newer than what the snapshot reads, or read twice.
func (k *keeper) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dirty = [lists]bool{}
	k.want = false
}

// lists reads the short lists in one go.
func (k *keeper) lists(ctx context.Context, r *home.Registries, info *infoRow, catalogue *map[string]map[string]serviceRow) error {
	var ds []deviceRow
	var as []areaRow
	var fs []floorRow
	var ls []labelRow
	var splits map[home.DeviceID]splitRow
	wants := []struct {
		kind     string
		into     any
		optional bool
	}{
		{"get_config", info, false},
		{"config/floor_registry/list", &fs, true},
		{"config/label_registry/list", &ls, true},
		{"config/area_registry/list", &as, false},
		{"config/device_registry/list", &ds, false},
		{"config/device_registry/list_composite_splits", &splits, true},
		{"get_services", catalogue, false},
	}
	sent := make([]*command, len(wants))
	for i, w := range wants {
		c, err := k.s.start(ctx, w.kind, nil, nil)
		if err != nil {
			return k.s.lost(w.kind, err)
		}
		sent[i] = c
	}
	for i, w := range wants {
		if err := k.into(ctx, sent[i], w.into, w.optional); err != nil {
			return err
		}
	}
	r.Devices, r.Areas, r.Floors, r.Labels, r.Composites = devices(ds), areas(as), floors(fs), labels(ls), composites(splits)
	return nil
}

// into waits for a command and decodes its result. An optional one that Home
// Assistant does not know or does not allow leaves out as it is.
func (k *keeper) into(ctx context.Context, c *command, out any, optional bool) error {
	raw, err := k.s.result(ctx, c)
	var f *Failure
	if optional && errors.As(err, &f) && (f.Code == "unknown_command" || f.Code == "unauthorized") {
		return nil
	}
	if err != nil {
		return err
	}
	return decode(c.kind, raw, out)
}

func (k *keeper) ask(ctx context.Context, kind string, out any, optional bool) error {
	c, err := k.s.start(ctx, kind, nil, nil)
	if err != nil {
		return k.s.lost(kind, err)
	}
	return k.into(ctx, c, out, optional)
}

// decode reads a result, and names the command when it is not what it should be.
func decode(kind string, raw []byte, out any) error {
	if err := json.Unmarshal(raw, out); err != nil {
		return home.Wrap(home.Internal, err, "read Home Assistant's answer to "+kind)
	}
	return nil
}

// allEntities reads the entity registry with everything a row has. The plain
// list has neither aliases nor device classes, so it only gives the ids.
func (k *keeper) allEntities(ctx context.Context) ([]home.Entity, error) {
	ids, err := listed(ctx, k, entityIDs)
	if err != nil {
		return nil, err
	}
	rows, _, err := k.entries(ctx, ids)
	var f *Failure
	if errors.As(err, &f) && f.Code == "unknown_command" { // an older Home Assistant: rows without aliases
		return listed(ctx, k, entityList)
	}
	return rows, err
}

// listed reads the plain list of the entity registry with read.
func listed[T any](ctx context.Context, k *keeper, read func([]byte) ([]T, bool)) ([]T, error) {
	const kind = "config/entity_registry/list"
	raw, err := k.s.do(ctx, kind, nil)
	if err != nil {
		return nil, err
	}
	out, ok := read(raw)
	if !ok {
		return nil, home.Errorf(home.Internal, "Home Assistant's answer to %s is not a list of entities", kind)
	}
	return out, nil
}

// entries reads rows by id, some batches ahead.
func (k *keeper) entries(ctx context.Context, ids []home.EntityID) (rows []home.Entity, gone []home.EntityID, err error) {
	const kind = "config/entity_registry/get_entries"
	rows = make([]home.Entity, 0, len(ids))
	var sent []*command
	for len(ids) > 0 || len(sent) > 0 {
		for len(ids) > 0 && len(sent) < batchesAhead {
			n := min(entityBatch, len(ids))
			c, err := k.s.start(ctx, kind, map[string]any{"entity_ids": ids[:n]}, nil)
			if err != nil {
				return nil, nil, k.s.lost(kind, err)
			}
			sent, ids = append(sent, c), ids[n:]
		}
		raw, err := k.s.result(ctx, sent[0])
		if err != nil {
			return nil, nil, err
		}
		sent = sent[1:]
		some, none, ok := entityEntries(raw)
		if !ok {
			return nil, nil, home.Errorf(home.Internal, "Home Assistant's answer to %s cannot be read", kind)
		}
		rows, gone = append(rows, some...), append(gone, none...)
	}
	return rows, gone, nil
}

// states gives up the old subscription of the states, if any, and opens a new
// one; its first event is the full state.
func (k *keeper) states(ctx context.Context) ([]home.Patch, time.Time, error) {
	const kind = "subscribe_entities"
	if old := k.s.flow.live; old != 0 {
		if _, err := k.s.do(ctx, "unsubscribe_events", map[string]any{"subscription": old}); err != nil {
			return nil, time.Time{}, err
		}
		k.s.unsubscribe(old)
	}
	c, full, err := k.s.startStates(ctx)
	if err != nil {
		return nil, time.Time{}, k.s.lost(kind, err)
	}
	if _, err := k.s.result(ctx, c); err != nil {
		return nil, time.Time{}, err
	}
	k.s.flow.live = c.id
	limit := time.NewTimer(commandTime)
	defer limit.Stop()
	select {
	case patches := <-full:
		return patches, time.Now(), nil
	case <-limit.C:
		return nil, time.Time{}, home.Errorf(home.Timeout, "Home Assistant did not send its states within %s", commandTime)
	case <-ctx.Done():
		return nil, time.Time{}, k.s.lost(kind, context.Cause(ctx))
	}
}

// entities reads the rows that events named, and reports them with what was
// removed and renamed.
func (k *keeper) entities(ctx context.Context) error {
	k.mu.Lock()
	ids := make([]home.EntityID, 0, len(k.touched))
	for id := range k.touched {
		ids = append(ids, id)
	}
	renamed := k.renamed
	k.touched, k.renamed, k.urgent = map[home.EntityID]bool{}, map[home.EntityID]home.EntityID{}, false
	k.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	rows, gone, err := k.entries(ctx, ids)
	if err != nil {
		k.mu.Lock()
		for _, id := range ids {
			k.touched[id] = true
		}
		for old, id := range renamed {
			if _, newer := k.renamed[old]; !newer {
				k.renamed[old] = id
			}
		}
		k.mu.Unlock()
		return err
	}
	if len(renamed) == 0 {
		renamed = nil
	}
	k.learnPersons(rows)
	k.s.flow.emit(home.Report{
		Kind: home.ReportEntities, At: time.Now(), RemovedEntities: gone, Renamed: renamed,
		Registries: &home.Registries{Entities: rows},
	})
	return nil
}

// learnPersons remembers which entity stands for which person.
func (k *keeper) learnPersons(rows []home.Entity) {
	for i := range rows {
		if rows[i].Platform == "person" {
			k.persons[rows[i].UniqueID] = rows[i].ID
		}
	}
}

// users reads accounts and persons.
func (k *keeper) users(ctx context.Context) ([]home.User, error) {
	accounts := []userRow{k.me} // all that a token which is no administrator's may know
	if admin, _ := k.s.c.Admin(); admin {
		var all []userRow
		if err := k.ask(ctx, "config/auth/list", &all, true); err != nil {
			return nil, err
		}
		if all != nil {
			accounts = all
		}
	}
	var persons personRows
	if err := k.ask(ctx, "person/list", &persons, true); err != nil {
		return nil, err
	}
	return users(accounts, persons, func(person string) home.EntityID {
		if id, ok := k.persons[person]; ok {
			return id
		}
		return home.EntityID("person." + person)
	}), nil
}

// reread reads one list again and reports it.
func (k *keeper) reread(ctx context.Context, l list) error {
	r := home.Report{Kind: home.ReportRegistry, Registries: &home.Registries{}}
	var err error
	switch l {
	case listDevices:
		err = k.rereadDevices(ctx, r.Registries)
	case listAreas:
		rows := []areaRow{}
		err = k.ask(ctx, "config/area_registry/list", &rows, false)
		r.Registries.Areas = areas(rows)
	case listFloors:
		rows := []floorRow{}
		err = k.ask(ctx, "config/floor_registry/list", &rows, true)
		r.Registries.Floors = floors(rows)
	case listLabels:
		rows := []labelRow{}
		err = k.ask(ctx, "config/label_registry/list", &rows, true)
		r.Registries.Labels = labels(rows)
	case listUsers:
		r.Registries.Users, err = k.users(ctx)
	case listEntities:
		r.Registries.Entities, err = k.allEntities(ctx)
		k.learnPersons(r.Registries.Entities)
	case listServices:
		var rows map[string]map[string]serviceRow
		err = k.ask(ctx, "get_services", &rows, false)
		r = home.Report{Kind: home.ReportServices, Services: services(rows)}
	case listInfo:
		var row infoRow
		err = k.ask(ctx, "get_config", &row, false)
		i := row.info()
		r = home.Report{Kind: home.ReportInfo, Info: &i}
	default:
		err = fmt.Errorf("no list %d", l)
	}
	if err != nil {
		return err
	}
	if r.Info != nil {
		k.state = r.Info.State
	}
	r.At = time.Now()
	k.s.flow.emit(r)
	return nil
}

func (k *keeper) rereadDevices(ctx context.Context, r *home.Registries) error {
	rows := []deviceRow{}
	if err := k.ask(ctx, "config/device_registry/list", &rows, false); err != nil {
		return err
	}
	var splits map[home.DeviceID]splitRow
	if err := k.ask(ctx, "config/device_registry/list_composite_splits", &splits, true); err != nil {
		return err
	}
	r.Devices, r.Composites = devices(rows), composites(splits)
	return nil
}

// missing says what a token without administrator's rights cannot give.
func missing() string {
	return "missing: the events of service calls, automations and scripts (the journal sees only their effects), " +
		"the bodies of automations, scripts and scenes, templates over REST, and the list of users"
}

// identified notes who we are and whether that is enough.
func (c *Client) identified(user string, admin bool) {
	c.mu.Lock()
	c.user, c.admin, c.known = user, admin, true
	c.mu.Unlock()
	if admin {
		c.health.Clear(health.HassNotAdmin)
		return
	}
	c.health.Light(health.HassNotAdmin, missing())
	c.log.Warn("the token is not an administrator's", home.KeyMissing, missing())
}
