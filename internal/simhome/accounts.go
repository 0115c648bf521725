package simhome

import (
	"encoding/base64"
	"maps"
	"slices"
)

// user is one account of the house.
type user struct {
	ID        string
	Name      string
	Username  string
	password  string
	owner     bool
	localOnly bool
	system    bool
	groups    []string
	person    string // entity id of the person linked to it
}

func (u *user) admin() bool { return u.owner || slices.Contains(u.groups, "system-admin") }

const (
	ownerID  = "2750e23376ad4dc493d09c37976b3720"
	hearthID = "cb359e93602b4a00a60ea83dd7e881fd"
	systemID = "5ca7d6139c25405682826af3d92c4bb1"
	annaID   = "7d1f0b1c9a9e4e0f8f5f3a1d2c4b6e80"
)

// loadUsers makes the accounts: those of the test house and an ordinary one.
func (h *House) loadUsers() {
	if h.users != nil { // accounts and tokens survive a restart
		return
	}
	h.tokens, h.codes, h.flows = map[string]*user{}, map[string]*user{}, map[string]bool{}
	h.sessions = map[string]string{}
	h.users = []*user{
		{ID: systemID, Name: "Home Assistant Content", system: true, groups: []string{"system-read-only"}},
		{ID: ownerID, Name: "Test Owner", Username: "test", password: "test-house-1", owner: true, groups: []string{"system-admin"}, person: "person.test_owner"},
		{ID: hearthID, Name: "Hearth", Username: "hearth", password: "hearth-house-1", localOnly: true, groups: []string{"system-admin"}},
	}
	if !h.o.Plain {
		h.users = append(h.users, &user{ID: annaID, Name: "Änne Müller", Username: "aenne", password: "aenne-house-1", groups: []string{"system-users"}, person: "person.anne"})
	}
	for _, u := range h.users {
		if !u.system {
			h.tokens[h.tokenFor(u)] = u
		}
	}
	if h.o.Plain { // somebody without rights, for the token of UserToken only
		h.tokens[h.tokenFor(&user{ID: annaID})] = &user{ID: annaID, Name: "Guest", groups: []string{"system-users"}}
	}
}

// tokenFor is the first long-lived token of a user: it looks like a JWT and is the same for each start.
func (h *House) tokenFor(u *user) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"iss":"`+u.ID+`"}`) + "." + part("simhome-"+u.ID)
}

// newToken makes one more token for a user.
func (h *House) newToken(u *user) string {
	t := h.tokenFor(u) + h.hexID()
	h.tokens[t] = u
	return t
}

// OwnerToken is an administrator's token, the owner's.
func (h *House) OwnerToken() string { return h.tokenFor(&user{ID: ownerID}) }

// HearthToken is the token of Hearth's own administrator user.
func (h *House) HearthToken() string { return h.tokenFor(&user{ID: hearthID}) }

// UserToken is the token of an ordinary user who is no administrator.
func (h *House) UserToken() string { return h.tokenFor(&user{ID: annaID}) }

// HearthUser and OwnerUser are the ids of the two administrators.
func (h *House) HearthUser() string { return hearthID }

// OwnerUser is the id of the owner's account.
func (h *House) OwnerUser() string { return ownerID }

// Revoke makes a token worthless from now on, as deleting it in the profile does.
func (h *House) Revoke(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.tokens[token]
	delete(h.tokens, token)
	for c := range h.conns {
		if c.user == u {
			c.end(errRevoked)
		}
	}
}

func accountCommands() map[string]command {
	return map[string]command{
		"auth/current_user":                         {do: currentUser},
		"auth/long_lived_access_token":              {keys: "client_name! lifespan! client_icon", do: longLivedToken},
		"config/auth/list":                          {admin: true, do: authList},
		"config/auth/create":                        {admin: true, keys: "name! group_ids local_only", do: authCreate},
		"config/auth_provider/homeassistant/create": {admin: true, keys: "user_id! username! password!", do: credentialCreate},
		"person/list":                               {do: personList},
		"config/auth/delete":                        {admin: true, keys: "user_id!", do: authDelete},
	}
}

func currentUser(c *conn, r request) {
	u := c.user
	c.result(r.id, map[string]any{
		"id": u.ID, "name": u.Name, "is_owner": u.owner, "is_admin": u.admin(),
		"credentials": []any{map[string]any{"auth_provider_type": "homeassistant", "auth_provider_id": nil}},
		"mfa_modules": []any{map[string]any{"id": "totp", "name": "Authenticator app", "enabled": false}},
	})
}

func longLivedToken(c *conn, r request) { c.result(r.id, c.h.newToken(c.user)) }

// userJSON is a user as config/auth shows it.
func userJSON(u *user) map[string]any {
	creds := []any{}
	var name any
	if u.Username != "" {
		creds = append(creds, map[string]string{"type": "homeassistant"})
		name = u.Username
	}
	return map[string]any{"id": u.ID, "username": name, "name": u.Name, "is_owner": u.owner, "is_active": true,
		"local_only": u.localOnly, "system_generated": u.system, "group_ids": u.groups, "credentials": creds}
}

func authList(c *conn, r request) {
	all := []any{}
	for _, u := range c.h.users {
		all = append(all, userJSON(u))
	}
	c.result(r.id, all)
}

func authCreate(c *conn, r request) {
	u := &user{ID: c.h.hexID(), Name: r.text("name"), groups: []string{}}
	r.decode("group_ids", &u.groups)
	r.decode("local_only", &u.localOnly)
	c.h.users = append(c.h.users, u)
	c.result(r.id, map[string]any{"user": userJSON(u)})
}

func authDelete(c *conn, r request) {
	h, id := c.h, r.text("user_id")
	u := find(h.users, func(u *user) bool { return u.ID == id })
	switch {
	case id == c.user.ID:
		c.fail(r.id, &fault{code: "no_delete_self", message: "Unable to delete your own account"})
		return
	case u == nil:
		c.fail(r.id, &fault{code: "not_found", message: "User not found"})
		return
	}
	h.users = slices.DeleteFunc(h.users, func(o *user) bool { return o == u })
	maps.DeleteFunc(h.tokens, func(_ string, o *user) bool { return o == u })
	for other := range h.conns {
		if other.user == u {
			other.end(errRevoked)
		}
	}
	c.result(r.id, nil)
}

func credentialCreate(c *conn, r request) {
	u := find(c.h.users, func(u *user) bool { return u.ID == r.text("user_id") })
	switch {
	case u == nil:
		c.fail(r.id, &fault{code: "not_found", message: "User not found"})
		return
	case u.system:
		c.fail(r.id, &fault{code: "system_generated", message: "Cannot add credentials to a system generated user."})
		return
	}
	if find(c.h.users, func(o *user) bool { return o.Username == r.text("username") }) != nil {
		c.fail(r.id, &fault{code: "username_exists", message: "Username already exists"})
		return
	}
	u.Username, u.password = r.text("username"), r.text("password")
	c.result(r.id, nil)
}

func personList(c *conn, r request) {
	all := []any{}
	for _, u := range c.h.users {
		if u.person != "" {
			all = append(all, map[string]any{"id": u.person[len("person."):], "name": u.Name, "user_id": u.ID, "device_trackers": []string{}})
		}
	}
	c.result(r.id, map[string]any{"storage": all, "config": []any{}})
}
