package mcpd

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// places says which Host and Origin values are accepted.
type places struct {
	hosts   map[string]bool // lower case, with or without port
	origins map[string]bool // scheme://host[:port], lower case
}

func newPlaces(hosts, origins []string) places {
	p := places{hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, h := range hosts {
		p.hosts[strings.ToLower(strings.TrimSpace(h))] = true
	}
	for _, o := range origins {
		p.origins[strings.ToLower(strings.TrimRight(strings.TrimSpace(o), "/"))] = true
	}
	return p
}

// host reports whether the request's Host is one of ours: a loopback name, a
// configured one, or the very address the connection came in on. A page that
// rebinds its own name to our address still sends that name, and fails here.
func (p places) host(r *http.Request) bool {
	full := strings.ToLower(r.Host)
	name := hostname(full)
	if name == "" {
		return false
	}
	if name == "localhost" || p.hosts[full] || p.hosts[name] || p.hosts[strings.Trim(name, "[]")] {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap() == ip.Unmap()
}

// origin reports whether a browser page may call us: no Origin at all (not a
// browser), the same origin, or a configured one.
func (p places) origin(r *http.Request) bool {
	o := r.Header.Get("Origin")
	if o == "" {
		// More than one Origin line, or an empty one, is nobody honest.
		return len(r.Header.Values("Origin")) == 0
	}
	if len(r.Header.Values("Origin")) > 1 {
		return false
	}
	o = strings.ToLower(o)
	if p.origins[o] {
		return true
	}
	u, err := url.Parse(o)
	if err != nil || u.Host == "" || u.Path != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	return u.Host == strings.ToLower(r.Host)
}

// hostname is host without its port; IPv6 addresses keep their brackets.
func hostname(host string) string {
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return ""
		}
		return host[:end+1]
	}
	name, _, _ := strings.Cut(host, ":")
	return strings.TrimSuffix(name, ".")
}

// remote is the peer's address, the zero Addr where it has none.
func remote(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}
