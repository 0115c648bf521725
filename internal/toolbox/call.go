package toolbox

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/tool"
)

type callIn struct {
	Service  string          `json:"service" jsonschema:"domain.service, for example light.turn_on" min:"1" max:"120"`
	Domain   string          `json:"domain,omitempty" jsonschema:"Domain, when service is given without it"`
	Entities []string        `json:"entity_id,omitempty" jsonschema:"Entities: ids or unmistakable names" max:"200"`
	Devices  []string        `json:"device_id,omitempty" jsonschema:"Devices: ids or unmistakable names" max:"50"`
	Areas    []string        `json:"area_id,omitempty" jsonschema:"Areas: ids, names or aliases" max:"50"`
	Floors   []string        `json:"floor_id,omitempty" jsonschema:"Floors: ids, names or aliases" max:"50"`
	Labels   []string        `json:"label_id,omitempty" jsonschema:"Labels: ids or names" max:"50"`
	Data     json.RawMessage `json:"data,omitempty" jsonschema:"The service's own fields, for example brightness_pct" fold:"true"`
	DryRun   bool            `json:"dry_run,omitempty" jsonschema:"Show what would be sent and send nothing"`
	Wait     float64         `json:"wait,omitempty" jsonschema:"Seconds to wait for the house to show it" default:"2" min:"0" max:"8"`
	Response bool            `json:"return_response,omitempty" jsonschema:"Ask the service for its answer, where it has one"`
}

// request is a service call on its way to becoming steps.
type request struct {
	v      sight
	svc    *home.Service
	name   string // domain.service
	data   map[string]json.RawMessage
	target home.Target
	answer bool
	notes  []string
}

func (r *request) note(format ...string) { r.notes = append(r.notes, strings.Join(format, "")) }

func (b *Box) serviceCall(ctx context.Context, c tool.Caller, in callIn) (tool.Plan, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return tool.Plan{}, err
	}
	r := &request{v: v, answer: in.Response}
	if old := v.stale(); old != "" {
		r.note("stale: this is planned on what is known: ", old)
	}
	if err := r.begin(&in); err != nil {
		return tool.Plan{}, err
	}
	sent, err := r.entities(in)
	if err != nil {
		return tool.Plan{}, err
	}
	r.numerals()
	if err := r.fields(); err != nil {
		return tool.Plan{}, err
	}
	r.fitLights(sent)
	steps, err := r.steps(sent)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Steps: steps, Wait: time.Duration(in.Wait * float64(time.Second)), DryRun: in.DryRun, Notes: r.notes,
	}, nil
}

// begin finds the service and takes targets that were put into data out of it.
func (r *request) begin(in *callIn) error {
	name := strings.ToLower(strings.TrimSpace(in.Service))
	if d := strings.ToLower(strings.TrimSpace(in.Domain)); d != "" && !strings.HasPrefix(name, d+".") {
		if strings.Contains(name, ".") {
			return home.Errorf(home.Invalid, "service %s is not of domain %s", tool.Quote(name, 60), tool.Quote(d, 40)).WithHint("leave domain out")
		}
		name = d + "." + name
	}
	svc, err := r.v.service(name, r.domains(in.Entities))
	if err != nil {
		return err
	}
	r.svc, r.name = svc, name
	if r.data, err = object(in.Data); err != nil {
		return err
	}
	return r.unfold(in)
}

// domains are those of the entities that are meant, as far as they are clear.
func (r *request) domains(given []string) []string {
	var out []string
	for _, s := range given {
		if id, err := r.v.entity(s); err == nil && !slices.Contains(out, id.Domain()) {
			out = append(out, id.Domain())
		}
	}
	return out
}

// object reads free-form data; empty data is an empty object.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if len(raw) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, home.Errorf(home.Invalid, "data is not a JSON object").WithHint(`write it like {"brightness_pct":40}`)
	}
	return out, nil
}

// unfold moves targets that a model put into data, or into data.target, to
// where they belong. What is no text or list of texts is refused.
func (r *request) unfold(in *callIn) error {
	from := []map[string]json.RawMessage{r.data}
	if raw, ok := r.data["target"]; ok && !r.hasField("target") {
		t, err := object(raw)
		if err != nil {
			return home.Errorf(home.Invalid, "data.target is not an object").WithHint("give entity_id, device_id, area_id, floor_id and label_id beside data")
		}
		delete(r.data, "target")
		from = append(from, t)
	}
	for _, m := range from {
		for key, to := range map[string]*[]string{
			"entity_id": &in.Entities, "device_id": &in.Devices, "area_id": &in.Areas, "floor_id": &in.Floors, "label_id": &in.Labels,
		} {
			raw, ok := m[key]
			if !ok || key != "entity_id" && r.hasField(key) {
				continue
			}
			var list []string
			var single string
			if json.Unmarshal(raw, &single) == nil {
				list = []string{single}
			} else if json.Unmarshal(raw, &list) != nil {
				return home.Errorf(home.Invalid, "%s is neither a text nor a list of texts", key).WithHint("give it beside data, as a list of ids")
			}
			delete(m, key)
			*to = append(*to, list...)
		}
	}
	return nil
}

func (r *request) hasField(name string) bool {
	return slices.ContainsFunc(r.svc.Fields, func(f home.ServiceField) bool { return f.Name == name })
}

// entities resolves the target to what is sent: entity ids, groups as
// themselves, and of areas, floors, labels and devices only what the service
// acts on. Everything named must exist within sight.
func (r *request) entities(in callIn) ([]home.EntityID, error) {
	named, err := r.named(in.Entities)
	if err != nil {
		return nil, err
	}
	if err := r.places(in); err != nil {
		return nil, err
	}
	accepts := r.accepts()
	var sent []home.EntityID
	for _, id := range named {
		if accepts != nil && !r.acts(id, accepts) {
			return nil, r.wrongDomain(id, accepts)
		}
		sent = append(sent, id)
	}
	coarse := r.target
	if !coarse.Empty() {
		n := len(sent)
		for _, id := range r.v.Resolve(coarse, false).Entities {
			if _, s, ok := r.v.Entity(r.v.sc, id); ok && s != nil && (accepts == nil || r.acts(id, accepts)) && r.exists(id) {
				sent = append(sent, id)
			}
		}
		if len(sent) == n {
			return nil, home.Errorf(home.NotFound, "nothing there that %s acts on", r.name).WithHint("entity_list shows what an area, floor, label or device holds")
		}
	}
	if len(sent) == 0 && r.needsTarget(accepts) {
		return nil, home.Errorf(home.Invalid, "%s needs a target", r.name).WithHint("give entity_id, area_id, floor_id, label_id or device_id")
	}
	if len(sent) > 0 && len(r.svc.Target) == 0 && !r.hasField("entity_id") && r.svc.Domain != "homeassistant" && r.svc.Domain != "script" {
		return nil, home.Errorf(home.Invalid, "%s takes no target", r.name).WithHint("leave entity_id and the like out; service_list shows its fields")
	}
	slices.Sort(sent)
	return slices.Compact(sent), nil
}

// named finds the entities that are given one by one. Comma lists are taken
// apart; "all" becomes everything of the service's domain within sight.
func (r *request) named(given []string) ([]home.EntityID, error) {
	var out []home.EntityID
	for _, s := range given {
		parts := []string{s}
		if _, err := home.ParseEntityID(s); err != nil && strings.Contains(s, ",") && strings.Contains(s, ".") {
			parts = strings.Split(s, ",")
		}
		for _, p := range parts {
			switch strings.ToLower(strings.TrimSpace(p)) {
			case "none":
				continue
			case "all":
				all, err := r.all()
				if err != nil {
					return nil, err
				}
				out = append(out, all...)
				continue
			}
			id, err := r.v.entityFor(p, r.accepts())
			if err == nil {
				err = r.room(p, id)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, id)
		}
	}
	return out, nil
}

// room refuses a name of an entity that is also the name of an area in which
// the service would act on something else: "Living Room" may be the player or
// all that is there.
func (r *request) room(s string, id home.EntityID) error {
	if _, err := home.ParseEntityID(s); err == nil {
		return nil
	}
	areas := r.v.FindArea(s)
	if len(areas) == 0 {
		return nil
	}
	a, accepts := areas[0], r.accepts()
	for _, x := range r.v.Resolve(home.Target{Areas: []home.AreaID{a.ID}}, false).Entities {
		if _, state, ok := r.v.Entity(r.v.sc, x); x != id && ok && state != nil && (accepts == nil || r.acts(x, accepts)) && r.exists(x) {
			return home.Errorf(home.Ambiguous, "%s is called so and so is the area %s: %s", id, a.ID, tool.Quote(s, 60)).
				WithHint("give entity_id %q for the one, or area_id %q for all that is there", string(id), string(a.ID))
		}
	}
	return nil
}

// places resolves areas, floors, labels and devices.
func (r *request) places(in callIn) error {
	for _, s := range in.Areas {
		id, err := r.v.area(s)
		if err != nil {
			return err
		}
		r.target.Areas = append(r.target.Areas, id)
	}
	for _, s := range in.Floors {
		id, err := r.v.floor(s)
		if err != nil {
			return err
		}
		r.target.Floors = append(r.target.Floors, id)
	}
	for _, s := range in.Labels {
		id, err := r.v.label(s)
		if err != nil {
			return err
		}
		r.target.Labels = append(r.target.Labels, id)
	}
	for _, s := range in.Devices {
		id, err := r.v.device(s)
		if err != nil {
			return err
		}
		r.target.Devices = append(r.target.Devices, id)
	}
	return nil
}
