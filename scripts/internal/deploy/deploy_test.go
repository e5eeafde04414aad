package deploy

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testfiles"
)

// aKubectl answers as one would on a cluster where nothing runs, but for the Deployment in this namespace.
func aKubectl(t *testing.T, namespace string) kubectl.Kubectl {
	t.Helper()
	dir := testfiles.Write(t, t.TempDir(), map[string]string{"kubectl": "#!/bin/sh\n" +
		"case \"$*\" in *\"--namespace " + namespace + " \"*) printf image:1;; esac\n"})
	binary := filepath.Join(dir, "kubectl")
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	return kubectl.Kubectl{Binary: binary}
}

func TestWhatCantBeDeployed(t *testing.T) {
	root := testfiles.Write(t, t.TempDir(), map[string]string{
		"01-raw-watch/manifests/crd.yaml":                 "",
		"05-controller-runtime/manifests/deployment.yaml": "",
		"06-kubebuilder/PROJECT":                          "",
		"07-tdset-operator/PROJECT":                       "",
	})
	for sentence, test := range map[string]struct {
		chapter, running string
		helm             bool
		want             string // "": it can
	}{
		"a chapter without manifests for it":           {"01-raw-watch", "none", false, "has no manifests to run its program in a cluster"},
		"one whose objects another controller acts on": {"06-kubebuilder", "foo-system", false, "another chapter's controller acts on Foos already"},
		"the other way round":                          {"05-controller-runtime", "foo-operator-system", false, "another chapter's controller acts on Foos already"},
		"one that replaces another in the same place":  {"05-controller-runtime", "foo-system", false, ""},
		"one about other objects":                      {"07-tdset-operator", "foo-system", false, ""},
		"one without a chart, by Helm":                 {"06-kubebuilder", "none", true, "has no Helm chart"},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := Deployment{
				Root:    root,
				Chapter: chapters.Chapter{Name: test.chapter, Dir: filepath.Join(root, test.chapter)},
				Kubectl: aKubectl(t, test.running),
				Helm:    test.helm,
				Out:     io.Discard,
			}
			err := d.check(t.Context())
			var p *problem.Problem
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (!errors.As(err, &p) || !strings.Contains(p.What, test.want) || p.Mend == ""):
				t.Errorf("got %v, want %q and its mend", err, test.want)
			}
		})
	}
}

// The first answers come before the Service leads anywhere.
func TestTheWebhooksAreWaitedFor(t *testing.T) {
	root := testfiles.Write(t, t.TempDir(), map[string]string{
		"07-a/PROJECT":                    "",
		"07-a/config/samples/a_v1_b.yaml": "kind: TDSet\nmetadata: {name: a, namespace: temp}\n",
		"kubectl": "#!/bin/sh\ncat >\"$0.asked\"\n" +
			"if [ -e \"$0.later\" ]; then echo 'Error: that is refused' >&2; else touch \"$0.later\"; echo 'failed calling webhook: refused' >&2; fi\nexit 1\n",
	})
	binary := filepath.Join(root, "kubectl")
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	d := Deployment{
		Chapter: chapters.Chapter{Name: "07-a", Dir: filepath.Join(root, "07-a")},
		Kubectl: kubectl.Kubectl{Binary: binary},
	}
	if err := d.webhooksAnswer(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(binary + ".later"); err != nil {
		t.Error("it was asked once")
	}
	if asked, err := os.ReadFile(binary + ".asked"); err != nil || !strings.Contains(string(asked), `"namespace":"default"`) {
		t.Errorf("asked was %s, error %v", asked, err)
	}
}
