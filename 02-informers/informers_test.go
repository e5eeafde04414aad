// Two surprises of informers: a deletion that they missed arrives as a tombstone, and all readers
// share the cached objects.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// A Deployment is deleted while the watch sends nothing, and then the watch fails with 410 Gone.
// The informer lists again, and reports the missing Deployment as a tombstone. A handler that
// asserts a *Deployment panics.
func TestAMissedDeletionComesAsATombstone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, miss := newClusterWithAStalledWatch(t)
		var panicked string
		c.deploymentInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			DeleteFunc: func(obj any) {
				defer func() { panicked = fmt.Sprint(recover()) }()
				_ = obj.(*appsv1.Deployment)
			},
		})
		stop := c.start()
		defer stop()

		miss()

		c.eventually("the Deployment is created again", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		if !strings.Contains(panicked, "is cache.DeletedFinalStateUnknown, not *v1.Deployment") {
			t.Errorf("the handler that asserts a *Deployment panicked with %q, want a panic about a tombstone", panicked)
		}
	})
}

// All readers get the same object. If one of them changes it, the others see a state that the
// server never had.
func TestReadersShareTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
			foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), nil, earlier)
		})
		c := newCluster(t, settled, deploymentOf(settled, available(3)))
		stop := c.start()
		defer stop()

		first, err := c.getDeployment(t.Context(), "default", "web")
		if err != nil {
			t.Fatal(err)
		}
		first.Labels["team"] = "blue" // the change is made in the cache, and nobody sends it to the server

		c.eventually("the next reader sees the label", func() bool {
			second, err := c.getDeployment(t.Context(), "default", "web")
			return err == nil && second.Labels["team"] == "blue"
		})
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
