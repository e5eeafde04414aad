// Optimistic concurrency: each write states its assumption, and if that is no longer true, the
// server refuses the write (409 Conflict).

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The smallest example: two programs have read the same Deployment, and the other one writes first.
func TestAStaleUpdateIsRefused(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, deploymentOf(foo, scaledTo(1)))
	read := c.deployment("web")
	c.put(deploymentOf(foo, scaledTo(1), annotated))

	_, err := c.updateDeployment(t.Context(), read, desiredDeployment(foo))

	if !apierrors.IsConflict(err) {
		t.Errorf("got the error %v, want a conflict", err)
	}
	if diff := cmp.Diff([]string{"web: 1 × nginx:latest (team blue)"}, c.deployments()); diff != "" {
		t.Errorf("Deployments (-want +got):\n%s", diff)
	}
}

// The same for each kind of write. Somebody else writes between the controller's read and its
// write. The event that this causes leads to the right state.
func TestStaleWritesAreRefused(t *testing.T) {
	foo := aFoo("example", "web", 3)
	renamed := aFoo("example", "new", 3)
	anothersWeb := deploymentOf(foo, unowned, scaledTo(1), func(d *appsv1.Deployment) { d.UID = "another's" })
	for name, test := range map[string]struct {
		given []metav1.Object
		// Just before the controller's write arrives, somebody else puts this object.
		verb, on string
		put      metav1.Object

		wantRefusal     func(error) bool
		wantDeployments []string // after the refusal: only the other write took effect
		wantInTheEnd    []string // after the event that the other write causes
	}{
		"a Deployment is annotated while it is being updated": {
			given: []metav1.Object{foo, deploymentOf(foo, scaledTo(1))},
			verb:  "update", on: "deployments/web",
			put:             deploymentOf(foo, scaledTo(1), annotated),
			wantRefusal:     apierrors.IsConflict,
			wantDeployments: []string{"web: 1 × nginx:latest (team blue)"},
			wantInTheEnd:    []string{"web: 3 × nginx:latest (team blue)"},
		},
		"a Foo is changed while its status is being written": {
			given: []metav1.Object{foo, deploymentOf(foo)},
			verb:  "update", on: "foos/example/status",
			put:             aFoo("example", "web", 5),
			wantRefusal:     apierrors.IsConflict,
			wantDeployments: []string{"web: 3 × nginx:latest"},
			wantInTheEnd:    []string{"web: 5 × nginx:latest"},
		},
		"a name is taken while a Deployment is being created": {
			given: []metav1.Object{foo},
			verb:  "create", on: "deployments",
			put:             anothersWeb,
			wantRefusal:     apierrors.IsAlreadyExists,
			wantDeployments: []string{"web: 1 × nginx:latest"},
			wantInTheEnd:    []string{"web: 1 × nginx:latest"},
		},
		"a former Deployment is replaced while it is being deleted": {
			given: []metav1.Object{renamed, deploymentOf(foo), deploymentOf(renamed)},
			verb:  "delete", on: "deployments/web",
			put:             anothersWeb,
			wantRefusal:     apierrors.IsConflict,
			wantDeployments: []string{"new: 3 × nginx:latest", "web: 1 × nginx:latest"},
			wantInTheEnd:    []string{"new: 3 × nginx:latest", "web: 1 × nginx:latest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.beforeNext(test.verb, test.on, func() *apierrors.StatusError {
				c.put(test.put)
				return nil
			})

			if err := c.sync("example"); !test.wantRefusal(err) {
				t.Errorf("got the error %v, want another kind of refusal", err)
			}
			if diff := cmp.Diff(test.wantDeployments, c.deployments()); diff != "" {
				t.Errorf("Deployments after the refusal (-want +got):\n%s", diff)
			}

			if err := c.sync("example"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.wantInTheEnd, c.deployments()); diff != "" {
				t.Errorf("Deployments after the next event (-want +got):\n%s", diff)
			}
		})
	}
}

// If somebody else has deleted a former Deployment first, that is no error, because it is gone as
// it should be.
func TestDeletingADeletedDeployment(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, renamed, deploymentOf(foo), deploymentOf(renamed))
	c.beforeNext("delete", "deployments/web", func() *apierrors.StatusError {
		c.remove(deploymentOf(foo))
		return nil
	})

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"new: 3 × nginx:latest"}, c.deployments()); diff != "" {
		t.Errorf("Deployments (-want +got):\n%s", diff)
	}
}

// merge sets only our own fields. It leaves the others alone, and doesn't change the Deployment
// that was read.
func TestMerge(t *testing.T) {
	foo := aFoo("example", "web", 3)
	theirs := func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Name = "theirs" }
	ours := func(d *appsv1.Deployment) {
		pod := &d.Spec.Template.Spec
		pod.Containers = append(pod.Containers, desiredDeployment(foo).Spec.Template.Spec.Containers...)
	}
	for name, test := range map[string]struct {
		observed, want *appsv1.Deployment
	}{
		"sets replicas, image and pull policy, and keeps sidecars and an annotation": {
			observed: deploymentOf(foo, scaledTo(1), running("nginx:1.0"), pulling(corev1.PullAlways), withSidecars, annotated),
			want:     deploymentOf(foo, withSidecars, annotated),
		},
		"restores removed labels": {
			observed: deploymentOf(foo, func(d *appsv1.Deployment) { d.Labels, d.Spec.Template.Labels = nil, nil }),
			want:     deploymentOf(foo),
		},
		"adds our container beside the one that somebody has renamed": {
			observed: deploymentOf(foo, theirs),
			want:     deploymentOf(foo, theirs, ours),
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.observed.DeepCopy()

			got := merge(test.observed, desiredDeployment(foo))

			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if !upToDate(got, desiredDeployment(foo)) {
				t.Error("the merged Deployment isn't up to date, so the next event would cause another write")
			}
			if diff := cmp.Diff(before, test.observed); diff != "" {
				t.Errorf("merge changed the Deployment that was read (-before +after):\n%s", diff)
			}
		})
	}
}
