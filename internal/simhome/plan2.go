package simhome

// loadSecondPlan adds the floor plan the real test house does not have: names
// in several languages, twins, child and composite devices, groups in groups.
func (h *House) loadSecondPlan() {
	type plan struct {
		Areas      []*areaRow          `json:"areas"`
		Floors     []*floorRow         `json:"floors"`
		Labels     []*labelRow         `json:"labels"`
		Devices    []*deviceRow        `json:"devices"`
		Composites map[string][]string `json:"composites"`
		Entities   []*entityRow        `json:"entities"`
		States     []stateRow          `json:"states"`
	}
	p := load[plan]("plan2.json")
	stamp := unix(h.now())
	for _, a := range p.Areas {
		a.Aliases, a.Labels, a.CreatedAt, a.ModifiedAt = orEmpty(a.Aliases), orEmpty(a.Labels), stamp, stamp
		h.reg.areas = append(h.reg.areas, a)
	}
	for _, f := range p.Floors {
		f.Aliases, f.CreatedAt, f.ModifiedAt = orEmpty(f.Aliases), stamp, stamp
		h.reg.floors = append(h.reg.floors, f)
	}
	for _, l := range p.Labels {
		l.CreatedAt, l.ModifiedAt = stamp, stamp
		h.reg.labels = append(h.reg.labels, l)
	}
	for _, d := range p.Devices {
		h.furnishDevice(d, stamp)
	}
	for id, parts := range p.Composites {
		h.reg.composites[id] = parts
	}
	for _, e := range p.Entities {
		h.furnishEntity(e, stamp)
	}
	for _, s := range p.States {
		h.furnishState(s)
	}
	h.loadBodies("plan2_bodies.json")
	for id := range h.runs {
		if h.states[id] == nil {
			panic("simhome: " + id + " has a body and no state")
		}
	}
}
