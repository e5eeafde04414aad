// How writes leave: each says what it assumes. The fake clientset doesn't look at that, so these tests look at what is sent;
// what a server says to it is in integration_test.go.

package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
)

func TestWritesSayWhatTheyAssume(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, deploymentOf(foo), renamed, deploymentOf(renamed, scaledTo(1))) // resourceVersions 1, 2 and 3

	for range 2 { // the update, then the rest
		if err := c.sync("example"); err != nil {
			t.Fatal(err)
		}
	}

	var assumed []string
	for _, action := range append(c.fakeKube.Actions(), c.fakeFoos.Actions()...) {
		switch action := action.(type) {
		case clienttesting.UpdateActionImpl:
			object := action.Object.(metav1.Object)
			assumed = append(assumed, fmt.Sprintf("update %s %s if it is at %s", resourceOf(action), object.GetName(), object.GetResourceVersion()))
		case clienttesting.DeleteActionImpl:
			assumed = append(assumed, fmt.Sprintf("delete %s %s if it is %q", resourceOf(action), action.Name, *action.DeleteOptions.Preconditions.UID))
		}
	}
	want := []string{
		"update deployments new if it is at 3",
		`delete deployments web if it is "uid of web"`,
		"update foos/status example if it is at 2",
	}
	if diff := cmp.Diff(want, assumed); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// A former Deployment that somebody else deletes first is gone, as it should be: that is no failure.
func TestDeletingWhatIsGone(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, renamed, deploymentOf(foo), deploymentOf(renamed))
	c.refuseNext("delete", "deployments", apierrors.NewNotFound(deploymentsResource.GroupResource(), "web"))

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	if got := c.ready("example"); got != "Progressing" {
		t.Errorf("Ready has the reason %q: the work ended half way", got)
	}
}

// What is put back is what we set: merge leaves all else in place, and the Deployment that was read as it was.
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
		"replicas, image and pull policy, beside somebody's sidecars and annotation": {
			observed: deploymentOf(foo, scaledTo(1), running("nginx:1.0"), pulling(corev1.PullAlways), withSidecars, annotated),
			want:     deploymentOf(foo, withSidecars, annotated),
		},
		"labels that were removed": {
			observed: deploymentOf(foo, func(d *appsv1.Deployment) { d.Labels, d.Spec.Template.Labels = nil, nil }),
			want:     deploymentOf(foo),
		},
		"our container, which somebody has renamed: it is made again beside theirs": {
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
				t.Error("what was merged is not up to date: the next event would write again")
			}
			if diff := cmp.Diff(before, test.observed); diff != "" {
				t.Errorf("the Deployment that was read was changed (-before +after):\n%s", diff)
			}
		})
	}
}
