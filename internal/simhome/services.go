package simhome

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// service is one callable service: its description and what it does, either
// to each entity of its own domain or to the whole house.
type service struct {
	domain, name string
	about        map[string]any // as get_services shows it
	known        map[string]bool
	required     []string
	feature      int // an entity must support one of these bits; 0: none needed
	each         func(*call, string) *fault
	whole        func(*call) *fault
}

// call is one service call on its way.
type call struct {
	h        *House
	svc      *service
	data     map[string]any
	ids      []string // the entities it is about
	ctx      cause
	respond  bool
	response map[string]any
	pending  int
	done     func(response map[string]any, err *fault)
	err      *fault
}

// Services are the services the house knows, as domain.name, sorted.
func Services() []string {
	h := New(Options{Plain: true})
	return slices.Sorted(maps.Keys(h.catalog))
}

// loadServices joins the descriptions with what the services do.
func (h *House) loadServices() {
	h.catalog = map[string]*service{}
	deeds := deeds()
	for _, row := range load[[]map[string]any]("services.json") {
		s := &service{domain: row["domain"].(string), name: row["service"].(string), about: row}
		delete(row, "domain")
		delete(row, "service")
		d, ok := deeds[s.domain+"."+s.name]
		if !ok && s.domain != "script" {
			panic("simhome: no deed for " + s.domain + "." + s.name)
		}
		s.each, s.whole, s.feature = d.each, d.whole, d.feature
		s.known = map[string]bool{"entity_id": true, "device_id": true, "area_id": true, "floor_id": true, "label_id": true}
		s.learn(row["fields"].(map[string]any))
		for k := range strings.FieldsSeq(d.also) {
			s.known[k] = true
		}
		h.addService(s)
	}
	for id, m := range h.runs {
		if m.domain == "script" {
			h.addScript(id, m)
		}
	}
}

func (h *House) addService(s *service) { h.catalog[s.domain+"."+s.name] = s }

// addScript makes a script callable by its own name.
func (h *House) addScript(id string, m *machine) {
	_, name, _ := strings.Cut(id, ".")
	h.addService(&service{domain: "script", name: name,
		about: map[string]any{"name": m.alias, "description": "", "fields": map[string]any{}, "response": map[string]bool{"optional": true}},
		whole: func(c *call) *fault { return c.runScript(id) }})
}

// learn takes the known and required keys from the description.
func (s *service) learn(fields map[string]any) {
	for name, v := range fields {
		f, _ := v.(map[string]any)
		if inner, ok := f["fields"].(map[string]any); ok {
			s.learn(inner)
			continue
		}
		s.known[name] = true
		if f["required"] == true {
			s.required = append(s.required, name)
		}
	}
	slices.Sort(s.required)
}

func (h *House) serviceTable() map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, s := range h.catalog {
		if all[s.domain] == nil {
			all[s.domain] = map[string]any{}
		}
		all[s.domain][s.name] = s.about
	}
	return all
}

// callService is the WebSocket command.
func callService(c *conn, r request) {
	h := c.h
	domain, name := r.text("domain"), r.text("service")
	data := map[string]any{}
	r.decode("service_data", &data)
	var at map[string]any
	r.decode("target", &at)
	respond := false
	r.decode("return_response", &respond)
	h.calls[domain+"."+name]++
	if f := checkTarget(at); f != nil {
		c.fail(r.id, f)
		return
	}
	cut, mute := h.faults.cutOnCall, h.faults.noAnswer
	ctx := h.newCause("", c.user.ID)
	h.call(ask{domain, name, data, at, ctx, respond}, func(response map[string]any, err *fault) {
		switch {
		case mute || cut:
		case err != nil:
			c.fail(r.id, err)
		case respond:
			c.result(r.id, map[string]any{"context": ctx, "response": response})
		default:
			c.result(r.id, map[string]any{"context": ctx})
		}
	})
	if cut {
		c.end(errCut)
	}
}

// checkTarget refuses entity ids that cannot be any.
func checkTarget(at map[string]any) *fault {
	for key := range at {
		if !strings.Contains(" entity_id device_id area_id floor_id label_id exclude ", " "+key+" ") {
			return &fault{code: "invalid_format", message: "not a valid option at 'target." + key + "'"}
		}
	}
	for _, id := range texts(at["entity_id"]) {
		if id != "all" && id != "none" && !validID(id) {
			return &fault{code: "invalid_format", message: "expected 'all' or 'none' at 'target.entity_id'. Got '" + id + "'"}
		}
	}
	return nil
}

func validID(id string) bool {
	d, o, ok := strings.Cut(id, ".")
	fine := func(s string) bool {
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && s[0] != '_'
	}
	return ok && fine(d) && fine(o)
}

// ask is a service call as somebody words it.
type ask struct {
	domain, name string
	data, target map[string]any
	ctx          cause
	respond      bool
}

// call runs a service; done hears the end, which may be later.
func (h *House) call(a ask, done func(map[string]any, *fault)) {
	if done == nil {
		done = func(map[string]any, *fault) {}
	}
	s := h.catalog[a.domain+"."+a.name]
	if s == nil {
		done(nil, &fault{code: "not_found", message: "Service " + a.domain + "." + a.name + " not found.",
			key: "service_not_found", domain: "homeassistant", with: map[string]any{"domain": a.domain, "service": a.name}})
		return
	}
	if f := s.checkResponse(a.respond); f != nil {
		done(nil, f)
		return
	}
	data := maps.Clone(a.data)
	if data == nil {
		data = map[string]any{}
	}
	for k, v := range a.target {
		if one, ok := v.(string); ok && one != "all" && one != "none" {
			v = anys(texts(one))
		}
		data[k] = v
	}
	if f := s.checkData(data); f != nil {
		done(nil, f)
		return
	}
	told, f := s.read(data)
	if f != nil {
		done(nil, f)
		return
	}
	h.now()
	h.past.note(event{kind: "call_service", at: h.last, ctx: a.ctx, domain: a.domain, name: a.name})
	h.fireJSON("call_service", a.ctx, map[string]any{"domain": a.domain, "service": a.name, "service_data": data})
	c := &call{h: h, svc: s, data: told, ctx: a.ctx, respond: a.respond, done: done, pending: 1, response: map[string]any{}}
	if f := c.run(); f != nil {
		c.err = f
	}
	c.finish()
}

func (s *service) checkResponse(wanted bool) *fault {
	response, ok := s.about["response"].(map[string]any)
	if b, isBool := s.about["response"].(map[string]bool); isBool {
		response, ok = map[string]any{"optional": b["optional"]}, true
	}
	refuse := func(key, text string) *fault {
		return &fault{code: "service_validation_error", message: "Validation error: " + text, key: key, domain: "homeassistant",
			with: map[string]any{"return_response": "return_response=True"}}
	}
	switch {
	case wanted && !ok:
		return refuse("service_does_not_support_response", "An action which does not return responses can't be called with return_response=True")
	case !wanted && ok && response["optional"] == false:
		return refuse("service_lacks_response_request", "The action requires responses and must be called with return_response=True")
	}
	return nil
}

// checkData refuses unknown and missing keys, and an entity service without a target.
func (s *service) checkData(data map[string]any) *fault {
	if s.known == nil { // a script takes anything
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(data)) {
		if !s.known[k] {
			return &fault{code: "invalid_format", message: "not a valid option at '" + k + "'"}
		}
	}
	for _, k := range s.required {
		if _, ok := data[k]; !ok {
			return &fault{code: "invalid_format", message: "required key not provided at '" + k + "'"}
		}
	}
	if s.each != nil {
		for _, k := range []string{"entity_id", "device_id", "area_id", "floor_id", "label_id"} {
			if _, ok := data[k]; ok {
				return nil
			}
		}
		return &fault{code: "invalid_format", message: "at least one of ['entity_id', 'device_id', 'area_id', 'floor_id', 'label_id'] is required"}
	}
	return nil
}

// run does the deed; what takes longer holds the call.
func (c *call) run() *fault {
	if c.svc.whole != nil {
		return c.svc.whole(c)
	}
	named := c.resolve()
	for _, id := range c.ids {
		if c.svc.feature != 0 && c.h.features(id)&c.svc.feature == 0 {
			if !named[id] {
				continue
			}
			name := c.svc.domain + "." + c.svc.name
			return &fault{code: "service_validation_error", message: "Validation error: Entity " + id + " does not support action " + name,
				key: "service_not_supported", domain: "homeassistant",
				with: map[string]any{"domain": c.svc.domain, "service": c.svc.name, "entity_id": id}}
		}
		if f := c.svc.each(c, id); f != nil {
			return f
		}
	}
	return nil
}

// resolve finds the entities of the service's domain the call is about; named are those said directly.
func (c *call) resolve() (named set) {
	h := c.h
	all := texts(c.data["entity_id"])
	if len(all) == 1 && all[0] == "all" {
		for _, id := range h.order {
			if domainOf(id) == c.svc.domain {
				c.ids = append(c.ids, id)
			}
		}
		return set{}
	}
	x := h.extract(targetOf(c.data), true, true)
	for _, id := range h.order {
		if domainOf(id) == c.svc.domain && (x.direct[id] || x.indirect[id]) && h.states[id].value != "unavailable" {
			c.ids = append(c.ids, id)
		}
	}
	return x.direct
}

func targetOf(data map[string]any) target {
	return target{texts(data["entity_id"]), texts(data["device_id"]), texts(data["area_id"]), texts(data["floor_id"]), texts(data["label_id"])}
}

// finish ends one part of the call; the last one tells done.
func (c *call) finish() {
	c.pending--
	if c.pending == 0 {
		c.done(c.response, c.err)
	}
}

// show gives the entity the call's context and new looks.
func (c *call) show(id, value string, attrs map[string]any) *fault {
	c.h.hold(id, c.ctx)
	c.h.show(id, value, merged(c.h.attrs(id), attrs))
	return nil
}

// num is a number of the call's data.
func (c *call) num(key string) (float64, bool) { return number(c.data[key]) }

// text is a string of the call's data.
func (c *call) text(key string) string {
	s, _ := c.data[key].(string)
	return s
}

func (h *House) features(id string) int {
	n, _ := number(h.attrs(id)["supported_features"])
	return int(n)
}

// value is what an entity shows, "" without a state.
func (h *House) value(id string) string {
	if s := h.states[id]; s != nil {
		return s.value
	}
	return ""
}

// texts is a value as a list of strings.
func texts(v any) list {
	switch x := v.(type) {
	case string:
		var l list
		json.Unmarshal(mustJSON(x), &l)
		return l
	case []any:
		var l list
		for _, e := range x {
			if s, ok := e.(string); ok {
				l = append(l, s)
			}
		}
		return l
	case []string:
		return x
	}
	return nil
}

func anys(l list) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}
