// What is done about a Foo. Each case is a cluster before and after: which requests led from one to the other is the
// controller's business, as long as they are few.

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
)

func TestReconcile(t *testing.T) {
	web := aFoo("example", "web", 3)
	renamed := aFoo("example", "new", 3)
	settled := aFoo("example", "web", 3, func(foo *v1alpha1.Foo) {
		foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), earlier)
	})
	beingDeleted := aFoo("example", "web", 3, func(foo *v1alpha1.Foo) {
		foo.DeletionTimestamp, foo.Finalizers = &earlier, []string{metav1.FinalizerDeleteDependents}
	})
	for name, test := range map[string]struct {
		given     []client.Object
		want      []string // Deployments
		wantReady string   // the reason; "" if there is no such condition
		// wantWrites is the write budget: a write more is a promise broken.
		wantWrites int
	}{
		"a new Foo gets its Deployment": {
			given:      []client.Object{web},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"a Foo whose Deployment has become available is ready": {
			given:      []client.Object{web, deploymentOf(web, available(3))},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Available",
			wantWrites: 1,
		},
		"a settled Foo causes no write": {
			given:     []client.Object{settled, deploymentOf(settled, available(3))},
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"a changed number of replicas reaches the Deployment": {
			given:      []client.Object{aFoo("example", "web", 5), deploymentOf(web, available(3))},
			want:       []string{"web: 5 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"replicas changed by hand are put back": {
			given:      []client.Object{settled, deploymentOf(settled, available(3), scaledTo(1))},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"an image changed by hand is put back": {
			given:      []client.Object{settled, deploymentOf(settled, available(3), running("nginx:1.0"))},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"a deleted Deployment is made again": {
			given:      []client.Object{settled},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 2,
		},
		"a rename moves: the new Deployment is made, the old one deleted": {
			given:      []client.Object{renamed, deploymentOf(web, available(3))},
			want:       []string{"new: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 3,
		},
		"a rename whose old Deployment is being deleted already: it isn't deleted again": {
			given:      []client.Object{renamed, deploymentOf(renamed), deploymentOf(web, terminating)},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: 1,
		},
		"a rename to a name that is taken: both Deployments stay": {
			given:      []client.Object{renamed, deploymentOf(web, available(3)), deploymentOf(renamed, unowned, scaledTo(1))},
			want:       []string{"new: 1 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a rename to a name that is about to be free: the old one stays until then": {
			given:      []client.Object{renamed, deploymentOf(web, available(3)), deploymentOf(renamed, terminating)},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "Terminating",
			wantWrites: 1,
		},
		"a Deployment that only carries the Foo's label is not its former one": {
			given:     []client.Object{settled, deploymentOf(settled, available(3)), deploymentOf(renamed, unowned)},
			want:      []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"a Deployment that nobody owns is not touched": {
			given:      []client.Object{web, deploymentOf(web, unowned, scaledTo(1), running("nginx:1.0"))},
			want:       []string{"web: 1 × nginx:1.0"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a Deployment of an earlier Foo of the same name is not touched": {
			given:      []client.Object{web, deploymentOf(web, ofAnEarlierFoo, scaledTo(1))},
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: 1,
		},
		"a Deployment that is being deleted is waited for": {
			given:      []client.Object{settled, deploymentOf(settled, terminating, scaledTo(1))},
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "Terminating",
			wantWrites: 1,
		},
		"a Foo that is being deleted gets nothing": {
			given: []client.Object{beingDeleted},
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

// bookkeeping is what changes with every write, and the kind, which what has a Go type needn't say.
var bookkeeping = cmpopts.IgnoreFields(appsv1.Deployment{}, "TypeMeta", "ResourceVersion", "Generation", "ManagedFields")

// Putting our fields back leaves all else as it was.
func TestOtherPeoplesFieldsAreKept(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo, deploymentOf(foo, available(3), annotated, withSidecars, scaledTo(1)))

	must(t, c.sync("example"))

	want := deploymentOf(foo, available(3), annotated, withSidecars)
	if diff := cmp.Diff(want, c.deployment("web"), bookkeeping); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
}

// A user is told once what is new: not again at each look, and only when the status that says so is written.
func TestEventsAreRecordedOnce(t *testing.T) {
	const (
		synced = `Normal Synced 3 of 3 replicas of Deployment "web" are available`
		exists = "Warning ErrResourceExists " + taken
	)
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo)
	for _, step := range []struct {
		what string
		do   func()
		want []string
	}{
		{"the Deployment is made", func() {}, nil},
		{"it becomes available", func() { c.put(deploymentOf(foo, available(3))) }, []string{synced}},
		{"nothing happens", func() {}, nil},
		{"it is annotated", func() { c.put(deploymentOf(foo, available(3), annotated)) }, nil},
		{"a Pod is lost", func() { c.put(deploymentOf(foo, available(2))) }, nil},
		{"another has come up", func() { c.put(deploymentOf(foo, available(3))) }, []string{synced}},
		{"somebody else takes the name", func() { c.put(deploymentOf(foo, unowned)) }, []string{exists}},
		{"nothing happens", func() {}, nil},
		{"theirs becomes available", func() { c.put(deploymentOf(foo, unowned, available(3))) }, nil},
		{"the Foo is changed, and so is its status, but not what that says", func() {
			changed := c.foo("example")
			changed.Generation++
			c.put(changed)
		}, nil},
		{"theirs is gone", func() { c.remove(deploymentOf(foo)) }, nil},
		{"ours becomes available, and the status is written at the second attempt", func() {
			c.put(deploymentOf(foo, available(3)))
			c.refuseNext("apply foos/status", apierrors.NewConflict(foosResource.GroupResource(), "example", nil))
		}, []string{synced}},
	} {
		step.do()
		for range 3 { // as many attempts as the queue would make
			if err := c.sync("example"); err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(step.want, c.recorded()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", step.what, diff)
		}
	}
}

// recorded returns the events that the controller has recorded since it was last asked for them.
func (c *cluster) recorded() []string {
	var events []string
	for len(c.events) > 0 {
		events = append(events, <-c.events)
	}
	return events
}
