// What is done about the Service: there is one if the TDSet asks for it, with that port and no
// other.

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

func TestService(t *testing.T) {
	tdset := aTDSet(settled, withService(80))
	elsewhere := selecting("other")
	for name, test := range map[string]struct {
		tdset      *schedulev1.TDSet
		given      *corev1.Service
		want       string // the Service
		wantTaken  bool   // the status says that somebody else has the name
		wantWrites []string
	}{
		"one that is asked for is made": {
			tdset: tdset, want: "80 → 8080", wantWrites: []string{"apply services"},
		},
		"one that is there is left as it is": {
			tdset: tdset, given: serviceOf(tdset), want: "80 → 8080",
		},
		"one that isn't asked for any more is deleted": {
			tdset: aTDSet(settled), given: serviceOf(tdset), wantWrites: []string{"delete services"},
		},
		"one that was never asked for isn't missed": {
			tdset: aTDSet(settled),
		},
		"another port": {
			tdset: aTDSet(settled, withService(81)), given: serviceOf(tdset),
			want: "81 → 8080", wantWrites: []string{"patch services"},
		},
		"another port of the container": {
			tdset: aTDSet(settled, withService(80), func(tdset *schedulev1.TDSet) { tdset.Spec.Container.Port = 9090 }), given: serviceOf(tdset),
			want: "80 → 9090", wantWrites: []string{"apply deployments", "patch services", "apply tdsets/status"},
		},
		"a port that was changed by hand is put back": {
			tdset: tdset, given: serviceOf(tdset, listeningOn(81)), want: "80 → 8080", wantWrites: []string{"patch services"},
		},
		"a port that was added by hand is removed": {
			tdset: tdset, given: serviceOf(tdset, withPort(9090)), want: "80 → 8080", wantWrites: []string{"patch services"},
		},
		"a selector that was changed by hand is put back": {
			tdset: tdset, given: serviceOf(tdset, elsewhere), want: "80 → 8080", wantWrites: []string{"apply services"},
		},
		"a selector that was narrowed by hand is put back": {
			tdset: tdset, given: serviceOf(tdset, narrowed), want: "80 → 8080", wantWrites: []string{"apply services"},
		},
		"both were changed by hand": {
			tdset: tdset, given: serviceOf(tdset, elsewhere, listeningOn(81)),
			want: "80 → 8080", wantWrites: []string{"patch services", "apply services"},
		},
		"one that is being deleted is waited for": {
			tdset: tdset, given: serviceOf(tdset, listeningOn(81), terminating), want: "81 → 8080",
		},
		"somebody else's is not touched": {
			tdset: tdset, given: serviceOf(tdset, unowned, listeningOn(81)),
			want: "81 → 8080", wantTaken: true, wantWrites: []string{"apply tdsets/status"},
		},
		"an earlier TDSet's is not touched": {
			tdset: tdset, given: serviceOf(tdset, ofAnEarlierTDSet, elsewhere),
			want: "80 → 8080", wantTaken: true, wantWrites: []string{"apply tdsets/status"},
		},
		"somebody else's is nobody's business where none is asked for": {
			tdset: aTDSet(settled), given: serviceOf(tdset, unowned), want: "80 → 8080",
		},
		"one that isn't asked for and is going already isn't deleted again": {
			tdset: aTDSet(settled), given: serviceOf(tdset, terminating), want: "80 → 8080",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.tdset, deploymentOf(aTDSet(), withPods(5)))
			if test.given != nil {
				c.put(test.given)
			}

			writes, _ := c.settle()

			want := "5 × nginx:1.0"
			if test.want != "" {
				want += ", " + test.want
			}
			if got := c.objects(); got != want {
				t.Errorf("there is %q, want %q", got, want)
			}
			if got := c.degraded(); (got == errResourceExists) != test.wantTaken || !test.wantTaken && got != reasonAsExpected {
				t.Errorf("Degraded has the reason %q", got)
			}
			if diff := cmp.Diff(test.wantWrites, writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// Deployment and Service fail each by itself. What is true of both comes once both are tried.
func TestTheServiceDoesNotWaitForTheDeployment(t *testing.T) {
	for request, want := range map[string]string{
		"apply deployments": "80 → 8080",
		"apply services":    "5 × nginx:1.0",
	} {
		t.Run(request, func(t *testing.T) {
			c := newCluster(t, aTDSet(known, withService(80)))
			c.refuseNext(request, errDiskFull)

			_, err := c.sync()

			if !apierrors.IsInternalError(err) {
				t.Errorf("got the error %v, want that the server failed", err)
			}
			if got := c.objects(); got != want {
				t.Errorf("there is %q, want %q", got, want)
			}
		})
	}
}

// What was made a moment ago isn't in the cache yet. So the server is asked before anything is
// made.
func TestAStaleCacheMakesNothingTwice(t *testing.T) {
	tdset := aTDSet(known, withService(80))
	deployment, service := deploymentOf(tdset, withPods(5)), serviceOf(tdset)
	for name, test := range map[string]struct {
		live       []client.Object // which the cache doesn't have yet
		want       string
		wantSays   string
		wantWrites []string
	}{
		"they are ours, made by our own last writes": {
			live: []client.Object{deployment, service},
			want: "5 × nginx:1.0, 80 → 8080", wantSays: allIsWell, wantWrites: []string{"apply tdsets/status"},
		},
		"they are ours, and somebody has changed them already": {
			live: []client.Object{deploymentOf(tdset, scaledTo(1)), serviceOf(tdset, listeningOn(81))},
			want: "5 × nginx:1.0, 80 → 8080", wantWrites: []string{"apply deployments", "patch services"},
		},
		"they are ours, and somebody has changed the Service's port already: the status waits for both": {
			live: []client.Object{deployment, serviceOf(tdset, listeningOn(81))},
			want: "5 × nginx:1.0, 80 → 8080", wantWrites: []string{"patch services"},
		},
		"they are ours, and somebody has changed the Service's selector already": {
			live: []client.Object{deployment, serviceOf(tdset, selecting("other"))},
			want: "5 × nginx:1.0, 80 → 8080", wantWrites: []string{"apply services"},
		},
		"they are somebody else's": {
			live: []client.Object{deploymentOf(tdset, scaledTo(1), unowned), serviceOf(tdset, listeningOn(81), unowned)},
			want: "1 × nginx:1.0, 81 → 8080", wantSays: nameIsGone, wantWrites: []string{"apply tdsets/status"},
		},
		"they are somebody else's, and as we would make them": {
			live: []client.Object{deploymentOf(tdset, unowned), serviceOf(tdset, unowned)},
			want: "5 × nginx:1.0, 80 → 8080", wantSays: nameIsGone, wantWrites: []string{"apply tdsets/status"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tdset)
			c.informed()
			c.put(test.live...)

			_, err := c.reconcile()

			must(t, err)
			if got := c.objects(); got != test.want {
				t.Errorf("there is %q, want %q", got, test.want)
			}
			if got := c.says(); got != test.wantSays {
				t.Errorf("the status says %q, want %q", got, test.wantSays)
			}
			if diff := cmp.Diff(test.wantWrites, c.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// Somebody takes the names after the server answered that they are free. Then the apply, which is
// without force, is a conflict: nothing is stolen, and the next attempt finds them taken.
func TestNamesTakenMeanwhileAreNotStolen(t *testing.T) {
	tdset := aTDSet(known, withService(80))
	theirs := []client.Object{
		deploymentOf(tdset, unowned, scaledTo(1)),
		serviceOf(tdset, unowned, selecting("other")),
	}
	c := newCluster(t, tdset)
	c.beforeApply = func() { c.beforeApply = nil; c.put(theirs...) }

	result, err := c.sync()

	must(t, err)
	if result.RequeueAfter != conflictPause {
		t.Errorf("after a conflict, it is requeued after %v, want %v", result.RequeueAfter, conflictPause)
	}
	c.written()
	if writes, _ := c.settle(); c.says() != nameIsGone || len(writes) != 1 {
		t.Errorf("the next attempt writes %q, and the status says %q", writes, c.says())
	}
	if diff := cmp.Diff(theirs, []client.Object{c.deployment(), c.service()}, bookkeeping, counters); diff != "" {
		t.Errorf("theirs (-before +after):\n%s", diff)
	}
}
