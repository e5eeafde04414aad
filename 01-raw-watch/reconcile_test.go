// The reconciliation of a Foo. Each case compares the cluster before and after. It doesn't matter
// which requests the controller sends, but their number has a limit.

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

func TestSyncHandler(t *testing.T) {
	web := aFoo("example", "web", 3)
	renamed := aFoo("example", "new", 3)
	settled := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
		foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), nil, earlier)
	})
	beingDeleted := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
		foo.DeletionTimestamp, foo.Finalizers = &earlier, []string{metav1.FinalizerDeleteDependents}
	})
	for name, test := range map[string]struct {
		given     []metav1.Object
		want      []string // Deployments
		wantReady string   // the reason; "" if there is no such condition
		// wantWrites is the exact number of writes.
		wantWrites int
	}{
		"a new Foo gets its Deployment": {
			given:      []metav1.Object{web},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"a Foo whose Deployment has become available is ready": {
			given:      []metav1.Object{web, deploymentOf(web, available(3))},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Available",
			wantWrites: 1,
		},
		"a Foo that is up to date causes no write": {
			given:     []metav1.Object{settled, deploymentOf(settled, available(3))},
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"a changed number of replicas reaches the Deployment": {
			given:      []metav1.Object{aFoo("example", "web", 5), deploymentOf(web, available(3))},
			want:       []string{"web: 5 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"replicas changed by hand are reverted": {
			given:      []metav1.Object{settled, deploymentOf(settled, available(3), scaledTo(1))},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"an image changed by hand is reverted": {
			given:      []metav1.Object{settled, deploymentOf(settled, available(3), running("nginx:1.0"))},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"a deleted Deployment is created again": {
			given:      []metav1.Object{settled},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"after a rename, the new Deployment is created and the old one deleted": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3))},
			want:       []string{"new: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 3,
		},
		"after a rename, the old Deployment is deleted even if it has lost its labels": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3), func(d *appsv1.Deployment) { d.Labels = nil })},
			want:       []string{"new: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 3,
		},
		"after a rename, an old Deployment that is being deleted isn't deleted again": {
			given:      []metav1.Object{renamed, deploymentOf(renamed), deploymentOf(web, terminating)},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 1,
		},
		"after a rename to a name that is taken, both Deployments stay": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3)), deploymentOf(renamed, unowned, scaledTo(1))},
			want:       []string{"new: 1 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"after a rename to a name whose Deployment is being deleted, the old one stays": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3)), deploymentOf(renamed, terminating)},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "Terminating",
			wantWrites: 1,
		},
		"a Deployment with only the Foo's label isn't deleted": {
			given:     []metav1.Object{settled, deploymentOf(settled, available(3)), deploymentOf(renamed, unowned)},
			want:      []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"a Deployment without an owner isn't changed": {
			given:      []metav1.Object{web, deploymentOf(web, unowned, scaledTo(1), running("nginx:1.0"))},
			want:       []string{"web: 1 × nginx:1.0"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a Deployment of an earlier Foo with the same name isn't changed": {
			given:      []metav1.Object{web, deploymentOf(web, ofAnEarlierFoo, scaledTo(1))},
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a Deployment that is being deleted isn't changed": {
			given:      []metav1.Object{settled, deploymentOf(settled, terminating, scaledTo(1))},
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "Terminating",
			wantWrites: 1,
		},
		"a Foo that is being deleted gets no Deployment": {
			given: []metav1.Object{beingDeleted},
		},
		"a Foo that is gone gets no Deployment": {},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)

			writes := c.settle("example")

			if diff := cmp.Diff(test.want, c.deployments(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Deployments (-want +got):\n%s", diff)
			}
			if got := c.ready("example"); got != test.wantReady {
				t.Errorf("Ready has the reason %q, want %q", got, test.wantReady)
			}
			if len(writes) != test.wantWrites {
				t.Errorf("got %d writes, want %d: %q", len(writes), test.wantWrites, writes)
			}
		})
	}
}

// When the controller reverts a change of its own fields, it keeps all other fields.
func TestOtherFieldsAreKept(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo, deploymentOf(foo, available(3), annotated, withSidecars, scaledTo(1)))

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	want := deploymentOf(foo, available(3), annotated, withSidecars)
	bookkeeping := cmpopts.IgnoreFields(appsv1.Deployment{}, "ResourceVersion", "Generation")
	if diff := cmp.Diff(want, c.deployment("web"), bookkeeping); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
}
