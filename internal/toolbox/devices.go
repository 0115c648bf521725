package toolbox

import (
	"context"
	"slices"
	"strings"
	"sync"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

type deviceIn struct {
	Area   string `json:"area,omitempty" jsonschema:"Only in this area: id, name or alias"`
	Floor  string `json:"floor,omitempty" jsonschema:"Only on this floor: id, name or alias"`
	Label  string `json:"label,omitempty" jsonschema:"Only with this label: id or name"`
	Name   string `json:"name,omitempty" jsonschema:"Only with this text in name, maker or model"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many devices at most" default:"50" min:"1" max:"200"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type deviceRow struct {
	ID           string   `json:"device_id" jsonschema:"device id"`
	Name         string   `json:"name" jsonschema:"the person's name for it, else the integration's"`
	Manufacturer string   `json:"manufacturer,omitempty" jsonschema:"maker"`
	Model        string   `json:"model,omitempty" jsonschema:"model"`
	Area         string   `json:"area,omitempty" jsonschema:"name of its area, or its parent's"`
	AreaID       string   `json:"area_id,omitempty" jsonschema:"id of that area"`
	Parent       string   `json:"parent_device_id,omitempty" jsonschema:"the device it is part of"`
	Via          string   `json:"via_device_id,omitempty" jsonschema:"the hub it is reached through"`
	Labels       []string `json:"labels,omitempty" jsonschema:"names of its labels"`
	Entities     int      `json:"entities" jsonschema:"its entities, within your sight"`
}

type deviceOut struct {
	Total     int         `json:"total" jsonschema:"devices that fit"`
	Items     []deviceRow `json:"items" jsonschema:"this page, in order of device id"`
	Truncated bool        `json:"truncated,omitempty" jsonschema:"true when there is more: go on with next"`
	Next      string      `json:"next,omitempty" jsonschema:"cursor of the next page"`
	Stale     string      `json:"stale,omitempty" jsonschema:"how old this is, when there is no live link"`

	at cursor
}

// Len and Cut let the door shorten the answer.
func (o deviceOut) Len() int { return len(o.Items) }

// Cut ends the page earlier.
func (o deviceOut) Cut(keep int) (any, bool) {
	if keep < 1 || keep > len(o.Items) {
		return o, false
	}
	o.Items = o.Items[:keep]
	o.at.Key = o.Items[keep-1].ID
	o.Truncated, o.Next = true, o.at.String()
	return o, true
}

func (b *Box) deviceList(ctx context.Context, c tool.Caller, in deviceIn) (deviceOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return deviceOut{}, err
	}
	f, err := v.filter(narrow{Area: in.Area, Floor: in.Floor, Label: in.Label})
	if err != nil {
		return deviceOut{}, err
	}
	part := fold(in.Name)
	hash := filterHash("device_list", []any{f, part})
	from, err := parseCursor(in.Cursor, hash)
	if err != nil {
		return deviceOut{}, err
	}
	out := deviceOut{Items: []deviceRow{}, Stale: v.stale(), at: cursor{Filter: hash, Seq: v.Seq()}}
	for _, d := range v.devices() {
		if !v.deviceFits(d, f, part) {
			continue
		}
		out.Total++
		switch {
		case string(d.ID) <= from.Key:
		case len(out.Items) < in.Limit:
			out.Items = append(out.Items, v.deviceRow(d))
		default:
			out.Truncated = true
		}
	}
	if out.Truncated {
		out.at.Key = out.Items[in.Limit-1].ID
		out.Next = out.at.String()
	}
	return out, nil
}

func (v sight) deviceFits(d *home.Device, f mirror.Filter, part string) bool {
	area := v.DeviceArea(d.ID)
	if f.Area != "" && area != f.Area || f.Label != "" && !slices.Contains(d.Labels, f.Label) {
		return false
	}
	if f.Floor != "" {
		if a := v.Area(area); a == nil || a.Floor != f.Floor {
			return false
		}
	}
	return part == "" || strings.Contains(fold(d.DisplayName()+" "+d.Manufacturer+" "+d.Model), part)
}

// deviceCache keeps the devices of the newest registries that were asked for:
// which of many thousands a caller may see takes longer than all the rest.
type deviceCache struct {
	mu       sync.Mutex
	registry uint64
	sc       home.Scope
	list     []*home.Device
}

// devices are those within sight that are not disabled, in order of their ids.
func (v sight) devices() []*home.Device {
	c := &v.b.devices
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list != nil && c.registry == v.Registry() && c.sc == v.sc {
		return c.list
	}
	all := v.Devices()
	list := make([]*home.Device, 0, len(all))
	for i := range all {
		if d := &all[i]; d.DisabledBy == "" && v.deviceSeen(d.ID) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *home.Device) int { return strings.Compare(string(a.ID), string(b.ID)) })
	c.registry, c.sc, c.list = v.Registry(), v.sc, list
	return list
}

// deviceSeen reports whether a device is within sight: it is unless it has
// entities and all of them are hidden.
func (v sight) deviceSeen(id home.DeviceID) bool {
	f := mirror.Filter{Device: id}
	for range v.Entities(v.sc, f) {
		return true
	}
	for range v.Entities(home.Everything(), f) {
		return false
	}
	return true
}

func (v sight) deviceRow(d *home.Device) deviceRow {
	area := v.DeviceArea(d.ID)
	r := deviceRow{
		ID: string(d.ID), Name: name(d.DisplayName()), Manufacturer: name(d.Manufacturer), Model: name(d.Model),
		Area: v.areaName(area), AreaID: string(area), Parent: string(d.Parent), Via: string(d.Via), Labels: v.labels(d.Labels),
	}
	for _, s := range v.Entities(v.sc, mirror.Filter{Device: d.ID}) {
		if s != nil {
			r.Entities++
		}
	}
	return r
}
