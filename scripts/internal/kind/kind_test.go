package kind

// Tests without docker: scripts replace it and kind, and record their commands.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

// with returns a cluster where scripts, which are alone in PATH, answer as docker would and kind,
// which go seems to build. They share the folder $SHARED. asked returns their commands.
func with(t *testing.T, docker, kind string) (c *Cluster, asked func() []string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "é, b") // has to be quoted in kind's configuration
	testkit.Write(t, root, map[string]string{"scripts/go.mod": "", ".workshop/bin/workshop": ""})
	const script, record = "#!/bin/sh\n", "echo \"${0##*/} $*\" >>\"$SHARED/record\"\n"
	shared := testkit.Write(t, t.TempDir(), map[string]string{
		"docker": script + record + docker + "\n",
		"kind":   script + record + kind + "\n",
		"go":     script + "while [ $1 != -o ]; do shift; done\n[ $3 = sigs.k8s.io/kind ] && exec /bin/cp \"$SHARED/kind\" \"$2\"\n",
	})
	for _, name := range []string{"docker", "kind", "go"} {
		if err := os.Chmod(filepath.Join(shared, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", shared)
	t.Setenv("SHARED", shared)
	t.Setenv("ROOT", root)
	return New(root, "mine"), func() []string {
		content, _ := os.ReadFile(filepath.Join(shared, "record"))
		return strings.Split(strings.TrimSpace(string(content)), "\n")
	}
}

// ours is the cluster's folder that is mounted into its node, in a single-quoted string of a script.
const ours = `'"$ROOT"'/.workshop/kind/mine/audit`

// withNode is a docker that has such a container, "ID STATE IMAGE" ("" for none), into which that
// folder is mounted.
func withNode(node, folder string) string {
	inspect := "echo 'Error: No such container' >&2; exit 1"
	if fields := append(strings.Fields(node), ""); node != "" {
		inspect = fmt.Sprintf(`echo '{"Id":%q,"State":{"Running":%v},"Config":{"Image":%q},"HostConfig":{"Binds":["%s:/x"]}}'`,
			fields[0], fields[1] == "running", fields[2], folder)
	}
	return `echo "WARNING: Error loading config file" >&2
case "$1 $2" in
"info "*) echo '{"OSType":"linux"}';;
"container inspect") ` + inspect + `;;
"image inspect") exit 1;;
esac`
}

// withKind is a docker where kind creates the node, as the file "node" in $SHARED. The node runs when
// docker is asked for it the third time, and can't be removed before.
const withKind = `case "$1 $2" in
"info "*) echo '{}';;
"container inspect")
	[ -e "$SHARED/node" ] || { echo 'Error: No such container' >&2; exit 1; }
	running=false
	[ -e "$SHARED/again" ] && running=true && >"$SHARED/running"
	[ -e "$SHARED/asked" ] && >"$SHARED/again"
	>"$SHARED/asked"
	echo '{"Id":"abc","State":{"Running":'$running'},"HostConfig":{"Binds":["` + ours + `:/x"]}}';;
"rm "*)
	[ -e "$SHARED/running" ] || { echo 'Error: it is being created' >&2; exit 1; }
	/bin/rm "$SHARED/node";;
esac`

func TestDefaultImage(t *testing.T) {
	if DefaultImage != defaults.Image {
		t.Errorf("the kind in go.mod has %s", defaults.Image)
	}
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
			c, _ := with(t, test.docker, "")
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

// An image that can't be pulled is reported with docker's message, and nothing is left.
func TestAnImageThatCantBeHad(t *testing.T) {
	c, _ := with(t, withNode("", "")+"\n[ $1 = pull ] && { echo 'dial tcp: lookup registry.example.com: no such host' >&2; exit 1; } || true", "")
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
	c, _ := with(t, withNode("", "")+"\n[ $1 = pull ] && exec /bin/sleep 600 || true", "")
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := c.Up(ctx, cluster.UpOptions{Progress: func(doing string) {
		if strings.Contains(doing, "pulling") {
			interrupt()
		}
	}})
	if !errors.Is(err, context.Canceled) || c.Begun() {
		t.Errorf("error %v, begun: %v", err, c.Begun())
	}
}

// A creation that was interrupted by force is cleaned up first.
func TestCreate(t *testing.T) {
	c, asked := with(t, withKind, `/bin/cat >"$SHARED/config"; >"$SHARED/node"
printf ' • Preparing nodes 📦  ...\n ✓ Preparing nodes 📦 \n' >&2`)
	shared := os.Getenv("SHARED")
	testkit.Write(t, shared, map[string]string{"node": "", "running": ""})
	testkit.Write(t, c.dir, map[string]string{"made": "", "kubeconfig.lock": ""})
	var shown []string
	outcome, err := c.bringUp(t.Context(), func(doing string) { shown = append(shown, doing) })
	if err != nil || outcome != cluster.Created || !c.Exists() {
		t.Fatalf("outcome %q, error %v, exists: %v", outcome, err, c.Exists())
	}
	all := asked()
	removed := slices.Index(all, "docker rm --force --volumes abc")
	created := slices.Index(all, "kind create cluster --config - --image "+DefaultImage+" --kubeconfig "+c.Kubeconfig()+" --retain --name operators-mine")
	if removed < 0 || created < removed {
		t.Errorf("got commands %q", all)
	}
	if want := []string{"pulling the node image", "kind: creating the cluster", "kind: preparing nodes"}; !slices.Equal(shown, want) {
		t.Errorf("shown: %q, want %q", shown, want)
	}
	if log, err := os.ReadFile(filepath.Join(c.logs(), "kind.log")); err != nil || !strings.Contains(string(log), " ✓ Preparing nodes") {
		t.Errorf("the log has %q, error %v", log, err)
	}
	var config map[string]any
	content, err := os.ReadFile(filepath.Join(shared, "config"))
	if err = errors.Join(err, yaml.Unmarshal(content, &config)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hostPath:" + c.auditPolicy() + " ", "hostPath:" + filepath.Dir(c.AuditLog()) + "]", kubeadmPatch} {
		if got := fmt.Sprint(config); !strings.Contains(got, want) {
			t.Errorf("kind's configuration is %s, want %s", got, want)
		}
	}
	if info, err := os.Stat(c.AuditLog()); err != nil || info.Mode() != 0o600 {
		t.Errorf("the audit log: %v, error %v", info, err)
	}
}

func TestKindFails(t *testing.T) {
	for printed, want := range map[string]string{
		"Failed to create control group inotify object: Too many open files; too many open files":          "this machine's limit of watched files (inotify) is too low",
		`could not find a log line that matches "Reached target .*Multi-User System.*|detected cgroup v1"`: "the node didn't start",
		"write /var/lib/docker: no space left on device":                                                   "the disk is full",
		"something new": `kind couldn't create the cluster "operators-mine"`,
	} {
		c, asked := with(t, withKind, `[ $1 = create ] || exit 0
>"$SHARED/node"; >"$SHARED/running"
printf 'ERROR: failed to create cluster\n\nCommand Output: a\n%s\n' '`+printed+`' >&2; exit 1`)
		_, err := c.bringUp(t.Context(), func(string) {})
		var p *problem.Problem
		if !errors.As(err, &p) || !strings.HasPrefix(p.What, want) || p.Err.Error() != "failed to create cluster" || p.Fix == "" || p.Log != c.logs() {
			t.Errorf("%s:\ngot %+v\nwant %q, kind's message, a fix and the log", printed, p, want)
		}
		if log, err := os.ReadFile(filepath.Join(c.logs(), "kind.log")); err != nil || !strings.Contains(string(log), printed) {
			t.Errorf("the log has %q, error %v", log, err)
		}
		all := asked()
		logs, removed := slices.Index(all, "kind export logs "+c.logs()+" --name operators-mine"), slices.Index(all, "docker rm --force --volumes abc")
		if logs < 0 || removed < logs || c.Begun() {
			t.Errorf("got commands %q, want the node's logs exported, and then the node removed", all)
		}
	}
}

// kind is killed when its node can be removed.
func TestAnInterruptWhileKindWorks(t *testing.T) {
	c, asked := with(t, withKind, `>"$SHARED/node"; echo ' • Preparing nodes 📦  ...' >&2; exec /bin/sleep 600`)
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := c.bringUp(ctx, func(doing string) {
		if doing == "kind: preparing nodes" {
			interrupt()
		}
	})
	if !errors.Is(err, context.Canceled) || c.Begun() {
		t.Errorf("error %v, begun: %v", err, c.Begun())
	}
	if all := asked(); all[len(all)-1] != "docker rm --force --volumes abc" {
		t.Errorf("got commands %q, want the node removed", all)
	}
}

func TestLoad(t *testing.T) {
	c, asked := with(t, "", "")
	if err := c.Load(t.Context(), "app:1", "nginx"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"kind load docker-image app:1 --name operators-mine",
		"docker exec operators-mine-control-plane ctr --namespace=k8s.io images tag --force docker.io/library/app:1 docker.io/library/nginx:latest",
	}
	if got := asked(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c, _ = with(t, "", `echo 'ERROR: no nodes found for cluster "operators-mine"' >&2; exit 1`)
	var p *problem.Problem
	if err := c.Load(t.Context(), "app:1"); !errors.As(err, &p) || p.What != "the cluster has no node" || p.Fix == "" {
		t.Errorf("got %v", err)
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
			folder := ours
			if test.elsewhere {
				folder = "/elsewhere"
			}
			c, asked := with(t, withNode(test.node, folder), "")
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
			removed := slices.Contains(asked(), "docker rm --force --volumes abc")
			if removed != (test.wantEnded > 0) {
				t.Errorf("got commands %q", asked())
			}
			if c.Begun() {
				t.Error("the cluster still counts as created")
			}
		})
	}
}

func TestQualifiedNames(t *testing.T) {
	for image, want := range map[string]string{
		"nginx":                   "docker.io/library/nginx:latest",
		"nginx:1.29":              "docker.io/library/nginx:1.29",
		"me/app":                  "docker.io/me/app:latest",
		"example.com/app:2":       "example.com/app:2",
		"localhost:5000/app/a:b1": "localhost:5000/app/a:b1",
		"localhost/app@sha256:ab": "localhost/app:latest",
	} {
		if got := qualified(image); got != want {
			t.Errorf("%s: got %s, want %s", image, got, want)
		}
	}
}

// A request for another Kubernetes than the cluster has must fail.
func TestTheImageOfAClusterThatExists(t *testing.T) {
	for asked, want := range map[string]bool{
		"kindest/node:v1":                     true,
		"docker.io/kindest/node:v1@sha256:ab": true,
		"kindest/node:v2":                     false,
	} {
		c, _ := with(t, withNode("abc exited kindest/node:v1", "/elsewhere"), "")
		c.Image = asked
		testkit.Write(t, c.dir, map[string]string{"made": "abc"})
		outcome, err := c.bringUp(t.Context(), func(string) {})
		if (err == nil) != want || want && outcome != cluster.Started {
			t.Errorf("%s: outcome %q, error %v", asked, outcome, err)
		}
	}
}

func TestBuildStaticWhereGitRefuses(t *testing.T) {
	dir := testkit.Write(t, t.TempDir(), map[string]string{"go.mod": "module a\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"})
	testkit.RefuseGit(t, dir)
	if err := BuildStatic(t.Context(), dir, filepath.Join(t.TempDir(), "a"), nil, "."); err != nil {
		t.Error(err)
	}
}
