package doctor

// Each check looks at one thing, and describes it in one sentence.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"path/filepath"
	"strings"
	"time"

	k8sversion "k8s.io/apimachinery/pkg/util/version"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
)

const gib = 1 << 30

func checkGo(m machine) Finding {
	const fix = "install it from https://go.dev/dl/"
	switch got := m.goEnv["GOVERSION"]; {
	case m.goEnv != nil && m.unpacked && strings.HasPrefix(m.goEnv["GOROOT"], m.root+"/.workshop/"):
		return ok("Go is " + got + ", from the archive that this folder came from")
	case m.goEnv == nil && strings.Contains(m.goError, "executable file not found"):
		return bad("there is no go command in PATH", fix)
	case m.goEnv == nil:
		return bad("the go command fails: "+m.goError, fix)
	case version.Compare(got, "go"+m.goNeeded) >= 0:
		return ok(fmt.Sprintf("Go is %s (%s or newer is needed)", got, m.goNeeded))
	case m.env("GOTOOLCHAIN") == "local" || m.goEnv["GOPROXY"] == "off":
		return bad(fmt.Sprintf("Go is %s, but %s is needed, and Go isn't allowed to download it", got, m.goNeeded), fix)
	default:
		return warn(fmt.Sprintf("Go is %s, and will download %s, which is needed", got, m.goNeeded), "without a network: "+fix)
	}
}

// checkTool checks for a program that only a part of the course needs.
func checkTool(name, without string) func(machine) Finding {
	return func(m machine) Finding {
		if m.has(name) {
			return ok(name + " is installed")
		}
		return warn(fmt.Sprintf("there is no %s command: %s", name, without), "install "+name)
	}
}

// oldestKubectl is the oldest that can run every command in the READMEs.
const oldestKubectl = "1.31"

func checkKubectl(m machine) Finding {
	var says struct{ ClientVersion struct{ GitVersion string } }
	_ = json.Unmarshal([]byte(m.kubectl), &says) // checked below
	got, err := k8sversion.ParseSemantic(says.ClientVersion.GitVersion)
	fix := fmt.Sprintf(`once the cluster is up, put the workshop's kubectl before it: export PATH="%s:$PATH"`, filepath.Join(m.root, ".workshop", "bin"))
	switch {
	case !m.has("kubectl"):
		return ok("kubectl isn't installed, but the workshop has its own (workshop env)")
	case err != nil:
		return warn("kubectl doesn't report its version", fix)
	case got.LessThan(k8sversion.MustParseGeneric(oldestKubectl)):
		return warn(fmt.Sprintf("kubectl is %s, but the READMEs' commands need %s or newer", says.ClientVersion.GitVersion, oldestKubectl), fix)
	}
	return ok("kubectl is " + says.ClientVersion.GitVersion)
}

func checkCompiler(m machine) Finding {
	cc, _, _ := strings.Cut(m.goEnv["CC"], " ")
	if m.has(cmp.Or(cc, "cc")) {
		return ok("a C compiler is installed, for the race detector")
	}
	return warn("there is no C compiler, so tests run without the race detector; everything else works", "install gcc or clang")
}

func checkFolder(m machine) Finding {
	if m.writable != nil {
		return bad(fmt.Sprintf("can't write to %s/.workshop: %v", m.root, m.writable), "copy the repository to a folder that you can write to")
	}
	return ok(m.root + "/.workshop can be written to")
}

func checkPath(m machine) Finding {
	return fromError(cluster.CheckPath(m.root), "the repository's path is fine")
}

func checkDisk(m machine) Finding {
	return fromError(m.disks, "there is enough free disk space")
}

func checkMemory(m machine) Finding {
	what := fmt.Sprintf("%.1f GiB of memory are available", float64(m.memory)/gib)
	const fix = "close other programs: a cluster takes 0.6 GiB, building the control plane up to 2 GiB"
	switch {
	case m.memory >= 2*gib, m.clusterUp && m.memory >= gib:
		return ok(what)
	case m.memory >= gib:
		return warn(what+", 2 are recommended", fix)
	default:
		return bad(what+", 2 are needed", fix)
	}
}

func checkFlags(m machine) Finding {
	flags := m.goEnv["GOFLAGS"]
	for _, breaks := range []string{"-mod=vendor", "-mod=mod", "-modfile"} {
		if strings.Contains(flags, breaks) {
			return bad(fmt.Sprintf("GOFLAGS is %q, but go rejects %s in the workspace that the chapters are in", flags, breaks), "unset GOFLAGS; go env -u GOFLAGS")
		}
	}
	return ok("GOFLAGS is fine")
}

func checkProxy(m machine) Finding {
	proxy := m.goEnv["GOPROXY"]
	switch {
	case m.unpacked && strings.HasSuffix(proxy, "/.workshop/proxy"):
		return ok("Go takes modules from the archive that this folder came from, so it needs no network")
	case proxy != "off":
		return ok("Go can download modules (GOPROXY=" + proxy + ")")
	case m.built:
		return warn("GOPROXY is off, so Go can't download modules that it doesn't have yet", "unset GOPROXY; go env -u GOPROXY")
	default:
		return bad("GOPROXY is off, and the control plane isn't built yet, so Go can't download its modules", "unset GOPROXY; go env -u GOPROXY")
	}
}

func checkWorkspace(m machine) Finding {
	if m.goEnv["GOWORK"] == "off" {
		return warn("GOWORK is off, so \"go run ./01-raw-watch\" doesn't work at the root", "unset GOWORK, or go into a chapter's folder first")
	}
	return ok("go.work is used")
}

func checkHTTPProxy(m machine) Finding {
	either := func(name string) string { return cmp.Or(m.env(name), m.env(strings.ToLower(name))) }
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		if either(name) != "" && !strings.Contains(either("NO_PROXY"), "127.0.0.1") {
			return warn(name+" is set, and NO_PROXY doesn't include 127.0.0.1, so curl sends the cluster's requests to the proxy (Go programs don't)", "export NO_PROXY=127.0.0.1,localhost")
		}
	}
	return ok("no HTTP proxy gets in the way")
}

func checkPorts(m machine) Finding {
	return fromError(m.ports, "no other program uses the cluster's ports")
}

func checkStrays(m machine) Finding {
	if len(m.strays) == 0 {
		return ok("no processes are left from deleted clusters")
	}
	return warn(fmt.Sprintf("processes are left from a cluster whose folder was deleted (pids %v)", m.strays), "./scripts/workshop down --purge")
}

func checkClock(m machine) Finding {
	const fix = "set the clock"
	switch {
	case m.now.Year() < 2026:
		return bad(fmt.Sprintf("the clock says %s, so the module proxy's certificates aren't valid yet", m.now.Format(time.DateOnly)), fix)
	case m.clusterMade.After(m.now.Add(time.Minute)):
		return bad("the clock was set back since the cluster was created, so the cluster's certificates aren't valid yet", fix+", or make a new cluster: ./scripts/workshop down --purge")
	default:
		return ok("the clock is plausible")
	}
}

// fromError returns a finding for another package's check.
func fromError(err error, good string) Finding {
	if err == nil {
		return ok(good)
	}
	p := &problem.Problem{}
	_ = errors.As(err, &p) // another error has no fix
	return bad(err.Error(), p.Fix)
}
