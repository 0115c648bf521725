package simhome

import (
	"fmt"
	"strconv"
)

// fillKind is one kind of filler entity.
type fillKind struct {
	domain, what, class, unit string
	share                     int // of a hundred
}

// fillKinds are a large house's entities: mostly numbers.
func fillKinds() []fillKind {
	return []fillKind{
		{"sensor", "temperature", "temperature", "°C", 26}, {"sensor", "humidity", "humidity", "%", 14},
		{"sensor", "power", "power", "W", 16}, {"sensor", "battery", "battery", "%", 10},
		{"binary_sensor", "motion", "motion", "", 12}, {"binary_sensor", "contact", "opening", "", 8},
		{"light", "lamp", "", "", 8}, {"switch", "plug", "outlet", "", 6},
	}
}

const (
	perDevice = 4  // filler entities of one device
	perArea   = 25 // filler devices of one area
	perFloor  = 12 // filler areas of one floor
)

// fill adds entities with rows, devices, areas and floors until the house has n.
func (h *House) fill(n int) {
	stamp := unix(h.now())
	kinds := fillKinds()
	var deck []fillKind
	for _, k := range kinds {
		for range k.share {
			deck = append(deck, k)
		}
	}
	h.rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	var dev *deviceRow
	for i := 0; len(h.states) < n; i++ {
		if i%perDevice == 0 {
			dev = h.fillDevice(i/perDevice, stamp)
		}
		h.fillEntity(i, deck[i%len(deck)], dev, stamp)
	}
}

func (h *House) fillDevice(i int, stamp float64) *deviceRow {
	a := i / perArea
	area := fmt.Sprintf("zone_%d", a+1)
	if i%perArea == 0 {
		if a%perFloor == 0 {
			f := a / perFloor
			h.reg.floors = append(h.reg.floors, &floorRow{Aliases: []string{}, ID: fmt.Sprintf("level_%d", f+1), Level: ptr(f + 2), Name: fmt.Sprintf("Level %d", f+1), CreatedAt: stamp, ModifiedAt: stamp})
		}
		h.reg.areas = append(h.reg.areas, &areaRow{Aliases: []string{}, Labels: []string{}, ID: area, Name: fmt.Sprintf("Zone %d", a+1), FloorID: ptr(fmt.Sprintf("level_%d", a/perFloor+1)), CreatedAt: stamp, ModifiedAt: stamp})
	}
	d := &deviceRow{ID: h.hexID(), Name: ptr(fmt.Sprintf("Unit %d", i+1)), AreaID: &area, Manufacturer: ptr("Filler"), Model: ptr("F" + strconv.Itoa(i%7+1)),
		ConfigEntryID: ptr("01FILLER000000000000000000"), Identifiers: [][2]string{{"filler", strconv.Itoa(i)}}}
	h.furnishDevice(d, stamp)
	return d
}

func (h *House) fillEntity(i int, k fillKind, dev *deviceRow, stamp float64) {
	id := fmt.Sprintf("%s.unit_%d_%s_%d", k.domain, i/perDevice+1, k.what, i%perDevice+1)
	own := fmt.Sprintf("%s %d", k.what, i%perDevice+1)
	h.furnishEntity(&entityRow{listedEntity: listedEntity{EntityID: id, ID: h.hexID(), DeviceID: &dev.ID, ConfigEntryID: dev.ConfigEntryID,
		OriginalName: &own, Platform: "filler", UniqueID: strconv.Itoa(i)}}, stamp)
	attrs := map[string]any{"friendly_name": *dev.Name + " " + own}
	value := "off"
	if k.class != "" {
		attrs["device_class"] = k.class
	}
	if k.domain == "sensor" {
		attrs["unit_of_measurement"], attrs["state_class"] = k.unit, "measurement"
		value = fmt.Sprintf("%.2f", 10+h.rng.Float64()*80)
	}
	if k.domain == "light" {
		attrs["supported_color_modes"], attrs["color_mode"], attrs["brightness"], attrs["supported_features"] = []any{"brightness"}, nil, nil, 0
	}
	now := h.now()
	h.order = append(h.order, id)
	h.states[id] = &state{id: id, value: value, attrs: attrs, changed: now, updated: now, reported: now, ctx: h.newCause("", "")}
}
