package proxy

// Join is join, for tests of the whole table of addresses.
func Join(u Upstream, target string) string { return join(u.URL.EscapedPath(), target) }

// Redirect points the default upstream elsewhere, for a loop that only a test
// can make: the proxy's own address is known after it was made.
func (p *Proxy) Redirect(u Upstream) { p.upstreams[DefaultUpstream] = &u }
