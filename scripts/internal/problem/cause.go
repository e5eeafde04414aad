package problem

// Well-known causes of trouble, found in other programs' words.

import (
	"slices"
	"strings"
)

// Cause is a known cause of failure, recognized by any of its phrases in a program's output.
type Cause struct {
	Phrases    []string
	What, Mend string
	onlyGo     bool // the phrases mean this only where go says them
}

// Find returns the first cause with a phrase in the output. Unknown causes are left to the log.
func Find(causes []Cause, printed string) (cause Cause, known bool) {
	i := slices.IndexFunc(causes, func(c Cause) bool {
		return slices.ContainsFunc(c.Phrases, func(phrase string) bool { return strings.Contains(printed, phrase) })
	})
	if i < 0 {
		return Cause{}, false
	}
	return causes[i], true
}

// Explain adds the cause and its fix, if the output matches a known cause.
func (p *Problem) Explain(causes []Cause, printed string) {
	if cause, known := Find(causes, printed); known {
		p.What, p.Mend = p.What+", since "+cause.What, cause.Mend
	}
}

// OnMachine returns causes that any program can report. Their phrases are the operating system's: a
// refused connection in a scheduler's log doesn't mean that Go couldn't fetch a module.
func OnMachine() []Cause {
	return slices.DeleteFunc(OfGo(), func(c Cause) bool { return c.onlyGo })
}

// OfGo returns causes that the go command reports, in the order in which to try them. A full disk
// comes first, because it makes other things fail as well.
func OfGo() []Cause {
	return []Cause{{
		Phrases: []string{"no space left on device", "disk quota exceeded", "database space exceeded"},
		What:    "the disk is full",
		Mend:    "free some space (\"go clean -cache\" empties Go's build cache, which may lie on another disk than this folder), then run the same command again",
	}, {
		Phrases: []string{"read-only file system"},
		What:    "a folder that must be written to is read-only",
		Mend:    "copy the repository to a folder that you can write to",
	}, {
		// go's words when a file proxy hasn't got a file: the proxy of an unpacked archive.
		onlyGo:  true,
		Phrases: []string{"/.workshop/proxy/"},
		What:    "a module is needed that isn't in the archive that this folder came from",
		Mend:    "pack the repository again as it is now (workshop pack), or, with a network, remove .workshop/proxy",
	}, {
		onlyGo:  true,
		Phrases: []string{"requires go >=", "toolchain not available", "go: download go1", "invalid go version"},
		What:    "this Go is too old",
		Mend:    "install the Go that go.mod names, or a newer one, from https://go.dev/dl/",
	}, {
		onlyGo:  true,
		Phrases: []string{"module lookup disabled"},
		What:    "Go isn't allowed to fetch modules (GOPROXY=off)",
		Mend:    "unset GOPROXY, or set it to a proxy that you can reach: go env -u GOPROXY",
	}, {
		onlyGo:  true,
		Phrases: []string{"dial tcp", "no such host", "i/o timeout", "TLS handshake timeout", "connection refused", "server misbehaving", "x509:", ": reading http"},
		What:    "the Go modules couldn't be fetched",
		Mend:    "check the network, or set GOPROXY (and HTTPS_PROXY, if you need one) to what you can reach; then run the same command again, it goes on where it stopped",
	}, {
		onlyGo:  true,
		Phrases: []string{"checksum mismatch"},
		What:    "a fetched module isn't the one that go.sum names",
		Mend:    "run \"go clean -modcache\" and try again; if it stays, the proxy in GOPROXY serves something else than was published",
	}, {
		Phrases: []string{"signal: killed", "cannot allocate memory", "out of memory"},
		What:    "the machine ran out of memory",
		Mend:    "close other programs (2 GiB free are needed), then run the same command again",
	}, {
		Phrases: []string{"permission denied"},
		What:    "a file may not be read or written",
		Mend:    "check who owns this folder and Go's caches (a former run as root?)",
	}}
}
