package kind

// Tests without docker: a script replaces it, and records its commands.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testfiles"
)

// aDocker puts a script alone into PATH that answers as docker would. It returns a function that
// returns docker's commands.
func aDocker(t *testing.T, script string) (asked func() []string) {
	t.Helper()
	dir := t.TempDir()
	record := filepath.Join(dir, "record")
	content := "#!/bin/sh\necho \"$*\" >>'" + record + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return func() []string {
		content, _ := os.ReadFile(record)
		return strings.Fields(strings.ReplaceAll(string(content), " ", "_"))
	}
}

// withNode is a docker that has such a container, "ID STATE IMAGE" ("" for none), into which that
// folder is mounted.
func withNode(node, folder string) string {
	inspect := "echo 'Error: No such container' >&2; exit 1"
	if fields := append(strings.Fields(node), ""); node != "" {
		inspect = fmt.Sprintf(`echo '{"Id":%q,"State":{"Running":%v},"Config":{"Image":%q},"HostConfig":{"Binds":[%q]}}'`,
			fields[0], fields[1] == "running", fields[2], folder+":/var/log/kubernetes-audit")
	}
	return `echo "WARNING: Error loading config file" >&2
case "$1 $2" in
"info "*) echo '{"CgroupVersion":"2","OSType":"linux"}';;
"container inspect") ` + inspect + `;;
"image inspect") exit 1;;
esac`
}

func TestWhatPreventsUp(t *testing.T) {
	for sentence, test := range map[string]struct{ docker, want string }{
		"docker isn't running": {
			"echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >&2; exit 1",
			"docker isn't running",
		},
		"docker isn't running but an old version exits with 0": {
			`echo '{"ServerErrors":["Cannot connect to the Docker daemon at unix:///x"]}'`,
			"docker isn't running",
		},
		"the user may not use docker": {
			"echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1",
			"you may not use docker",
		},
		"somebody else's cluster has the name": {
			withNode("abc running", "/elsewhere"),
			`there is a kind cluster named "operators-mine", which wasn't created in this folder`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			aDocker(t, test.docker)
			c := New(t.TempDir(), "mine")
			_, err := c.Up(t.Context(), cluster.UpOptions{})
			var p *problem.Problem
			if !errors.As(err, &p) || p.What != test.want || p.Fix == "" {
				t.Errorf("got %v, want %q and its fix", err, test.want)
			}
			if c.Begun() {
				t.Error("the cluster counts as created")
			}
		})
	}
}

func TestWithoutDocker(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := New(t.TempDir(), "mine").Up(t.Context(), cluster.UpOptions{})
	var p *problem.Problem
	if want := "there is no docker command, which kind needs"; !errors.As(err, &p) || p.What != want || p.Fix == "" {
		t.Errorf("got %v, want %q and its fix", err, want)
	}
}

func TestKindErrorsAreExplained(t *testing.T) {
	for said, want := range map[string]string{
		"Failed to create control group inotify object: Too many open files; too many open files":          "this machine's limit of watched files (inotify) is too low",
		`could not find a log line that matches "Reached target .*Multi-User System.*|detected cgroup v1"`: "the node didn't start",
		"write /var/lib/docker: no space left on device":                                                   "the disk is full",
		"something new": `kind couldn't make the cluster`,
	} {
		err := explain(errors.New(said), "kind couldn't make the cluster", "/the/log")
		var p *problem.Problem
		if !errors.As(err, &p) || !strings.Contains(p.What, want) || p.Fix == "" || p.Log != "/the/log" {
			t.Errorf("%s:\ngot %+v\nwant %q, a fix and the log", said, p, want)
		}
	}
}

// An image that can't be pulled is reported with docker's message, and nothing is left.
func TestAnImageThatCantBeHad(t *testing.T) {
	aDocker(t, withNode("", "")+"\n[ $1 = pull ] && { echo 'dial tcp: lookup registry.example.com: no such host' >&2; exit 1; } || true")
	c := New(t.TempDir(), "mine")
	c.Image = "registry.example.com/node:v1"
	_, err := c.Up(t.Context(), cluster.UpOptions{})
	var p *problem.Problem
	if want := "the node image registry.example.com/node:v1 can't be pulled"; !errors.As(err, &p) || p.What != want || !strings.Contains(err.Error(), "no such host") {
		t.Errorf("got %v, want %q and docker's reason", err, want)
	}
	if c.Begun() {
		t.Error("its creation counts as begun")
	}
}

// Pulling an image takes minutes, so it must be possible to interrupt it.
func TestAPullIsInterrupted(t *testing.T) {
	aDocker(t, withNode("", "")+"\n[ $1 = pull ] && exec /bin/sleep 600 || true")
	ctx, interrupt := context.WithCancel(t.Context())
	c := New(t.TempDir(), "mine")
	_, err := c.Up(ctx, cluster.UpOptions{Progress: func(doing string) {
		if strings.Contains(doing, "pulling") {
			interrupt()
		}
	}})
	if !errors.Is(err, context.Canceled) || c.Begun() {
		t.Errorf("error %v, begun: %v", err, c.Begun())
	}
}

// Down deletes nothing but what Up made.
func TestDownLeavesOthersAlone(t *testing.T) {
	for sentence, test := range map[string]struct {
		made      string // the id in our record; "-": there is none
		node      string
		elsewhere bool // the folder that is mounted into it is another workshop's
		wantEnded int
	}{
		"it was never made here":                            {"-", "abc running", true, 0},
		"ours is gone, and somebody else's has its name":    {"def", "abc running", true, 0},
		"ours is gone":                                      {"abc", "", false, 0},
		"ours runs":                                         {"abc", "abc running", false, 1},
		"ours runs, and this folder was moved":              {"abc", "abc running", true, 1},
		"ours is stopped":                                   {"abc", "abc exited", false, 1},
		"ours was begun and not finished":                   {"", "abc running", false, 1},
		"ours was begun, and another was made instead":      {"", "abc running", true, 0},
		"ours was begun, and its container is gone already": {"", "", false, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := New(t.TempDir(), "mine")
			folder := filepath.Dir(c.AuditLog())
			if test.elsewhere {
				folder = "/elsewhere"
			}
			asked := aDocker(t, withNode(test.node, folder))
			if test.made != "-" {
				if err := os.MkdirAll(c.dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(c.madeFile(), []byte(test.made), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ended, err := c.Down(t.Context(), false, nil)
			if err != nil || ended != test.wantEnded {
				t.Errorf("ended %d, error %v", ended, err)
			}
			removed := slices.Contains(asked(), "rm_--force_--volumes_abc")
			if removed != (test.wantEnded > 0) {
				t.Errorf("got docker commands %q", asked())
			}
			if c.Begun() {
				t.Error("the cluster still counts as created")
			}
		})
	}
}

func TestExists(t *testing.T) {
	c := New(t.TempDir(), "mine")
	if c.Exists() {
		t.Error("the cluster exists before it is created")
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]bool{"": false, "abc": true} {
		if err := os.WriteFile(c.madeFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.Exists() != want {
			t.Errorf("with the record %q: %v", content, !want)
		}
	}
	if serves, err := New(t.TempDir(), "other").Serves(t.Context()); serves || err != nil {
		t.Errorf("a cluster that was never created serves: %v, error %v", serves, err)
	}
}

func TestOldCgroupsArePatchedFor(t *testing.T) {
	for version, want := range map[string]bool{"1": true, "2": false} {
		config, err := New(t.TempDir(), "mine").config(engine{CgroupVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(config.KubeadmConfigPatches, oldCgroups); got != want {
			t.Errorf("cgroups %s: got a patch: %v", version, got)
		}
	}
}

func TestQualifiedNames(t *testing.T) {
	for image, want := range map[string]string{
		"nginx":                   "docker.io/library/nginx:latest",
		"nginx:1.29":              "docker.io/library/nginx:1.29",
		"me/app":                  "docker.io/me/app:latest",
		"example.com/app:2":       "example.com/app:2",
		"localhost:5000/app/a:b1": "localhost:5000/app/a:b1",
	} {
		if got, err := qualified(image); err != nil || got != want {
			t.Errorf("%s: got %s, error %v, want %s", image, got, err, want)
		}
	}
	if _, err := qualified("Not An Image"); err == nil {
		t.Error("an impossible name has no error")
	}
}

// A request for another Kubernetes than the cluster has must fail.
func TestTheImageOfAClusterThatExists(t *testing.T) {
	for asked, want := range map[string]bool{
		"kindest/node:v1":                     true,
		"docker.io/kindest/node:v1@sha256:ab": true,
		"kindest/node:v2":                     false,
		"Not An Image":                        false,
	} {
		aDocker(t, withNode("abc exited kindest/node:v1", "/elsewhere"))
		c := New(t.TempDir(), "mine")
		c.Image = asked
		testfiles.Write(t, c.dir, map[string]string{"made": "abc"})
		outcome, err := c.bringUp(t.Context(), func(string) {})
		if (err == nil) != want || want && outcome != cluster.Started {
			t.Errorf("%s: outcome %q, error %v", asked, outcome, err)
		}
	}
}

func TestStepsAreShownPlainly(t *testing.T) {
	var log strings.Builder
	var shown []string
	l := logger{w: &log, progress: func(step string) { shown = append(shown, step) }}
	l.V(0).Infof(" • %s  ...\n", "Preparing nodes 📦 📦 ")
	l.V(0).Infof(" ✓ %s\n", "Preparing nodes 📦 📦 ")
	l.V(3).Info("details")
	l.Warn("careful")
	if want := []string{"kind: preparing nodes"}; !slices.Equal(shown, want) {
		t.Errorf("got steps %q, want %q", shown, want)
	}
	if got := log.String(); !strings.Contains(got, "warning: careful") || strings.Contains(got, "details") {
		t.Errorf("the log has %q", got)
	}
}

func TestBuildStaticWhereGitRefuses(t *testing.T) {
	dir := testfiles.Write(t, t.TempDir(), map[string]string{"go.mod": "module a\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"})
	testfiles.RefuseGit(t, dir)
	if err := BuildStatic(t.Context(), dir, filepath.Join(t.TempDir(), "a"), nil, "."); err != nil {
		t.Error(err)
	}
}
