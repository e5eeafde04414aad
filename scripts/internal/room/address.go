package room

// The room's address: what the instructor asks for, and what learners type.

import (
	"crypto/rand"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

// newCode returns two made-up words that can be read aloud, such as lomar-tibek. There are almost
// five billion codes, because a program on the same network could try all numbers of six digits in
// minutes.
func newCode() string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var code strings.Builder
	for i, letters := range []string{consonants, vowels, consonants, vowels, consonants, consonants, vowels, consonants, vowels, consonants} {
		if i == 5 {
			code.WriteByte('-')
		}
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			panic(err) // crypto/rand never returns one
		}
		code.WriteByte(letters[n.Int64()])
	}
	return code.String()
}

// checkAddress requires a host, because :8090 would open the port to the network without saying so.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && host != "" && port != "" {
		return nil
	}
	return problem.New("--serve %q isn't an address with a host and a port", address).
		ToDo("use 0.0.0.0:8090 for everybody on your network, or 127.0.0.1:8090 for this machine alone").
		Because(err)
}

// URL is an address of the room.
type URL struct {
	URL       string
	Interface string // the network interface, if the room listens on several
}

// URLs returns the addresses at which the room may be reached.
func (s *Server) URLs() []URL {
	own := netip.MustParseAddrPort(s.listener.Addr().String())
	if !own.Addr().IsUnspecified() {
		return []URL{s.url(own, "")}
	}
	var found, v6 []URL
	interfaces, err := net.Interfaces()
	if err != nil {
		interfaces = nil // then only loopback is known
	}
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		for _, address := range addresses {
			prefix, err := netip.ParsePrefix(address.String())
			if err != nil || !prefix.Addr().IsGlobalUnicast() {
				continue
			}
			u := s.url(netip.AddrPortFrom(prefix.Addr(), own.Port()), i.Name)
			if prefix.Addr().Is4() {
				found = append(found, u)
			} else {
				v6 = append(v6, u)
			}
		}
	}
	if len(found) == 0 && own.Addr().Is6() {
		found = v6 // addresses of IPv4 are easier to type
	}
	if len(found) == 0 {
		return []URL{s.url(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), own.Port()), "")}
	}
	return found
}

func (s *Server) url(at netip.AddrPort, name string) URL {
	return URL{URL: "http://" + at.String() + "/" + s.code, Interface: name}
}

// checkURL returns the room's URL as the client uses it.
func checkURL(address string) (string, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	code := ""
	if err == nil {
		code = strings.TrimPrefix(u.Path, "/")
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || code == "" || strings.Contains(code, "/") ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", problem.New("--room %q (or WORKSHOP_ROOM) isn't the address of a room", address).
			ToDo("use the one on the instructor's screen, such as http://192.168.1.5:8090/lomar-tibek")
	}
	return u.String(), nil
}
