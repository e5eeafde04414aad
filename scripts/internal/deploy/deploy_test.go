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
	"example.com/operators/scripts/internal/testkit"
)

// fakeKubectl knows only one Deployment, in that namespace and installed by that manager.
func fakeKubectl(t *testing.T, namespace, manager string) kubectl.Kubectl {
	t.Helper()
	dir := testkit.Write(t, t.TempDir(), map[string]string{"kubectl": "#!/bin/sh\n" +
		"case \"$*\" in *\"--namespace " + namespace + " \"*) printf 'image:1 " + manager + "';; esac\n"})
	binary := filepath.Join(dir, "kubectl")
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	return kubectl.Kubectl{Binary: binary}
}

func TestChecksBeforeADeployment(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{
		"01-raw-watch/manifests/crd.yaml":                 "",
		"05-controller-runtime/manifests/deployment.yaml": "",

		"05-controller-runtime/exercises/5-tdset/manifests/deployment.yaml": "",
		"06-kubebuilder/PROJECT":                  "",
		"07-tdset-operator/PROJECT":               "",
		"07-tdset-operator/dist/chart/Chart.yaml": "",
	})
	const inTheWay = "another controller for Foos is already running"
	const anotherTDSet = "another controller for TDSets is already running"
	for sentence, test := range map[string]struct {
		chapter          string
		helm, tdset      bool
		running, manager string // the namespace and manager of the running Deployment
		want             string // "": no error
		wantRemoved      string // the same for Remove
	}{
		"a chapter without manifests": {
			chapter: "01-raw-watch", want: "has no manifests to run its program in a cluster", wantRemoved: "has no manifests to run its program in a cluster",
		},
		"another chapter's controller of Foos runs":          {chapter: "06-kubebuilder", running: "foo-system", want: inTheWay},
		"a kubebuilder project's controller of Foos runs":    {chapter: "05-controller-runtime", running: "foo-operator-system", want: inTheWay},
		"another chapter's controller in the same namespace": {chapter: "05-controller-runtime", running: "foo-system"},
		"a controller of Foos, and a chapter about TDSets":   {chapter: "07-tdset-operator", running: "foo-system"},
		"a chapter without a chart, with --helm": {
			chapter: "06-kubebuilder", helm: true, want: "has no Helm chart", wantRemoved: "has no Helm chart",
		},
		"installed with --helm, without it now": {
			chapter: "07-tdset-operator", running: "tdset-operator-system", manager: "Helm",
			want: "was installed with --helm", wantRemoved: "was installed with --helm",
		},
		"installed without --helm, with it now": {
			chapter: "07-tdset-operator", helm: true, running: "tdset-operator-system", manager: "kustomize",
			want: "was installed without --helm", wantRemoved: "was installed without --helm",
		},
		"chapter 07, and a solved TDSet runs":              {chapter: "07-tdset-operator", running: "tdset-system", want: anotherTDSet},
		"a solved TDSet, and chapter 07's controller runs": {chapter: "05-controller-runtime", tdset: true, running: "tdset-operator-system", want: anotherTDSet},
		"a solved TDSet, and a controller of Foos runs":    {chapter: "05-controller-runtime", tdset: true, running: "foo-system"},
		"installed with --helm, with it now":               {chapter: "07-tdset-operator", helm: true, running: "tdset-operator-system", manager: "Helm"},
	} {
		t.Run(sentence, func(t *testing.T) {
			chapter := chapters.Chapter{Name: test.chapter, Dir: filepath.Join(root, test.chapter)}
			if test.tdset {
				chapter, _ = chapter.TDSet()
			}
			d := Deployment{
				Root:    root,
				Chapter: chapter,
				Kubectl: fakeKubectl(t, test.running, test.manager),
				Helm:    test.helm,
				Out:     io.Discard,
			}
			d.refuses(t, test.want, errors.Join(d.checkChapter(), d.checkWay(t.Context()), CheckAlone(t.Context(), root, d.Kubectl, d.Chapter.Kind(), d.target().namespace)))
			if test.wantRemoved != "" {
				d.refuses(t, test.wantRemoved, d.Remove(t.Context()))
			}
		})
	}
}

func (d Deployment) refuses(t *testing.T, want string, err error) {
	t.Helper()
	var p *problem.Problem
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (!errors.As(err, &p) || !strings.Contains(p.What, want) || p.Fix == ""):
		t.Errorf("got %v, want %q and its fix", err, want)
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
		Kubectl: kubectl.Kubectl{Binary: binary},
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
