package simhome

import (
	"embed"
	"encoding/json"
)

//go:embed data/*.json
var dataFiles embed.FS

// load decodes one embedded file; a fault in it cannot pass go test.
func load[T any](name string) T {
	var v T
	b, err := dataFiles.ReadFile("data/" + name)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		panic("simhome: data/" + name + ": " + err.Error())
	}
	return v
}

// stateRow is one line of states.json.
type stateRow struct {
	ID    string         `json:"id"`
	Value string         `json:"s"`
	Attrs map[string]any `json:"a"`
}

// entityRow is one row of the entity registry in its extended form.
type entityRow struct {
	listedEntity
	Aliases             []*string       `json:"aliases"`
	Capabilities        json.RawMessage `json:"capabilities"`
	DeviceClass         *string         `json:"device_class"`
	OriginalDeviceClass *string         `json:"original_device_class"`
	OriginalIcon        *string         `json:"original_icon"`
}

// listedEntity is a row as config/entity_registry/list shows it.
type listedEntity struct {
	AreaID           *string           `json:"area_id"`
	Categories       map[string]string `json:"categories"`
	ConfigEntryID    *string           `json:"config_entry_id"`
	ConfigSubentryID *string           `json:"config_subentry_id"`
	CreatedAt        float64           `json:"created_at"`
	DeviceID         *string           `json:"device_id"`
	DisabledBy       *string           `json:"disabled_by"`
	EntityCategory   *string           `json:"entity_category"`
	EntityID         string            `json:"entity_id"`
	HiddenBy         *string           `json:"hidden_by"`
	Icon             *string           `json:"icon"`
	ID               string            `json:"id"`
	Labels           []string          `json:"labels"`
	ModifiedAt       float64           `json:"modified_at"`
	Name             *string           `json:"name"`
	NextNamePart     *string           `json:"next_name_part"`
	Options          map[string]any    `json:"options"`
	OriginalName     *string           `json:"original_name"`
	Platform         string            `json:"platform"`
	TranslationKey   *string           `json:"translation_key"`
	UniqueID         string            `json:"unique_id"`
}

// deviceRow is one row of the device registry.
type deviceRow struct {
	AreaID           *string              `json:"area_id"`
	ConfigurationURL *string              `json:"configuration_url"`
	ConfigEntries    []string             `json:"config_entries"`
	Subentries       map[string][]*string `json:"config_entries_subentries"`
	ConfigEntryID    *string              `json:"config_entry_id"`
	ConfigSubentryID *string              `json:"config_subentry_id"`
	Connections      [][2]string          `json:"connections"`
	CreatedAt        float64              `json:"created_at"`
	DisabledBy       *string              `json:"disabled_by"`
	EntryType        *string              `json:"entry_type"`
	HWVersion        *string              `json:"hw_version"`
	ID               string               `json:"id"`
	Identifiers      [][2]string          `json:"identifiers"`
	Labels           []string             `json:"labels"`
	Manufacturer     *string              `json:"manufacturer"`
	Model            *string              `json:"model"`
	ModelID          *string              `json:"model_id"`
	ModifiedAt       float64              `json:"modified_at"`
	NameByUser       *string              `json:"name_by_user"`
	Name             *string              `json:"name"`
	NextNamePart     *string              `json:"next_name_part"`
	ParentDeviceID   *string              `json:"parent_device_id"`
	PrimaryEntry     *string              `json:"primary_config_entry"`
	SerialNumber     *string              `json:"serial_number"`
	SWVersion        *string              `json:"sw_version"`
	ViaDeviceID      *string              `json:"via_device_id"`
}

type areaRow struct {
	Aliases    []string `json:"aliases"`
	ID         string   `json:"area_id"`
	FloorID    *string  `json:"floor_id"`
	HumidityID *string  `json:"humidity_entity_id"`
	Icon       *string  `json:"icon"`
	Labels     []string `json:"labels"`
	Name       string   `json:"name"`
	Picture    *string  `json:"picture"`
	TempID     *string  `json:"temperature_entity_id"`
	CreatedAt  float64  `json:"created_at"`
	ModifiedAt float64  `json:"modified_at"`
}

type floorRow struct {
	Aliases    []string `json:"aliases"`
	CreatedAt  float64  `json:"created_at"`
	ID         string   `json:"floor_id"`
	Icon       *string  `json:"icon"`
	Level      *int     `json:"level"`
	Name       string   `json:"name"`
	ModifiedAt float64  `json:"modified_at"`
}

type labelRow struct {
	Color       *string `json:"color"`
	CreatedAt   float64 `json:"created_at"`
	Description *string `json:"description"`
	Icon        *string `json:"icon"`
	ID          string  `json:"label_id"`
	Name        string  `json:"name"`
	ModifiedAt  float64 `json:"modified_at"`
}

type houseFile struct {
	Areas  []*areaRow     `json:"areas"`
	Floors []*floorRow    `json:"floors"`
	Labels []*labelRow    `json:"labels"`
	Config map[string]any `json:"config"`
}

func ptr[T any](v T) *T { return &v }

// deref is what p points at, or the zero value.
func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// orEmpty makes a missing list an empty one, which JSON shows as [].
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
