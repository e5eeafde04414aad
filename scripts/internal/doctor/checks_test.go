package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/problem"
)

// healthy is a machine without any problem.
func healthy() machine {
	return machine{
		root:     "/home/me/operators",
		goEnv:    map[string]string{"GOVERSION": "go1.26.8", "GOPROXY": "https://modules.example.com,direct", "CC": "gcc"},
		goNeeded: "1.26.0",
		kubectl:  `{"clientVersion":{"gitVersion":"v1.36.3"}}`,
		env:      func(string) string { return "" },
		has:      func(string) bool { return true },
		memory:   8 * gib,
		now:      time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC),
	}
}

func TestAHealthyMachineHasNoFindings(t *testing.T) {
	for _, check := range checks() {
		if f := check(healthy()); f.State != OK || f.Fix != "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestChecks(t *testing.T) {
	env := func(variables ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(variables); i += 2 {
				if variables[i] == name {
					return variables[i+1]
				}
			}
			return ""
		}
	}
	tests := map[string]struct {
		change func(*machine)
		check  func(machine) Finding
		state  State
		want   string
	}{
		"no Go": {
			func(m *machine) { m.goEnv, m.goError = nil, `exec: "go": executable file not found in $PATH` },
			checkGo, Bad, "no go command",
		},
		"a go command that fails": {
			func(m *machine) { m.goEnv, m.goError = nil, "broken" },
			checkGo, Bad, "broken",
		},
		"an old Go that downloads a new one": {
			func(m *machine) { m.goEnv["GOVERSION"] = "go1.24.1" },
			checkGo, Warn, "go1.24.1",
		},
		"an old Go that may not download a new one": {
			func(m *machine) { m.goEnv["GOVERSION"] = "go1.24.1"; m.env = env("GOTOOLCHAIN", "local") },
			checkGo, Bad, "1.26.0",
		},
		"no git": {
			func(m *machine) { m.has = func(p string) bool { return p != "git" } },
			checkTool("git", "diffs"), Warn, "git",
		},
		"no kubectl": {
			func(m *machine) { m.has = func(p string) bool { return p != "kubectl" } },
			checkKubectl, OK, "has its own",
		},
		"an old kubectl": {
			func(m *machine) { m.kubectl = `{"clientVersion":{"gitVersion":"v1.28.2-gke.100"}}` },
			checkKubectl, Warn, "v1.28.2-gke.100",
		},
		"a kubectl that fails": {
			func(m *machine) { m.kubectl = "" },
			checkKubectl, Warn, "doesn't report",
		},
		"no make": {
			func(m *machine) { m.has = func(p string) bool { return p != "make" } },
			checkTool("make", "06"), Warn, "make",
		},
		"no C compiler": {
			func(m *machine) { m.has = func(p string) bool { return p != "gcc" } },
			checkCompiler, Warn, "race detector",
		},
		"a folder that is read-only": {
			func(m *machine) { m.writable = errors.New("read-only file system") },
			checkFolder, Bad, "read-only",
		},
		"a path with a colon": {
			func(m *machine) { m.root = "/a:b" },
			checkPath, Bad, "contains a colon",
		},
		"a disk that is nearly full": {
			func(m *machine) { m.disks = controlplane.CheckFree(m.root, 1<<62, "to build", controlplane.Elsewhere) },
			checkDisk, Bad, "GiB left, 4294967296.0 GiB are needed to build",
		},
		"little memory": {
			func(m *machine) { m.memory = 3 * gib / 2 },
			checkMemory, Warn, "1.5 GiB",
		},
		"little memory because the cluster runs": {
			func(m *machine) { m.memory = 3 * gib / 2; m.clusterUp = true },
			checkMemory, OK, "1.5 GiB",
		},
		"no memory": {
			func(m *machine) { m.memory = gib / 2 },
			checkMemory, Bad, "0.5 GiB",
		},
		"vendoring by default": {
			func(m *machine) { m.goEnv["GOFLAGS"] = "-mod=vendor" },
			checkFlags, Bad, "-mod=vendor",
		},
		"harmless flags": {
			func(m *machine) { m.goEnv["GOFLAGS"] = "-buildvcs=false" },
			checkFlags, OK, "",
		},
		"an archive's Go": {
			func(m *machine) { m.unpacked = true; m.goEnv["GOROOT"] = m.root + "/.workshop/go" },
			checkGo, OK, "from the archive",
		},
		"an archive's modules": {
			func(m *machine) { m.unpacked = true; m.goEnv["GOPROXY"] = "file://" + m.root + "/.workshop/proxy" },
			checkProxy, OK, "it needs no network",
		},
		"an archive whose modules were removed": {
			func(m *machine) { m.unpacked = true; m.goEnv["GOPROXY"] = "off" },
			checkProxy, Bad, "GOPROXY is off",
		},
		"no module proxy, before the build": {
			func(m *machine) { m.goEnv["GOPROXY"] = "off" },
			checkProxy, Bad, "isn't built",
		},
		"no module proxy, after the build": {
			func(m *machine) { m.goEnv["GOPROXY"] = "off"; m.built = true },
			checkProxy, Warn, "off",
		},
		"no workspace": {
			func(m *machine) { m.goEnv["GOWORK"] = "off" },
			checkWorkspace, Warn, "GOWORK",
		},
		"an HTTP proxy for everything": {
			func(m *machine) { m.env = env("https_proxy", "http://proxy:3128", "no_proxy", "corp") },
			checkHTTPProxy, Warn, "HTTPS_PROXY",
		},
		"an HTTP proxy, but not for loopback": {
			func(m *machine) { m.env = env("HTTPS_PROXY", "http://proxy:3128", "NO_PROXY", "localhost,127.0.0.1") },
			checkHTTPProxy, OK, "",
		},
		"a port that is taken": {
			func(m *machine) { m.ports = &problem.Problem{What: "port 1 is taken", Fix: "end it"} },
			checkPorts, Bad, "port 1",
		},
		"processes of a cluster that was moved": {
			func(m *machine) { m.strays = []int{42} },
			checkStrays, Warn, "[42]",
		},
		"a clock that was never set": {
			func(m *machine) { m.now = time.Unix(0, 0) },
			checkClock, Bad, "1970-01-01",
		},
		"a clock that was set back": {
			func(m *machine) { m.clusterMade = m.now.Add(time.Hour) },
			checkClock, Bad, "set back",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := healthy()
			test.change(&m)
			f := test.check(m)
			if f.State != test.state || !strings.Contains(f.What, test.want) {
				t.Errorf("got %q (%s), want something with %q (%s)", f.What, f.State.Mark(), test.want, test.state.Mark())
			}
			if (f.Fix == "") != (f.State == OK) {
				t.Errorf("fix of %q: %q", f.What, f.Fix)
			}
		})
	}
}
