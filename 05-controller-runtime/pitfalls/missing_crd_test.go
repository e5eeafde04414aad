// You apply a CRD and an object of its kind together, or start a program at the same moment, and
// expect both to work. Neither does: the server accepts the CRD, but serves its kind only a moment
// later. Until then, kubectl refuses the object, and the program can't index the kind, so it exits.
//
// Wait until the kind is served: with `kubectl wait --for condition=Established`, or in a loop that
// asks the RESTMapper. (envtest.InstallCRDs waits, envtest.CreateCRDs doesn't.)

package pitfalls

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestMissingCRD(t *testing.T) {
	c := testenv.New(t)
	crd, foo := newCRD(t, c, "status: {}")
	kind := foo.GroupVersionKind()
	mgr := c.NewManager(t)
	index := func() error {
		return mgr.GetFieldIndexer().IndexField(t.Context(), foo, "spec.deploymentName",
			func(client.Object) []string { return nil })
	}

	t.Run("wrong: apply an object with its CRD", func(t *testing.T) {
		// kubectl asks this about each object in its files before it sends the first one.
		_, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		t.Logf("before the CRD is created: %v", err)
		if !meta.IsNoMatchError(err) {
			t.Errorf("RESTMapping returned %v, want NoMatch", err)
		}
	})
	t.Run("wrong: start a program before the CRD", func(t *testing.T) {
		err := index()
		t.Logf("an index of the kind: %v", err)
		if !meta.IsNoMatchError(err) {
			t.Errorf("IndexField returned %v, want NoMatch", err)
		}
	})
	t.Run("wrong: trust the create", func(t *testing.T) {
		must(t, envtest.ReadCRDFiles(&crd))
		must(t, envtest.CreateCRDs(c.Config, crd.CRDs))
		established := false
		for _, condition := range crd.CRDs[0].Status.Conditions { // as the server returned them
			established = established || condition.Type == "Established" && condition.Status == "True"
		}
		t.Logf("the CRD is created; established: %v", established)
		if established {
			t.Error("the CRD is established at once, want it to take a moment")
		}
	})
	t.Run("right: wait until the kind is served", func(t *testing.T) {
		kindIsServed := func(context.Context) (bool, error) {
			_, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
			return err == nil, nil
		}
		must(t, wait.PollUntilContextCancel(t.Context(), time.Second/10, true, kindIsServed))
		must(t, index())
		must(t, c.Create(t.Context(), foo))
		t.Log("the index and the object are created")
	})
}
