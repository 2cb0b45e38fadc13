package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// checkConnection says whether the upstream is reached, and else at which step
// it is not.
func checkConnection(c *Case) *Finding {
	if c.first == "" || len(c.replies) == 0 {
		return unchecked("nothing was asked: there is no base URL to go to")
	}
	first := c.replies[0]
	if first.err == nil {
		if speaksTLS(first) {
			return c.rebased("it is http:// but the server speaks TLS", "https"+strings.TrimPrefix(c.first, "http"))
		}
		return ok("answered after " + figure.Duration(&first.took))
	}
	words, advice := c.failure(first)
	return change(fmt.Sprintf("failed at %s: %s", first.step, words), advice...)
}

// speaksTLS says whether a server complains that it was not spoken to in TLS.
func speaksTLS(r *reply) bool {
	text := strings.ToLower(string(r.body))
	return r.status == http.StatusBadRequest && strings.HasPrefix(r.URL, "http://") &&
		(strings.Contains(text, "http request to an https server") || strings.Contains(text, "plain http request was sent to https port"))
}

// failure words what kept an answer away, and what would help.
func (c *Case) failure(r *reply) (words string, advice []string) {
	var name *net.DNSError
	switch {
	case errors.As(r.err, &name):
		return "there is no address for " + name.Name, []string{"check the host in " + c.baseSetting(c.first), "and that this machine can look names up: getent hosts " + name.Name}
	case errors.Is(r.err, context.DeadlineExceeded):
		return "nothing came for " + figure.Duration(&c.Timeout), []string{"a firewall may drop it, or it takes a proxy to go out: export HTTPS_PROXY=..."}
	case r.step == tunnelling || strings.Contains(r.err.Error(), "proxyconnect"):
		return "it does not let this through", []string{"put HTTPS_PROXY right, or name the host in NO_PROXY"}
	case errors.Is(r.err, syscall.ECONNREFUSED) && isLoopbackURL(c.first):
		return "nothing listens there", []string{"start the server, or put the port right in " + c.baseSetting(c.first), "if it is ttftap's: ttftap serve --upstream URL"}
	case errors.Is(r.err, syscall.ECONNREFUSED):
		return "the connection is refused", []string{"check host and port in " + c.baseSetting(c.first)}
	}
	if record, ok := errors.AsType[tls.RecordHeaderError](r.err); ok && string(record.RecordHeader[:]) == "HTTP/" ||
		strings.Contains(r.err.Error(), "server gave HTTP response to HTTPS client") {
		return "the server speaks plain HTTP", []string{c.baseSetting("http" + strings.TrimPrefix(c.first, "https"))}
	}
	if words, advice := certificate(r.err); words != "" {
		return words, advice
	}
	return lastOf(r.err), []string{"check the base URL and the way out of this network"}
}

// certificate words why a certificate is not trusted, "" where it is not that.
func certificate(err error) (words string, advice []string) {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		remote    *net.OpError
	)
	switch {
	case errors.As(err, &authority):
		return "its certificate is of an authority that is not trusted here", []string{
			"ttftap serve --ca-file CA.pem, and ttftap doctor --ca-file CA.pem",
			"for Codex: export SSL_CERT_FILE=CA.pem"}
	case errors.As(err, &host):
		return "its certificate is for another host", []string{"use the host that the certificate names; never switch the check off"}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet", []string{"check this machine's clock; if it is right, the server's certificate must be renewed"}
	case errors.As(err, &invalid):
		return "its certificate is not valid", []string{"the server's certificate must be renewed"}
	case errors.As(err, &record):
		return "what answers speaks no TLS", []string{"check scheme and port: http:// or another port"}
	case errors.As(err, &remote) && remote.Op == "remote error": // as crypto/tls calls an alert
		return "the server ended the handshake: " + lastOf(err), []string{"check the host name: a server of many hosts refuses those it does not know"}
	}
	return "", nil
}

// lastOf is the innermost error, in which no address is repeated.
func lastOf(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
