package toolbox

import (
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/tool"
)

func TestEntityList_Class(t *testing.T) {
	b, _ := testBox(t)
	reg := tool.NewRegistry(b.Tools()...)
	for _, c := range []struct{ args, want string }{
		{`{"class":"window"}`, `{"total":1,"items":[{"entity_id":"binary_sensor.window"`}, {`{"class":" Window","state":"on"}`, `{"total":1,`},
		{`{"class":"window","state":"ajar"}`, `no entity is in state \"ajar\"; the states here are \"on\"`},
		{`{"class":"batery"}`, `no entity is of class \"batery\"; the classes here are \"blind\", \"window\"`},
		{`{"class":"window","domain":"light"}`, `nothing fits all filters`},
	} {
		if got := said(reg.Call(t.Context(), reader(), "entity_list", []byte(c.args))); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.args, home.Clip(got, 600), c.want)
		}
	}
}
