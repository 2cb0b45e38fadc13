package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"syscall"
)

// listen opens the listeners of an address. The name localhost stands for
// 127.0.0.1 and, where the machine has one, ::1, both on the same port.
func listen(address string) ([]net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return nil, usagef("--listen %s: give HOST:PORT, such as localhost:8838", address)
	}
	if host != "localhost" {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, listenError(address, err)
		}
		return []net.Listener{l}, nil
	}
	const tries = 8 // a free port of IPv4 may be taken on IPv6
	for range tries {
		var v4, v6 net.Listener
		if v4, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", port)); err != nil {
			return nil, listenError(address, err)
		}
		picked := strconv.Itoa(v4.Addr().(*net.TCPAddr).Port)
		if v6, err = net.Listen("tcp6", net.JoinHostPort("::1", picked)); err == nil {
			return []net.Listener{v4, v6}, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return []net.Listener{v4}, nil // no IPv6 here
		}
		v4.Close()
		if port != "0" {
			break
		}
	}
	return nil, listenError(address, err)
}

func listenError(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot listen on %s: the port is taken, perhaps by another ttftap; choose another with --listen localhost:PORT, or port 0 for any free one", address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("cannot listen on %s: not permitted; choose a port above 1023 with --listen", address)
	}
	return fmt.Errorf("cannot listen on %s: %w", address, err)
}

// isLoopback says whether all listeners are reached from this machine alone.
func isLoopback(ls []net.Listener) bool {
	for _, l := range ls {
		if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
			return false
		}
	}
	return true
}

// baseURL is the address by which a person or a client reaches the listeners.
func baseURL(address string, ls []net.Listener) string {
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	port := ls[0].Addr().(*net.TCPAddr).Port
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// isSelf says whether an upstream is the listeners themselves. Names are looked
// up only where the port is the same.
func isSelf(u *url.URL, ls []net.Listener) bool {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	for _, l := range ls {
		own := l.Addr().(*net.TCPAddr)
		if strconv.Itoa(own.Port) == port && leadsTo(u.Hostname(), own.IP) {
			return true
		}
	}
	return false
}

// leadsTo says whether a host's addresses have ip among them. A host that cannot
// be looked up now may be there later, elsewhere.
func leadsTo(host string, ip net.IP) bool {
	addresses, err := net.LookupIP(host)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(addresses, func(a net.IP) bool {
		return a.Equal(ip) || ip.IsUnspecified() && isOwnIP(a)
	})
}

func isOwnIP(ip net.IP) bool {
	if ip.IsLoopback() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}
