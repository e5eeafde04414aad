// The Foos that an event concerns, and the whole controller on a server with watches.

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

func TestHandleObject(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	settled := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
		foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), nil, earlier)
	})
	for name, test := range map[string]struct {
		given     []metav1.Object
		event     metav1.Object
		want      []string // Deployments
		wantReady string
	}{
		"a Deployment has become available: its Foo is ready": {
			given:     []metav1.Object{foo, deploymentOf(foo, available(3))},
			event:     deploymentOf(foo),
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"a Deployment was deleted by hand: it is created again": {
			given:     []metav1.Object{settled},
			event:     deploymentOf(settled),
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Progressing",
		},
		"somebody else's Deployment was deleted: a Foo that asks for the name gets its Deployment": {
			given:     []metav1.Object{foo},
			event:     deploymentOf(foo, unowned),
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Progressing",
		},
		"somebody else's Deployment was created: a Foo that asks for the name reports the conflict": {
			given:     []metav1.Object{foo, deploymentOf(foo, unowned)},
			event:     deploymentOf(foo, unowned),
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "ErrResourceExists",
		},
		"a Deployment that its Foo no longer names has changed: the Foo is found by the owner reference": {
			given:     []metav1.Object{renamed, deploymentOf(foo)},
			event:     deploymentOf(foo),
			want:      []string{"new: 3 × nginx:latest"},
			wantReady: "Progressing",
		},
		"the owner reference has another version of our group: the Foo is found": {
			given:     []metav1.Object{renamed, deploymentOf(foo, ofAnotherVersion)},
			event:     deploymentOf(foo, ofAnotherVersion),
			want:      []string{"new: 3 × nginx:latest"},
			wantReady: "Progressing",
		},
		"the owner is a Foo of another group: our Foo with that name isn't synced": {
			given: []metav1.Object{renamed, deploymentOf(foo, ofAnotherGroupsFoo)},
			event: deploymentOf(foo, ofAnotherGroupsFoo),
			want:  []string{"web: 3 × nginx:latest"},
		},
		"the owner is another kind of our group: the Foo with that name isn't synced": {
			given: []metav1.Object{renamed, deploymentOf(foo, ofABar)},
			event: deploymentOf(foo, ofABar),
			want:  []string{"web: 3 × nginx:latest"},
		},
		"a Deployment in another namespace has changed: no Foo is synced": {
			given: []metav1.Object{foo},
			event: deploymentOf(foo, func(d *appsv1.Deployment) { d.Namespace = "other" }),
		},
		"the owner is gone: nothing happens": {
			given: []metav1.Object{deploymentOf(foo)},
			event: deploymentOf(foo),
			want:  []string{"web: 3 × nginx:latest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)

			c.handleObject(t.Context(), test.event)

			if diff := cmp.Diff(test.want, c.deployments(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Deployments (-want +got):\n%s", diff)
			}
			if got := c.ready("example"); got != test.wantReady {
				t.Errorf("Ready has the reason %q, want %q", got, test.wantReady)
			}
		})
	}
}

// The whole controller: it lists and handles the existing objects, and then watches.
func TestRun(t *testing.T) {
	before := aFoo("before", "web", 3)
	c := newCluster(t, before)
	stop := c.start()
	defer stop()

	c.eventually("a Foo that existed before the controller has its Deployment", func() bool {
		return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"}) && c.ready("before") == "Progressing"
	})
	c.put(deploymentOf(before, available(3)))
	c.eventually("the Foo is ready when its Deployment is", func() bool { return c.ready("before") == "Available" })
	c.put(deploymentOf(before, available(3), scaledTo(1)))
	c.eventually("a change by hand is reverted", func() bool {
		return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
	})
	c.put(aFoo("later", "db", 1))
	c.eventually("a Foo that was created later has its Deployment", func() bool {
		return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
	})
}

func ofAnotherVersion(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "samplecontroller.k8s.io/v1"
}

func ofAnotherGroupsFoo(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "example.com/v1alpha1"
}

func ofABar(deployment *appsv1.Deployment) { deployment.OwnerReferences[0].Kind = "Bar" }
