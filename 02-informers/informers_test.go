// What informers do to a controller: they call a deletion that they missed a tombstone, and they
// share what is in their caches.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// A Deployment is deleted while the watch says nothing, and then the watch ends with 410 Gone. The
// informer lists again, and what it no longer finds it reports as a tombstone. A handler that takes
// every object for a Deployment panics.
func TestAMissedDeletionComesAsATombstone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
			foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), earlier)
		})
		c := newCluster(t, settled, deploymentOf(settled, available(3)))
		silent := watch.NewRaceFreeFake()
		watches := 0
		c.fakeKube.PrependWatchReactor("deployments", func(clienttesting.Action) (handled bool, stream watch.Interface, err error) {
			watches++
			return watches == 1, silent, nil
		})
		var panicked string
		c.deploymentInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			DeleteFunc: func(obj any) {
				defer func() { panicked = fmt.Sprint(recover()) }()
				_ = obj.(*appsv1.Deployment)
			},
		})
		stop := c.start()
		defer stop()

		c.remove(deploymentOf(settled))
		silent.Error(&apierrors.NewResourceExpired("too old resource version").ErrStatus)
		time.Sleep(time.Minute) // the Reflector pauses before it lists again

		c.eventually("the Deployment is made again", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		if !strings.Contains(panicked, "is cache.DeletedFinalStateUnknown, not *v1.Deployment") {
			t.Errorf("the handler that takes every object for a Deployment says %q, want a panic about a tombstone", panicked)
		}
	})
}

// What one reader gets, all others get too: who changes it shows them what the server never had.
func TestReadersShareTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
			foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), earlier)
		})
		c := newCluster(t, settled, deploymentOf(settled, available(3)))
		stop := c.start()
		defer stop()

		first, err := c.getDeployment(t.Context(), "default", "web")
		if err != nil {
			t.Fatal(err)
		}
		first.Labels["team"] = "blue" // in no copy, and sent to nobody

		c.eventually("the next reader finds the label", func() bool {
			second, err := c.getDeployment(t.Context(), "default", "web")
			return err == nil && second.Labels["team"] == "blue"
		})
	})
}

// client-go can watch over its caches: with KUBE_CACHE_MUTATION_DETECTOR it keeps a copy of every
// object in them and panics when one differs. What it says of TestRun counts because it sees what
// TestReadersShareTheCache does.
func TestNoCachedObjectIsChanged(t *testing.T) {
	if output, err := underTheDetector(t, "TestRun"); err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
	if output, _ := underTheDetector(t, "TestReadersShareTheCache"); !strings.Contains(output, "panic: cache *v1.Deployment modified") {
		t.Errorf("an object in the cache was changed, and the detector didn't see it:\n%s", output)
	}
}

// underTheDetector starts this program again for one test, because the variable is read when a
// program starts.
func underTheDetector(t *testing.T, test string) (output string, err error) {
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$")
	program.Env = append(os.Environ(), "KUBE_CACHE_MUTATION_DETECTOR=true")
	printed, err := program.CombinedOutput()
	return string(printed), err
}
