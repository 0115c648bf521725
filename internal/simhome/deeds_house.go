package simhome

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// todoItem is one line of a to-do list.
type todoItem struct {
	Summary   string  `json:"summary"`
	UID       string  `json:"uid"`
	Status    string  `json:"status"`
	Completed *string `json:"completed,omitempty"`
}

// listDeeds answer with data: to-do lists, forecasts, calendars.
func listDeeds() map[string]deed {
	return map[string]deed{
		"todo.get_items": {each: func(c *call, id string) *fault {
			items := []todoItem{}
			wanted := texts(c.data["status"])
			for _, i := range c.h.todo[id] {
				if len(wanted) == 0 && i.Status == "needs_action" || len(wanted) == 0 || slices.Contains(wanted, i.Status) {
					items = append(items, i)
				}
			}
			c.response[id] = map[string]any{"items": items}
			return nil
		}},
		"todo.add_item":         {each: todoAdd},
		"todo.update_item":      {each: todoUpdate},
		"todo.remove_item":      {each: todoRemove},
		"weather.get_forecasts": {each: forecasts},
		"calendar.get_events": {also: "duration end_date_time start_date_time", each: func(c *call, id string) *fault {
			c.response[id] = map[string]any{"events": []any{}}
			return nil
		}},
	}
}

func todoAdd(c *call, id string) *fault {
	h := c.h
	uid := h.hexID()
	uid = strings.Join([]string{uid[:8], uid[8:12], uid[12:16], uid[16:20], uid[20:]}, "-")
	h.todo[id] = append(h.todo[id], todoItem{Summary: c.text("item"), UID: uid, Status: "needs_action"})
	return c.showTodo(id)
}

func (c *call) showTodo(id string) *fault {
	open := 0
	for _, i := range c.h.todo[id] {
		if i.Status == "needs_action" {
			open++
		}
	}
	return c.show(id, fmt.Sprint(open), nil)
}

// todoFind finds an item by uid or summary.
func (c *call) todoFind(id, item string) (int, *fault) {
	i := slices.IndexFunc(c.h.todo[id], func(t todoItem) bool { return t.Summary == item || t.UID == item })
	if i < 0 {
		return i, invalid("Unable to find to-do list item: "+item, "item_not_found", "todo", map[string]any{"item": item})
	}
	return i, nil
}

func todoUpdate(c *call, id string) *fault {
	i, f := c.todoFind(id, c.text("item"))
	if f != nil {
		return f
	}
	t := &c.h.todo[id][i]
	if s := c.text("rename"); s != "" {
		t.Summary = s
	}
	if s := c.text("status"); s != "" {
		t.Status = s
		t.Completed = nil
		if s == "completed" {
			t.Completed = ptr(iso(c.h.now()))
		}
	}
	return c.showTodo(id)
}

func todoRemove(c *call, id string) *fault {
	for _, item := range texts2Any(c.data["item"]) {
		i, f := c.todoFind(id, item)
		if f != nil {
			return f
		}
		c.h.todo[id] = slices.Delete(c.h.todo[id], i, i+1)
	}
	return c.showTodo(id)
}

// texts2Any is one string or a list, no commas split.
func texts2Any(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	return texts2(v)
}

func forecasts(c *call, id string) *fault {
	rows := []any{}
	at := c.h.now()
	for i, w := range []string{"rainy", "rainy", "cloudy", "rainy", "snowy", "snowy", "lightning-rainy"} {
		rows = append(rows, map[string]any{"datetime": iso(at.Add(time.Duration(i) * 24 * time.Hour)), "condition": w,
			"temperature": 22.0 - 3*float64(i), "templow": 15.0 - 3*float64(i), "precipitation": float64(i), "precipitation_probability": 60 - 5*i})
	}
	c.response[id] = map[string]any{"forecast": rows}
	return nil
}

// houseDeeds are those that move the whole house, scripts, scenes, automations and messages.
func houseDeeds() map[string]deed {
	return join(onOff("automation"), map[string]deed{
		"homeassistant.turn_on":  {whole: generic("turn_on")},
		"homeassistant.turn_off": {whole: generic("turn_off")},
		"homeassistant.toggle":   {whole: generic("toggle")},
		"homeassistant.restart": {also: "safe_mode", whole: func(c *call) *fault {
			h := c.h
			h.after(0, func() {
				h.restart()
				h.endAll(errRestart)
			})
			return nil
		}},
		"scene.turn_on":   {each: sceneOn, also: "transition"},
		"script.turn_on":  {each: func(c *call, id string) *fault { c.h.runScript(id, c.ctx, nil); return nil }, also: "variables"},
		"script.turn_off": {each: func(c *call, id string) *fault { c.h.stopRun(id); return nil }},
		"script.toggle": {each: func(c *call, id string) *fault {
			if c.h.value(id) == "on" {
				c.h.stopRun(id)
			} else {
				c.h.runScript(id, c.ctx, nil)
			}
			return nil
		}},
		"automation.trigger":              {each: triggerNow, also: "skip_condition"},
		"persistent_notification.create":  {whole: func(*call) *fault { return nil }, also: "message title notification_id"},
		"persistent_notification.dismiss": {whole: func(*call) *fault { return nil }, also: "notification_id"},
	})
}

// generic is homeassistant.turn_on and friends: each domain's own service, one after the other.
func generic(name string) func(*call) *fault {
	return func(c *call) *fault {
		h := c.h
		t := targetOf(c.data)
		if t.empty() {
			return &fault{code: "invalid_format", message: "at least one of ['entity_id', 'device_id', 'area_id', 'floor_id', 'label_id'] is required"}
		}
		x := h.extract(t, true, true)
		byDomain := map[string][]string{}
		var domains []string
		for _, id := range h.order {
			if !x.direct[id] && !x.indirect[id] {
				continue
			}
			d := domainOf(id)
			if h.catalog[d+"."+name] == nil {
				continue
			}
			if byDomain[d] == nil {
				domains = append(domains, d)
			}
			byDomain[d] = append(byDomain[d], id)
		}
		for _, d := range domains {
			data := map[string]any{}
			for k, v := range c.data {
				data[k] = v
			}
			data["entity_id"] = anys(byDomain[d])
			c.pending++
			h.call(ask{domain: d, name: name, data: data, ctx: c.ctx}, func(_ map[string]any, f *fault) {
				if f != nil && c.err == nil {
					c.err = f
				}
				c.finish()
			})
		}
		return nil
	}
}

// sceneOn shows when the scene was set, then calls what makes each entity so.
func sceneOn(c *call, id string) *fault {
	h := c.h
	c.show(id, iso(h.now()), nil)
	body := h.reg.scenes[id]
	if body == nil {
		return nil
	}
	for _, e := range h.order {
		want, ok := body.Entities[e]
		if !ok || h.value(e) == "off" && want["state"] == "off" {
			continue
		}
		data := map[string]any{"entity_id": e}
		for k, v := range want {
			if k != "state" {
				data[k] = v
			}
		}
		name := "turn_" + fmt.Sprint(want["state"])
		h.call(ask{domain: domainOf(e), name: name, data: data, ctx: c.ctx}, nil)
	}
	return nil
}
