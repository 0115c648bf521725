package simhome

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// registries are the five lists, with an index of the two long ones.
type registries struct {
	entities   []*entityRow
	byEntity   map[string]*entityRow
	devices    []*deviceRow
	byDevice   map[string]*deviceRow
	composites map[string][]string
	areas      []*areaRow
	floors     []*floorRow
	labels     []*labelRow
	scenes     map[string]*sceneBody // by entity id
}

func (r *registries) device(id string) *deviceRow { return r.byDevice[id] }

func (r *registries) area(id string) *areaRow {
	return find(r.areas, func(a *areaRow) bool { return a.ID == id })
}

func (r *registries) floor(id string) *floorRow {
	return find(r.floors, func(f *floorRow) bool { return f.ID == id })
}

func (r *registries) label(id string) *labelRow {
	return find(r.labels, func(l *labelRow) bool { return l.ID == id })
}

func find[T any](s []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(s, fits); i >= 0 {
		return s[i]
	}
	return nil
}

// deviceArea is the device's own area, else its parent's.
func (r *registries) deviceArea(d *deviceRow) string {
	if a := deref(d.AreaID); a != "" {
		return a
	}
	if p := r.device(deref(d.ParentDeviceID)); p != nil {
		return deref(p.AreaID)
	}
	return ""
}

func (r *registries) addEntity(e *entityRow) {
	r.entities = append(r.entities, e)
	r.byEntity[e.EntityID] = e
}

func (r *registries) addDevice(d *deviceRow) {
	r.devices = append(r.devices, d)
	r.byDevice[d.ID] = d
}

// slug makes an id of a name as Home Assistant does: "Büro" → "buro", "Kids' Room" → "kids_room".
func slug(name string) string {
	var b strings.Builder
	gap := false
	for _, c := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(c)
		case unicode.Is(unicode.Mn, c) || c == '\'':
		default:
			gap = true
		}
	}
	if b.Len() == 0 {
		return "unknown"
	}
	return b.String()
}

// squash is how names are compared: no case, no spaces.
func squash(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "") }

// free is a slug of name no row has yet.
func free(name string, taken func(string) bool) string {
	id := slug(name)
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s_%d", slug(name), n)
	}
	return id
}

// set puts a field of a request into a nullable or plain field of a row.
func setField[T any](r request, key string, into *T) bool {
	raw, ok := r.fields[key]
	if !ok {
		return false
	}
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	*into = v
	return true
}

func entityList(c *conn, r request) {
	rows := make([]listedEntity, 0, len(c.h.reg.entities))
	for _, e := range c.h.reg.entities {
		rows = append(rows, e.listedEntity)
	}
	c.result(r.id, rows)
}

var errNoEntity = fault{code: "not_found", message: "Entity not found"}

func entityGet(c *conn, r request) {
	e := c.h.reg.byEntity[r.text("entity_id")]
	if e == nil {
		c.fail(r.id, &errNoEntity)
		return
	}
	c.result(r.id, e)
}

func entityEntries(c *conn, r request) {
	var ids list
	r.decode("entity_ids", &ids)
	rows := map[string]*entityRow{}
	for _, id := range ids {
		rows[id] = c.h.reg.byEntity[id]
	}
	c.result(r.id, rows)
}

func entityUpdate(c *conn, r request) {
	h := c.h
	e := h.reg.byEntity[r.text("entity_id")]
	if e == nil {
		c.fail(r.id, &errNoEntity)
		return
	}
	if _, ok := r.fields["area_id"]; ok && e.DeviceID != nil && e.Name == nil && e.OriginalName == nil && r.fields["name"] == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: "An entity without a name of its own cannot have an area of its own, set the area on its device instead"})
		return
	}
	old := *e
	h.applyEntity(e, r)
	changes := rowChanges(&old, e)
	e.place()
	if len(changes) > 0 {
		e.ModifiedAt = unix(h.now())
		if l, ok := changes["aliases"].([]any); ok { // the computed name shows as 0 here
			for i := range l {
				if l[i] == nil {
					l[i] = 0
				}
			}
		}
		data := map[string]any{"action": "update", "entity_id": e.EntityID, "changes": changes}
		if old.EntityID != e.EntityID {
			data["old_entity_id"] = old.EntityID
			delete(h.reg.byEntity, old.EntityID)
			h.reg.byEntity[e.EntityID] = e
		}
		h.fireJSON("entity_registry_updated", h.newCause("", ""), data)
		h.followRow(&old, e)
	}
	c.result(r.id, map[string]any{"entity_entry": e})
}

func (h *House) applyEntity(e *entityRow, r request) {
	setField(r, "area_id", &e.AreaID)
	setField(r, "device_class", &e.DeviceClass)
	setField(r, "disabled_by", &e.DisabledBy)
	setField(r, "hidden_by", &e.HiddenBy)
	setField(r, "icon", &e.Icon)
	setField(r, "name", &e.Name)
	setField(r, "new_entity_id", &e.EntityID)
	setField(r, "aliases", &e.Aliases)
	if setField(r, "labels", &e.Labels) {
		e.Labels = slices.DeleteFunc(e.Labels, func(l string) bool { return h.reg.label(l) == nil })
	}
	if domain := r.text("options_domain"); domain != "" {
		options := map[string]any{}
		for k, v := range e.Options {
			options[k] = v
		}
		var v any
		if r.decode("options", &v); v == nil {
			delete(options, domain)
		} else {
			options[domain] = v
		}
		e.Options = options
	}
}

// followRow makes states follow a row: a new id moves the state, a new name shows.
func (h *House) followRow(old, e *entityRow) {
	s := h.states[old.EntityID]
	if s == nil {
		return
	}
	attrs := s.attrs
	if name := h.friendlyName(e); name != "" {
		attrs = merged(attrs, map[string]any{"friendly_name": name})
	}
	if old.EntityID != e.EntityID {
		h.unwrite(old.EntityID, h.newCause("", ""))
	}
	if e.DisabledBy != nil {
		h.unwrite(e.EntityID, h.newCause("", ""))
		return
	}
	h.write(e.EntityID, s.value, attrs, h.newCause("", ""))
}

// place says what the frontend puts before the name: the area, else the device.
func (e *entityRow) place() {
	e.NextNamePart = nil
	switch {
	case e.AreaID != nil:
		e.NextNamePart = ptr("area")
	case e.DeviceID != nil:
		e.NextNamePart = ptr("device")
	}
}

// friendlyName is the name a state shows for a row.
func (h *House) friendlyName(e *entityRow) string {
	own := deref(e.Name)
	if own == "" {
		own = deref(e.OriginalName)
	}
	d := h.reg.device(deref(e.DeviceID))
	if d == nil {
		return own
	}
	device := deref(d.NameByUser)
	if device == "" {
		device = deref(d.Name)
	}
	if own == "" {
		return device
	}
	return device + " " + own
}
