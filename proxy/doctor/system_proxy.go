package doctor

import (
	"cmp"
	"net"
	"net/url"
	"strings"
)

// checkSystemProxy looks whether the system's proxy variables would take what is
// meant for this machine. Codex obeys them for loopback too; ttftap itself does
// not.
func checkSystemProxy(c *Case) *Finding {
	name := c.set("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
	if name == "" {
		return ok("no variable sends loopback away")
	}
	except := cmp.Or(c.Getenv("NO_PROXY"), c.Getenv("no_proxy"))
	for _, host := range c.localHosts() {
		if !excepted(host, except) {
			list := strings.Trim(except+",localhost,127.0.0.1,::1", ",")
			return change(name+" is set and NO_PROXY does not name "+host+": clients such as Codex send what is for this machine to that proxy",
				"export NO_PROXY="+list)
		}
	}
	return ok(name + " is set, and NO_PROXY leaves this machine out")
}

// set is the first of the variables that is set, "" for none.
func (c *Case) set(names ...string) string {
	for _, name := range names {
		if c.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// localHosts are the names by which this machine is meant: those in use, else
// those that one would use.
func (c *Case) localHosts() []string {
	var hosts []string
	for _, base := range []string{c.first, c.Via} {
		if u, err := url.Parse(base); err == nil && isLoopbackURL(base) {
			hosts = append(hosts, u.Hostname())
		}
	}
	if hosts == nil {
		return []string{"localhost", "127.0.0.1"}
	}
	return hosts
}

// excepted says whether NO_PROXY names a host.
func excepted(host, list string) bool {
	ip := net.ParseIP(host)
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		_, network, err := net.ParseCIDR(item)
		if item == "*" || strings.EqualFold(item, host) || err == nil && ip != nil && network.Contains(ip) {
			return true
		}
	}
	return false
}
