package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"example.com/operators/scripts/internal/chapters"
)

// The solution is built, and not what a learner has written in its stead.
func TestTheSolutionOfTDSetIsBuilt(t *testing.T) {
	chapter := chapters.Chapter{Name: "01-test", Dir: t.TempDir()}
	for file, content := range map[string]string{
		"go.mod":                        "module a\n\ngo 1.26\n",
		"main.go":                       "package main\n\nfunc main() { print(\"the chapter\") }\n",
		"exercises/2-tdset/exercise.go": "//go:build !solution\n\npackage main\n\nfunc main() { print(\"the exercise\") }\n",
		"exercises/2-tdset/solution.go": "//go:build solution\n\npackage main\n\nfunc main() { print(\"the solution\") }\n",
	} {
		path := filepath.Join(chapter.Dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tdset, found := OfTDSet(chapter)
	if !found {
		t.Fatal("the exercise isn't found")
	}
	for want, p := range map[string]Program{"the chapter": OfChapter(chapter), "the solution": tdset} {
		binary, err := p.Build(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		output, err := exec.CommandContext(t.Context(), binary).CombinedOutput()
		if err != nil || string(output) != want {
			t.Errorf("%s: it says %q (%v), want %q", p.Name, output, err, want)
		}
	}
	if want := filepath.Join(chapter.Dir, "exercises", "2-tdset", "manifests"); tdset.Manifests != want {
		t.Errorf("its manifests are in %s, want %s", tdset.Manifests, want)
	}
}

func TestNotEveryChapterHasATDSet(t *testing.T) {
	if p, found := OfTDSet(chapters.Chapter{Name: "01-test", Dir: t.TempDir()}); found {
		t.Errorf("found %+v", p)
	}
}

// What run needs of a chapter is there, by the names that it uses.
func TestTheManifestsOfEveryProgram(t *testing.T) {
	all, err := chapters.All("../../..")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, chapter := range all {
		programs := []Program{OfChapter(chapter)}
		if tdset, found := OfTDSet(chapter); found {
			programs = append(programs, tdset)
		}
		for _, p := range programs {
			if _, err := os.Stat(filepath.Join(p.Manifests, "crd.yaml")); os.IsNotExist(err) && p.Name == chapter.Name {
				continue // another kind of chapter, or one that is being written
			}
			tested++
			for _, file := range slices.Concat([]string{"crd.yaml", "rbac.yaml"}, p.Examples) {
				if _, err := os.Stat(filepath.Join(p.Manifests, file)); err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
			}
			rbac, _ := os.ReadFile(filepath.Join(p.Manifests, "rbac.yaml"))
			if account := "\nkind: ServiceAccount\nmetadata:\n  name: " + p.ServiceAccount + "\n  namespace: " + p.Namespace + "\n"; !strings.Contains(string(rbac), account) {
				t.Errorf("%s: its rbac.yaml makes no ServiceAccount %s/%s", p.Name, p.Namespace, p.ServiceAccount)
			}
		}
	}
	if tested == 0 {
		t.Error("there is no program")
	}
}

func TestTheKubeconfigIsForTheProgramsOwnAccount(t *testing.T) {
	client := fake.NewClientset()
	var asked []string
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked = append(asked, action.GetNamespace()+"/"+action.(clienttesting.CreateActionImpl).Name)
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: "secret"}}, nil
	})
	for _, p := range []Program{OfChapter(chapters.Chapter{}), {Namespace: "b", ServiceAccount: "c"}} {
		if err := p.WriteKubeconfig(t.Context(), client, &rest.Config{}, filepath.Join(t.TempDir(), "kubeconfig")); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"foo-system/foo-controller", "b/c"}; !slices.Equal(asked, want) {
		t.Errorf("tokens were asked for %q, want %q", asked, want)
	}
}
