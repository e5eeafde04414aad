package main

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

// Commands use the cluster that the user chooses, or else the kind cluster if there is one.
func TestTheCluster(t *testing.T) {
	for sentence, test := range map[string]struct {
		on   string
		made string // a file of the kind cluster; "": there is none
		want cluster.Nodes
	}{
		"no choice, no cluster":                 {"", "", cluster.Simulated},
		"no choice, a kind cluster":             {"", "kubeconfig", cluster.Containers},
		"no choice, an unfinished kind cluster": {"", "audit-policy.yaml", cluster.Containers},
		"kind, which doesn't exist yet":         {"kind", "", cluster.Containers},
		"kwok, although a kind cluster exists":  {"kwok", "kubeconfig", cluster.Simulated},
		"unknown nodes":                         {"minikube", "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			if test.made != "" {
				testkit.Write(t, root, map[string]string{".workshop/kind/mine/" + test.made: ""})
			}
			t.Setenv("WORKSHOP_ROOT", root)
			t.Setenv("WORKSHOP_CLUSTER", "mine")
			t.Setenv(nodesVariable, test.on)
			if err := checkSettings(); test.want == "" || err != nil {
				if (err == nil) == (test.want == "") {
					t.Errorf("error %v, want one on %q", err, test.want)
				}
				return
			}
			if c := theCluster(); c.Nodes() != test.want || c.Name() != "mine" {
				t.Errorf("got %v, want one on %s", c, test.want)
			}
		})
	}
}

// It is offered before anything is downloaded, so it must need nothing but Go. This tests the
// solution, because a learner may have changed the exercise.
func TestTheFirstExerciseNeedsNoModules(t *testing.T) {
	e, err := exercises.FindOne(testkit.Repository(), "01/0")
	if err != nil {
		t.Fatal(err)
	}
	for sentence, workspace := range map[string]string{"with go.work": "", "without": "off"} {
		t.Run(sentence, func(t *testing.T) {
			command := exec.Command("go", "test", "-C", e.Chapter.Dir, "-tags="+exercises.TagSolution,
				"./"+exercises.Folder+"/"+e.Folder)
			command.Env = append(os.Environ(),
				"GOMODCACHE="+t.TempDir(), "GOPROXY=off", "GOFLAGS=", "GOWORK="+workspace)
			if output, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}

func TestWhatUpRefuses(t *testing.T) {
	for sentence, test := range map[string]struct {
		on, image  string
		containers bool
		want       string
	}{
		"a node image":          {"", "kindest/node:v1", false, "--image is for kind clusters"},
		"--kind with --on kwok": {"kwok", "", true, "--kind asks for containers, --on kwok for none"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Setenv("WORKSHOP_ROOT", t.TempDir())
			t.Setenv("WORKSHOP_CLUSTER", "")
			t.Setenv(nodesVariable, test.on)
			var p *problem.Problem
			_, err := clusterToUp(test.containers, test.image)
			if !errors.As(err, &p) || p.What != test.want || p.Fix == "" {
				t.Errorf("got %v, want %q and its fix", err, test.want)
			}
		})
	}
}

// Flags after "kubectl" belong to kubectl, and those before it to workshop.
func TestOnComesBeforeKubectl(t *testing.T) {
	t.Setenv("WORKSHOP_ROOT", t.TempDir())
	t.Setenv(nodesVariable, "")
	code := run(t.Context(), []string{"--on", "nowhere", "kubectl", "--on", "kubectl's"})
	if code != exitFailed || os.Getenv(nodesVariable) != "nowhere" {
		t.Errorf("exit code %d, on %q", code, os.Getenv(nodesVariable))
	}
}
