package deploy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

// fakeKubectl knows only one Deployment, in that namespace.
func fakeKubectl(t *testing.T, namespace string) cluster.Kubectl {
	t.Helper()
	dir := testkit.Write(t, t.TempDir(), map[string]string{"kubectl": "#!/bin/sh\n" +
		"case \"$*\" in *\"--namespace " + namespace + " \"*) echo deployment/a;; esac\n"})
	binary := filepath.Join(dir, "kubectl")
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	return cluster.Kubectl{Binary: binary}
}

func TestWhatPreventsADeployment(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{
		"01-raw-watch/manifests/crd.yaml":                 "",
		"05-controller-runtime/manifests/deployment.yaml": "",
		"06-kubebuilder/PROJECT":                          "",
		"07-tdset-operator/PROJECT":                       "",

		"05-controller-runtime/exercises/5-tdset/manifests/deployment.yaml": "",
	})
	for sentence, test := range map[string]struct {
		chapter string
		tdset   bool
		running string // the namespace of the running Deployment
		want    string // the problem and its fix; "": none
	}{
		"a chapter without manifests":                        {chapter: "01-raw-watch", want: "has no manifests to run its program in a cluster: workshop run 01"},
		"another chapter's controller of Foos":               {chapter: "06-kubebuilder", running: "foo-system", want: "another controller for Foos is already running: deploy 05 --remove"},
		"a kubebuilder project's controller of Foos":         {chapter: "05-controller-runtime", running: "foo-operator-system", want: "another controller for Foos is already running: deploy 06 --remove"},
		"another chapter's controller in the same namespace": {chapter: "05-controller-runtime", running: "foo-system"},
		"a controller of Foos, and a chapter about TDSets":   {chapter: "07-tdset-operator", running: "foo-system"},
		"chapter 07, and a solved TDSet":                     {chapter: "07-tdset-operator", running: "tdset-system", want: "another controller for TDSets is already running: deploy 05 --tdset --remove"},
		"a solved TDSet, and a controller of Foos":           {chapter: "05-controller-runtime", tdset: true, running: "foo-system"},
	} {
		t.Run(sentence, func(t *testing.T) {
			chapter := chapters.Chapter{Name: test.chapter, Dir: filepath.Join(root, test.chapter)}
			if test.tdset {
				chapter, _ = chapter.TDSet()
			}
			d := Deployment{Chapter: chapter, Kubectl: fakeKubectl(t, test.running)}
			err := errors.Join(d.checkChapter(), CheckAlone(t.Context(), d.Kubectl, chapter.Kind(), d.target().namespace))
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			what, fix, _ := strings.Cut(test.want, ": ")
			var p *problem.Problem
			if !errors.As(err, &p) || !strings.Contains(p.What, what) || !strings.Contains(p.Fix, fix) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// The first requests fail, because the Service has no endpoints yet.
func TestWebhooksAnswerRetries(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{
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
		Kubectl: cluster.Kubectl{Binary: binary},
	}
	if err := d.webhooksAnswer(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(binary + ".later"); err != nil {
		t.Error("kubectl was called once, want a retry")
	}
	if asked, err := os.ReadFile(binary + ".asked"); err != nil || !strings.Contains(string(asked), `"namespace":"default"`) {
		t.Errorf("kubectl got %s, error %v, want namespace default", asked, err)
	}
}
