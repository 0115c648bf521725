package mirror

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

// What the store keeps for a start with the house down: two blobs of gzipped
// JSON lines, each begun by a line that tells the format. States follow one a
// line; of the house, first all small registries, then one entity row a line.
const (
	blobStates = "mirror.states"
	blobHouse  = "mirror.house"
	format     = 1
)

// savedMarks remember what was saved last, so that nothing is saved twice.
type savedMarks struct {
	cells []*mid[cell]
	house houseMarks
}

type houseMarks struct {
	registry uint64
	misc     *misc
}

type savedHeader struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`
}

type savedState struct {
	ID      home.EntityID   `json:"i"`
	Value   string          `json:"s"`
	Attrs   json.RawMessage `json:"a"`
	Changed time.Time       `json:"lc"`
	Updated time.Time       `json:"lu"`
	Context home.Context    `json:"c,omitzero"`
}

type savedHouse struct {
	Info       home.Info
	Services   []home.Service
	Registries home.Registries
}

// Load fills the house from the store, marked stale since it was saved. A
// store without anything leaves it empty; a broken blob is an error, and
// leaves what could be read.
func (w *Writer) Load(ctx context.Context) error {
	w.health.Light(health.MirrorStale, "nothing is known of the house yet")
	if w.db == nil {
		return nil
	}
	var h savedHouse
	first := true
	at, err := w.read(ctx, blobHouse, func(line []byte) error {
		if first {
			first = false
			return json.Unmarshal(line, &h)
		}
		var row home.Entity
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		h.Registries.Entities = append(h.Registries.Entities, row)
		return nil
	})
	errs := []error{err}
	var patches []home.Patch
	statesAt, err := w.read(ctx, blobStates, func(line []byte) error {
		var s savedState
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		patches = append(patches, home.Patch{ID: s.ID, Full: true, Value: &s.Value, Set: s.Attrs,
			Changed: s.Changed, Updated: s.Updated, Context: &s.Context})
		return nil
	})
	errs = append(errs, err)
	if statesAt.IsZero() {
		statesAt = at
	}
	if statesAt.IsZero() {
		return errors.Join(errs...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.begin("", time.Now())
	a.catchUp = true
	a.info(&h.Info)
	a.registries(&h.Registries)
	a.services(h.Services)
	for i := range patches {
		a.patch(&patches[i])
	}
	a.v.since, a.v.live, a.v.loaded, a.touched = statesAt, false, true, true
	a.finish()
	w.mark(w.house.View())
	w.saved.cells = w.house.View().cells.root
	w.health.Light(health.MirrorStale, "what is shown was stored at "+home.FormatTime(statesAt, w.house.View().misc.location))
	return errors.Join(errs...)
}

// read gives each line after the header to take; the time is when it was saved.
func (w *Writer) read(ctx context.Context, key string, take func([]byte) error) (time.Time, error) {
	data, _, err := w.db.Blob(ctx, key)
	if err != nil {
		return time.Time{}, home.Wrap(home.Internal, err, "read "+key+" from the store")
	}
	if len(data) == 0 {
		return time.Time{}, nil
	}
	at, err := decode(data, take)
	return at, home.Wrap(home.Internal, err, "decode "+key)
}

func decode(data []byte, take func([]byte) error) (time.Time, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return time.Time{}, err
	}
	r := bufio.NewReaderSize(z, 64<<10)
	var head savedHeader
	first := true
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if first {
				if e := json.Unmarshal(line, &head); e != nil {
					return time.Time{}, e
				}
				if head.Format != format {
					return time.Time{}, fmt.Errorf("format %d is not known", head.Format)
				}
				first = false
			} else if e := take(line); e != nil {
				return head.At, e
			}
		}
		if errors.Is(err, io.EOF) {
			return head.At, nil
		}
		if err != nil {
			return head.At, err
		}
	}
}

// Run saves states (every Config.Save, when they changed) and registries (soon
// after they changed) to the store until ctx ends, and once more then. Without
// a store it only waits.
func (w *Writer) Run(ctx context.Context) error {
	if w.db == nil {
		<-ctx.Done()
		return nil
	}
	every := time.NewTicker(min(w.c.Save, 10*time.Second))
	defer every.Stop()
	last := time.Now()
	for {
		select {
		case <-every.C:
			states := time.Since(last) >= w.c.Save
			if states {
				last = time.Now()
			}
			w.save(ctx, states)
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			w.save(end, true)
			return nil
		}
	}
}

// save writes what changed since it was last written. A store that refuses is
// said in the log and tried again next time; its own condition is lit by it.
func (w *Writer) save(ctx context.Context, states bool) {
	v := w.house.View()
	if !v.live {
		// What is shown came from the store, or is the last that was live: save
		// the latter once, with the time it dates from.
		if v.since.IsZero() || !v.loaded {
			return
		}
	}
	at := time.Now().UTC()
	if !v.live {
		at = v.since
	}
	if w.saved.house != marksOf(v) {
		if err := w.put(ctx, blobHouse, at, v.writeHouse); err != nil {
			w.log.Warn("registries could not be saved", home.KeyError, err)
			return
		}
		w.mark(v)
	}
	if states && !sameRoot(w.saved.cells, v.cells.root) {
		if err := w.put(ctx, blobStates, at, v.writeStates); err != nil {
			w.log.Warn("states could not be saved", home.KeyError, err)
			return
		}
		w.saved.cells = v.cells.root
	}
}

func marksOf(v *View) houseMarks { return houseMarks{v.registry, v.misc} }

func (w *Writer) mark(v *View) { w.saved.house = marksOf(v) }

func sameRoot(a, b []*mid[cell]) bool { return equalLists(a, b) }

func (w *Writer) put(ctx context.Context, key string, at time.Time, write func(*json.Encoder) error) error {
	data, err := w.pack(at, write)
	if err != nil {
		return err
	}
	return w.db.PutBlob(ctx, key, data)
}

func (w *Writer) pack(at time.Time, write func(*json.Encoder) error) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriterSize(z, 64<<10)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	err = errors.Join(enc.Encode(savedHeader{format, at}), write(enc), buf.Flush(), z.Close())
	return b.Bytes(), err
}

func (v *View) writeStates(enc *json.Encoder) error {
	for _, slot := range v.index.all {
		c := v.cells.at(slot)
		if c == nil || c.state == nil {
			continue
		}
		s := c.state
		if err := enc.Encode(savedState{s.ID, s.Value, s.Attrs, s.Changed, s.Updated, s.Context}); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) writeHouse(enc *json.Encoder) error {
	h := savedHouse{Info: v.misc.info, Services: v.misc.services, Registries: home.Registries{
		Devices: v.devs.rows, Composites: v.devs.composites,
		Areas: v.areas, Floors: v.floors, Labels: v.labels, Users: v.users,
	}}
	if err := enc.Encode(h); err != nil {
		return err
	}
	for _, slot := range v.index.all {
		c := v.cells.at(slot)
		if c == nil || c.row.RegistryID == "" {
			continue
		}
		if err := enc.Encode(c.row); err != nil {
			return err
		}
	}
	return nil
}
