// A surprise of informers: all readers share the cached objects.

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
)

// All readers get the same object. If one of them changes it, the others see a state that the
// server never had.
func TestReadersShareTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foo, web := aSettledFoo()
		c := newCluster(t, 0, foo, web)
		defer c.start()()

		first, err := c.getDeployment(t.Context(), "default", "web")
		if err != nil {
			t.Fatal(err)
		}
		first.Labels["team"] = "blue" // the change is made in the cache, and nobody sends it to the server
		c.settle()

		second, err := c.getDeployment(t.Context(), "default", "web")
		t.Logf("one reader sets the label team=blue; the next one sees team=%s", second.Labels["team"])
		if err != nil || second.Labels["team"] != "blue" {
			t.Errorf("got the labels %v and the error %v, want the first reader's label", second.Labels, err)
		}
	})
}

// client-go can detect changes in its caches. With KUBE_CACHE_MUTATION_DETECTOR=true, it keeps a
// copy of every cached object, and panics if one differs. TestReadersShareTheCache shows that this
// works, so its silence about TestRun means something.
func TestNoCachedObjectIsChanged(t *testing.T) {
	if output, err := withMutationDetector(t, "TestRun"); err != nil {
		t.Errorf("TestRun failed with the mutation detector on: %v\n%s", err, output)
	}
	if output, _ := withMutationDetector(t, "TestReadersShareTheCache"); !strings.Contains(output, "panic: cache *v1.Deployment modified") {
		t.Errorf("the mutation detector didn't report the changed object:\n%s", output)
	}
}

// withMutationDetector runs one test in a new process, because client-go reads the variable when a
// program starts.
func withMutationDetector(t *testing.T, test string) (output string, err error) {
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$")
	program.Env = append(os.Environ(), "KUBE_CACHE_MUTATION_DETECTOR=true")
	printed, err := program.CombinedOutput()
	return string(printed), err
}
