// The Service: it exists if the TDSet asks for one, with that port and no other.

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestService(t *testing.T) {
	tdset := aTDSet(settled, withService(80))
	elsewhere := selecting("other")
	for name, test := range map[string]struct {
		tdset      *schedulev2.TDSet
		given      *corev1.Service
		want       string // the Service
		wantTaken  bool   // the status says that the name is taken
		wantWrites []string
	}{
		"a new Service is created": {
			tdset: tdset, want: "80 → 8080", wantWrites: []string{"apply services"},
		},
		"a Service that the TDSet no longer asks for is deleted": {
			tdset: aTDSet(settled), given: serviceOf(tdset), wantWrites: []string{"delete services"},
		},
		"another port": {
			tdset: aTDSet(settled, withService(81)), given: serviceOf(tdset),
			want: "81 → 8080", wantWrites: []string{"patch services"},
		},
		"another port of the container": {
			tdset: aTDSet(settled, withService(80), func(tdset *schedulev2.TDSet) { tdset.Spec.Container.Port = 9090 }), given: serviceOf(tdset),
			want: "80 → 9090", wantWrites: []string{"apply deployments", "patch services", "apply tdsets/status"},
		},
		"a manually added port is removed": {
			tdset: tdset, given: serviceOf(tdset, withPort(9090)), want: "80 → 8080", wantWrites: []string{"patch services"},
		},
		"a manual change of the selector is reverted": {
			tdset: tdset, given: serviceOf(tdset, elsewhere), want: "80 → 8080", wantWrites: []string{"apply services"},
		},
		"manual changes of both are reverted": {
			tdset: tdset, given: serviceOf(tdset, elsewhere, listeningOn(81)),
			want: "80 → 8080", wantWrites: []string{"patch services", "apply services"},
		},
		"a Service that is being deleted is unchanged": {
			tdset: tdset, given: serviceOf(tdset, listeningOn(81), terminating), want: "81 → 8080",
		},
		"somebody else's Service is unchanged": {
			tdset: tdset, given: serviceOf(tdset, unowned, listeningOn(81)),
			want: "81 → 8080", wantTaken: true, wantWrites: []string{"apply tdsets/status"},
		},
		"somebody else's Service is ignored without spec.service": {
			tdset: aTDSet(settled), given: serviceOf(tdset, unowned), want: "80 → 8080",
		},
		"a Service that is being deleted isn't deleted again": {
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
				t.Errorf("got the objects %q, want %q", got, want)
			}
			if got := c.degraded(); (got == reasonResourceExists) != test.wantTaken || !test.wantTaken && got != reasonAsExpected {
				t.Errorf("Degraded has the reason %q, want taken: %v", got, test.wantTaken)
			}
			if diff := cmp.Diff(test.wantWrites, writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// If the write of one object fails, the controller still writes the other one.
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
				t.Errorf("got the error %v, want an internal error", err)
			}
			if got := c.objects(); got != want {
				t.Errorf("got the objects %q, want %q", got, want)
			}
		})
	}
}

// A new object may not be in the cache yet. So the controller asks the API server before it creates
// one.
func TestAStaleCacheCreatesNothingTwice(t *testing.T) {
	tdset := aTDSet(known, withService(80))
	deployment, service := deploymentOf(tdset, withPods(5)), serviceOf(tdset)
	for name, test := range map[string]struct {
		stored     []client.Object // in the API server, but not in the cache yet
		want       string
		wantStatus string
		wantWrites []string
	}{
		"ours, created by our last writes": {
			stored: []client.Object{deployment, service},
			want:   "5 × nginx:1.0, 80 → 8080", wantStatus: asScheduled, wantWrites: []string{"apply tdsets/status"},
		},
		"ours, and somebody has changed both": {
			stored: []client.Object{deploymentOf(tdset, scaledTo(1)), serviceOf(tdset, listeningOn(81))},
			want:   "5 × nginx:1.0, 80 → 8080", wantWrites: []string{"apply deployments", "patch services"},
		},
		"somebody else's": {
			stored: []client.Object{deploymentOf(tdset, scaledTo(1), unowned), serviceOf(tdset, listeningOn(81), unowned)},
			want:   "1 × nginx:1.0, 81 → 8080", wantStatus: nameTaken, wantWrites: []string{"apply tdsets/status"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tdset)
			c.informed()
			c.put(test.stored...)

			_, err := c.reconcile()

			must(t, err)
			if got := c.objects(); got != test.want {
				t.Errorf("got the objects %q, want %q", got, test.want)
			}
			if got := c.status(); got != test.wantStatus {
				t.Errorf("the status is %q, want %q", got, test.wantStatus)
			}
			if diff := cmp.Diff(test.wantWrites, c.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}
