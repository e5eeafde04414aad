// CreateOrUpdate reads an object, calls your function, and sends an update if your function has
// changed the object. Your function always sets the same spec, so you expect one create and no
// updates. But every call updates: the stored spec has fields that the server has defaulted, and
// yours doesn't, so the two always differ.
//
// Set only the fields that you care about. Or use server-side apply, as this chapter does.

package pitfalls

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/operators/05-controller-runtime/test/testenv"
)

// setSpec is wrong: it removes what the server has defaulted.
func setSpec(observed *appsv1.Deployment) {
	observed.Spec = deploymentSpec()
}

// setOwnFields is right: once the Deployment exists, it sets only the fields that it cares about. It
// finds its container by name, because the first one may be a sidecar that someone has added.
func setOwnFields(observed *appsv1.Deployment) {
	desired := deploymentSpec()
	if observed.CreationTimestamp.IsZero() {
		observed.Spec = desired
		return
	}
	observed.Spec.Replicas = desired.Replicas
	containers, want := observed.Spec.Template.Spec.Containers, desired.Template.Spec.Containers[0]
	for i := range containers {
		if containers[i].Name == want.Name {
			containers[i].Image = want.Image
		}
	}
}

func TestCreateOrUpdate(t *testing.T) {
	type results = []controllerutil.OperationResult
	for _, test := range []struct {
		sentence string
		mutate   func(*appsv1.Deployment)
		want     results
	}{
		{"wrong: set the whole spec", setSpec, results{"created", "updated", "updated"}},
		{"right: set your own fields", setOwnFields, results{"created", "unchanged", "unchanged"}},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := testenv.New(t)
			var got results
			versions := map[string]bool{}
			for range test.want {
				deployment := &appsv1.Deployment{ObjectMeta: c.Meta("web")}
				mutate := func() error { test.mutate(deployment); return nil }
				result, err := controllerutil.CreateOrUpdate(t.Context(), c, deployment, mutate)
				must(t, err)
				got = append(got, result)
				versions[deployment.ResourceVersion] = true
			}
			t.Logf("three calls return %s; versions on the server: %d", got, len(versions))
			if !slices.Equal(got, test.want) || len(versions) != 1 {
				t.Errorf("got %s and %d versions, want %s and 1 version", got, len(versions), test.want)
			}
		})
	}
}
