package kind

// Tests without docker: scripts replace it and kind, and record their commands.

import (
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

const removesNode = "docker rm --force --volumes operators-mine-control-plane"

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
		"go": script + "while [ $1 != -o ]; do shift; done\n" +
			"[ $3 = sigs.k8s.io/kind ] && exec /bin/cp \"$SHARED/kind\" \"$2\"\n",
	})
	for _, name := range []string{"docker", "kind", "go"} {
		if err := os.Chmod(filepath.Join(shared, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", shared)
	t.Setenv("SHARED", shared)
	return New(root, "mine"), func() []string {
		content, _ := os.ReadFile(filepath.Join(shared, "record"))
		return strings.Split(strings.TrimSpace(string(content)), "\n")
	}
}

// withNode is a docker that has the node, which runs, while there is a file "node" in $SHARED.
const withNode = `case "$1 $2" in
"container inspect") [ -e "$SHARED/node" ] && echo true || { echo 'Error: No such container' >&2; exit 1; };;
"rm "*) /bin/rm "$SHARED/node";;
esac`

func TestDefaultImage(t *testing.T) {
	if DefaultImage != defaults.Image {
		t.Errorf("the kind in go.mod has %s", defaults.Image)
	}
}

func TestWhatPreventsUp(t *testing.T) {
	for want, docker := range map[string]string{
		"docker isn't running":       "echo 'Cannot connect to the Docker daemon' >&2; exit 1",
		"there is no docker command": "", // see below
		`there is a kind cluster named "operators-mine", which wasn't created in this folder`: "echo true",
	} {
		t.Run(want, func(t *testing.T) {
			c, _ := with(t, docker, "")
			if docker == "" {
				t.Setenv("PATH", t.TempDir())
			}
			_, err := c.Up(t.Context(), func(string) {})
			var p *problem.Problem
			if !errors.As(err, &p) || !strings.Contains(p.What, want) || p.Fix == "" {
				t.Errorf("got %v, want %q and its fix", err, want)
			}
			if c.Begun() {
				t.Error("the cluster counts as created")
			}
		})
	}
}

// A creation that was interrupted is cleaned up first.
func TestCreate(t *testing.T) {
	c, asked := with(t, withNode, `/bin/cat >"$SHARED/config"; >"$SHARED/node"
printf ' • Preparing nodes 📦  ...\n' >&2`)
	shared := os.Getenv("SHARED")
	testkit.Write(t, shared, map[string]string{"node": ""})
	testkit.Write(t, c.dir, map[string]string{"audit-policy.yaml": ""})
	var shown []string
	outcome, err := c.bringUp(t.Context(), func(doing string) { shown = append(shown, doing) })
	if err != nil || outcome != cluster.Created {
		t.Fatalf("outcome %q, error %v", outcome, err)
	}
	all := asked()
	removed := slices.Index(all, removesNode)
	created := slices.Index(all, "kind create cluster --config - --image "+DefaultImage+
		" --kubeconfig "+c.Kubeconfig()+" --name operators-mine")
	if removed < 0 || created < removed {
		t.Errorf("got commands %q", all)
	}
	if want := []string{"kind: creating the cluster"}; !slices.Equal(shown, want) {
		t.Errorf("shown: %q, want %q", shown, want)
	}
	var config map[string]any
	content, err := os.ReadFile(filepath.Join(shared, "config"))
	if err = errors.Join(err, yaml.Unmarshal(content, &config)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"hostPath:" + c.auditPolicy() + " ", "hostPath:" + filepath.Dir(c.AuditLog()) + "]", kubeadmPatch,
	} {
		if got := fmt.Sprint(config); !strings.Contains(got, want) {
			t.Errorf("kind's configuration is %s, want %s", got, want)
		}
	}
	if info, err := os.Stat(c.AuditLog()); err != nil || info.Mode() != 0o600 {
		t.Errorf("the audit log: %v, error %v", info, err)
	}
}

func TestKindFails(t *testing.T) {
	const printed = `could not find a log line that matches "Reached target .*Multi-User System.*"`
	c, asked := with(t, withNode, `>"$SHARED/node"
printf 'ERROR: failed to create cluster\n%s\n' '`+printed+`' >&2; exit 1`)
	_, err := c.bringUp(t.Context(), func(string) {})
	var p *problem.Problem
	if !errors.As(err, &p) || !strings.Contains(p.What, "the node didn't start") ||
		p.Err.Error() != "failed to create cluster" {
		t.Fatalf("got %+v, want the cause and kind's message", p)
	}
	if log, err := os.ReadFile(p.Log); err != nil || !strings.Contains(string(log), printed) {
		t.Errorf("the log has %q, error %v", log, err)
	}
	if !slices.Contains(asked(), removesNode) || c.Begun() {
		t.Errorf("got commands %q, want the node removed", asked())
	}
}

// Down deletes nothing that wasn't made here.
func TestDown(t *testing.T) {
	for sentence, test := range map[string]struct {
		begun, node bool
		wantEnded   int
	}{
		"it was never made here":                 {begun: false, node: true},
		"it runs":                                {begun: true, node: true, wantEnded: 1},
		"somebody has removed it with docker rm": {begun: true, node: false},
	} {
		t.Run(sentence, func(t *testing.T) {
			c, asked := with(t, withNode, "")
			if test.begun {
				testkit.Write(t, c.dir, map[string]string{"kubeconfig": ""})
			}
			if test.node {
				testkit.Write(t, os.Getenv("SHARED"), map[string]string{"node": ""})
			}
			ended, err := c.Down(t.Context(), false, nil)
			if err != nil || ended != test.wantEnded || c.Begun() {
				t.Errorf("ended %d, error %v, begun: %v", ended, err, c.Begun())
			}
			if removed := slices.Contains(asked(), removesNode); removed != (test.wantEnded > 0) {
				t.Errorf("got commands %q", asked())
			}
		})
	}
}
