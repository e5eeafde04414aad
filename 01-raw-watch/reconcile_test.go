// What is done about a Foo. Each case is a cluster before and after: which requests led from one to
// the other is the controller's business, as long as they are few.

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
		foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), earlier)
	})
	beingDeleted := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
		foo.DeletionTimestamp, foo.Finalizers = &earlier, []string{metav1.FinalizerDeleteDependents}
	})
	for name, test := range map[string]struct {
		given     []metav1.Object
		want      []string // Deployments
		wantReady string   // the reason; "" if there is no such condition
		// wantWrites is the write budget: a write more is a promise broken.
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
		"a settled Foo causes no write": {
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
		"a deleted Deployment is made again": {
			given:      []metav1.Object{settled},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"a rename moves: the new Deployment is made, the old one deleted": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3))},
			want:       []string{"new: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 3,
		},
		"a rename whose old Deployment has lost its labels: it is deleted all the same": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3), func(d *appsv1.Deployment) { d.Labels = nil })},
			want:       []string{"new: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 3,
		},
		"a rename whose old Deployment is being deleted already: it isn't deleted again": {
			given:      []metav1.Object{renamed, deploymentOf(renamed), deploymentOf(web, terminating)},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 1,
		},
		"a rename to a name that is taken: both Deployments stay": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3)), deploymentOf(renamed, unowned, scaledTo(1))},
			want:       []string{"new: 1 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a rename to a name that is about to be free: the old one stays until then": {
			given:      []metav1.Object{renamed, deploymentOf(web, available(3)), deploymentOf(renamed, terminating)},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "Terminating",
			wantWrites: 1,
		},
		"a Deployment that only carries the Foo's label is not its former one": {
			given:     []metav1.Object{settled, deploymentOf(settled, available(3)), deploymentOf(renamed, unowned)},
			want:      []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"a Deployment that nobody owns is not touched": {
			given:      []metav1.Object{web, deploymentOf(web, unowned, scaledTo(1), running("nginx:1.0"))},
			want:       []string{"web: 1 × nginx:1.0"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a Deployment of an earlier Foo of the same name is not touched": {
			given:      []metav1.Object{web, deploymentOf(web, ofAnEarlierFoo, scaledTo(1))},
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a Deployment that is being deleted is waited for": {
			given:      []metav1.Object{settled, deploymentOf(settled, terminating, scaledTo(1))},
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "Terminating",
			wantWrites: 1,
		},
		"a Foo that is being deleted gets nothing": {
			given: []metav1.Object{beingDeleted},
		},
		"a Foo that is gone gets nothing": {},
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
				t.Errorf("%d writes, want %d: %q", len(writes), test.wantWrites, writes)
			}
		})
	}
}

// Putting our fields back leaves all else as it was.
func TestOtherPeoplesFieldsAreKept(t *testing.T) {
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
