package problem

// Well-known causes of trouble, found in other programs' words.

import (
	"slices"
	"strings"
)

// Cause finds a well-known cause in what the go command printed, and names its mend. It looks for phrases of the
// operating system and of go; what it doesn't know, it leaves to the log.
func Cause(output string) (what, mend string, known bool) { return find(causes(), output) }

// CauseOnMachine is Cause for what other programs printed. It looks for phrases of the operating system alone: a refused
// connection in a scheduler's log isn't a module that couldn't be fetched.
func CauseOnMachine(output string) (what, mend string, known bool) {
	return find(slices.DeleteFunc(causes(), func(c cause) bool { return c.onlyGo }), output)
}

func find(causes []cause, output string) (what, mend string, known bool) {
	for _, c := range causes {
		if slices.ContainsFunc(c.phrases, func(phrase string) bool { return strings.Contains(output, phrase) }) {
			return c.what, c.mend, true
		}
	}
	return "", "", false
}

type cause struct {
	onlyGo     bool // the phrases mean this only where go says them
	phrases    []string
	what, mend string
}

// causes are tried in order. A full disk comes first, since it makes other things fail as well.
func causes() []cause {
	return []cause{{
		phrases: []string{"no space left on device", "disk quota exceeded", "database space exceeded"},
		what:    "the disk is full",
		mend:    "free some space (\"go clean -cache\" empties Go's build cache, which may lie on another disk than this folder), then run the same command again",
	}, {
		phrases: []string{"read-only file system"},
		what:    "a folder that must be written to is read-only",
		mend:    "copy the repository to a folder that you can write to",
	}, {
		// go's words when a file proxy hasn't got a file: the proxy of an unpacked archive.
		onlyGo:  true,
		phrases: []string{"/.workshop/proxy/"},
		what:    "a module is needed that isn't in the archive that this folder came from",
		mend:    "pack the repository again as it is now (workshop pack), or, with a network, remove .workshop/proxy",
	}, {
		onlyGo:  true,
		phrases: []string{"requires go >=", "toolchain not available", "go: download go1", "invalid go version"},
		what:    "this Go is too old",
		mend:    "install the Go that go.mod names, or a newer one, from https://go.dev/dl/",
	}, {
		onlyGo:  true,
		phrases: []string{"module lookup disabled"},
		what:    "Go isn't allowed to fetch modules (GOPROXY=off)",
		mend:    "unset GOPROXY, or set it to a proxy that you can reach: go env -u GOPROXY",
	}, {
		onlyGo:  true,
		phrases: []string{"dial tcp", "no such host", "i/o timeout", "TLS handshake timeout", "connection refused", "server misbehaving", "x509:", ": reading http"},
		what:    "the Go modules couldn't be fetched",
		mend:    "check the network, or set GOPROXY (and HTTPS_PROXY, if you need one) to what you can reach; then run the same command again, it goes on where it stopped",
	}, {
		onlyGo:  true,
		phrases: []string{"checksum mismatch"},
		what:    "a fetched module isn't the one that go.sum names",
		mend:    "run \"go clean -modcache\" and try again; if it stays, the proxy in GOPROXY serves something else than was published",
	}, {
		phrases: []string{"signal: killed", "cannot allocate memory", "out of memory"},
		what:    "the machine ran out of memory",
		mend:    "close other programs (2 GiB free are needed), then run the same command again",
	}, {
		phrases: []string{"permission denied"},
		what:    "a file may not be read or written",
		mend:    "check who owns this folder and Go's caches (a former run as root?)",
	}}
}
