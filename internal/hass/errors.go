package hass

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"hearth/internal/home"
)

// maxWords is how much of Home Assistant's own words an error quotes, in bytes.
const maxWords = 300

// quoted gives words of the house as data: clipped, on one line, in quotes.
func quoted(words string) string {
	return fmt.Sprintf("%q", home.Clip(strings.Join(strings.Fields(words), " "), maxWords))
}

// Failure is Home Assistant's own error answer to a command. It is the cause
// inside the *home.Error that a call returns; errors.As finds it.
type Failure struct {
	Command      string            `json:"-"`
	Code         string            `json:"code"` // not_found, invalid_format, service_validation_error, home_assistant_error, unauthorized, …
	Message      string            `json:"message"`
	Key          string            `json:"translation_key"`
	Placeholders map[string]string `json:"translation_placeholders"`
}

// Error gives the command, the code and the quoted words.
func (f *Failure) Error() string {
	return fmt.Sprintf("Home Assistant answered %s with %s: %s", f.Command, f.Code, quoted(f.Message))
}

// failureOf reads an error object. What cannot be read keeps its raw words.
func failureOf(kind string, raw []byte) *Failure {
	f := &Failure{}
	if err := json.Unmarshal(raw, f); err != nil || f.Code == "" {
		var few struct{ Code, Message string }
		_ = json.Unmarshal(raw, &few) // placeholders may be of any shape
		f = &Failure{Code: few.Code, Message: few.Message}
		if few.Code == "" {
			f.Code, f.Message = "unknown_error", home.Clip(string(raw), maxWords)
		}
	}
	f.Command = kind
	return f
}

// refused turns Home Assistant's error answer to a reading command into ours.
func refused(kind string, raw []byte) error {
	f := failureOf(kind, raw)
	e := &home.Error{Code: home.Internal, Err: f, Msg: fmt.Sprintf("Home Assistant answered %s with %s", kind, quoted(f.Message))}
	switch f.Code {
	case "not_found":
		e.Code = home.NotFound
	case "invalid_format", "service_validation_error", "invalid_info", "invalid_entity_ids", "invalid_start_time", "invalid_end_time", "template_error":
		e.Code = home.Invalid
	case "unauthorized":
		e.Code, e.Hint = home.Denied, "give Hearth the token of an administrator: in Home Assistant, sign in as one, make a long-lived token on the profile page, and run hearth setup with it"
	case "timeout":
		e.Code = home.Timeout
	case "unknown_command":
		e.Hint = "this Home Assistant does not know the command; a newer version may, or an integration is missing"
	}
	return e
}

// offline is the error of everything that needs a link while there is none.
func offline(msg string, cause error) error {
	return &home.Error{Code: home.Offline, Msg: msg, Err: cause, Hint: "try again in a moment; hearth doctor tells which hop fails"}
}

// errAuth says that the token was refused. Its words stand in brackets: after a
// colon they would look like the token itself, and be starred in every log.
type errAuth struct{ words string }

func (e errAuth) Error() string { return "Home Assistant refuses the token (" + quoted(e.words) + ")" }

// errSilent says that the other side had not been heard for a while when the
// session ended: what it sent meanwhile, if anything, was lost.
type errSilent struct{ error }

func (e errSilent) Unwrap() error { return e.error }

// silent marks err where it is a time-out.
func silent(err error) error {
	if isTimeout(err) || errors.Is(err, context.DeadlineExceeded) {
		return errSilent{err}
	}
	return err
}

// cause is a fault on the way to Home Assistant and what to do about it.
type cause struct {
	hop    string // dns, tcp, tls, http
	what   string
	remedy string
}

// explain finds the real cause of a failed request. scheme and host are what was
// asked for.
func explain(err error, scheme, host string) cause {
	text := err.Error()
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return cause{"dns", fmt.Sprintf("the name %s cannot be resolved", dns.Name), "check the host name in ha.url, or write the address itself"}
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), isRecordError(err):
		return cause{"tls", "the other side speaks http, not https", "write http:// instead of https:// in ha.url"}
	case certificate(err) != "":
		return cause{"tls", certificate(err), "set ha.ca_file to the certificate that signed it, use the name the certificate is for, or set ha.insecure: true if you accept the risk"}
	case strings.Contains(text, "malformed HTTP"):
		return cause{"http", "the other side does not speak http", "it may want https:// in ha.url; check the port too (Home Assistant's own is 8123)"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return cause{"tcp", fmt.Sprintf("nothing listens on %s", host), "check that Home Assistant runs and that the port in ha.url is right (Home Assistant's own is 8123)"}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return cause{"tcp", fmt.Sprintf("there is no way to %s", host), "check the network and the address in ha.url"}
	case isTimeout(err):
		return cause{"tcp", fmt.Sprintf("%s does not answer in time", host), "check the address in ha.url, the network and the firewall"}
	case scheme == "http" && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(text, "EOF")):
		return cause{"http", fmt.Sprintf("%s closed the connection without an answer", host), "it may want https:// in ha.url"}
	case errors.As(err, &op):
		return cause{"tcp", op.Error(), "check the address and the port in ha.url"}
	}
	return cause{"http", home.Clip(text, maxWords), "check ha.url"}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func isRecordError(err error) bool {
	var r tls.RecordHeaderError
	return errors.As(err, &r)
}

// certificate says what is wrong with the server's certificate, "" when it is
// something else.
func certificate(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "the certificate is signed by nobody this machine trusts (self-signed?)"
	case errors.As(err, &name):
		return "the certificate is for another name: " + home.Clip(name.Error(), maxWords)
	case errors.As(err, &invalid):
		return "the certificate is not valid: " + home.Clip(invalid.Error(), maxWords)
	}
	return ""
}

// redirected says what to write instead of an address that redirects. Home
// Assistant's own pages redirect among themselves (to /onboarding.html, to
// /auth/authorize); the address it wants is the one without any of them.
func redirected(r *http.Response, at string) string {
	const other = "write the address it leads to in ha.url"
	to, err := url.Parse(at)
	if err != nil || r.Request == nil {
		return other
	}
	from := r.Request.URL
	to = from.ResolveReference(to)
	if to.Scheme != from.Scheme || to.Host != from.Host || strings.HasPrefix(from.Path, "/api/") {
		return other // it leads elsewhere, or there is no path to leave out
	}
	return fmt.Sprintf("leave the path out of ha.url and write %s://%s, unless a proxy serves Home Assistant under that path", from.Scheme, from.Host)
}

// statusCause says what an unexpected HTTP status means on the way to Home
// Assistant.
func statusCause(r *http.Response) cause {
	switch at := r.Header.Get("Location"); {
	case at != "" && r.StatusCode >= 300 && r.StatusCode < 400:
		return cause{"http", fmt.Sprintf("the answer is a redirect to %s", quoted(at)), redirected(r, at)}
	case r.StatusCode == http.StatusBadRequest:
		return cause{"http", "the other side answers 400 Bad Request", "it may want https:// in ha.url, or a proxy in between is not among Home Assistant's trusted_proxies"}
	case r.StatusCode == http.StatusForbidden:
		return cause{"http", "the other side answers 403 Forbidden", "Home Assistant may have banned this address after wrong passwords: look into its ip_bans.yaml"}
	case r.StatusCode == http.StatusNotFound:
		return cause{"http", "there is no Home Assistant under this address (404)", "check the address, the port and the path in ha.url"}
	case r.StatusCode >= 500:
		return cause{"http", fmt.Sprintf("the other side answers %s", r.Status), "Home Assistant may be starting, or the proxy before it cannot reach it"}
	}
	return cause{"http", fmt.Sprintf("the other side answers %s", r.Status), "check that ha.url leads to Home Assistant"}
}
