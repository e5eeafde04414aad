// The Deployment that a Foo asks for, whether a Deployment matches it, and how it is updated. Pure
// functions need no server and no mocks: values in, values out.

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

func TestDesiredDeployment(t *testing.T) {
	var foo samplecontrollerv1alpha1.Foo
	var want appsv1.Deployment
	readYAML(t, "testdata/foo.yaml", &foo)
	readYAML(t, "testdata/deployment.yaml", &want)

	if diff := cmp.Diff(&want, desiredDeployment(&foo)); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
}

// An update is needed if somebody has changed a field that we set. It keeps everybody else's fields.
func TestUpToDate(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for sentence, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"the replicas were set to 0":             {scaledTo(0), false},
		"all labels were removed":                {withoutLabels, false},
		"our container was removed":              {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = nil }, false},
		"the image was changed, beside sidecars": {both(running("nginx:1.0"), withSidecars), false},

		"only the API server's defaults were added": {func(*appsv1.Deployment) {}, true},
		"an annotation was added":                   {annotated, true},
		"a label was added to the template":         {func(d *appsv1.Deployment) { d.Spec.Template.Labels["team"] = "blue" }, true},
		"sidecars were added before and after ours": {withSidecars, true},
		"the rollout was paused":                    {func(d *appsv1.Deployment) { d.Spec.Paused = true }, true},
		"no replica is available yet":               {available(0), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := upToDate(deploymentOf(foo, test.change), desiredDeployment(foo)); got != test.want {
				t.Errorf("upToDate = %v, want %v", got, test.want)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	foo := aFoo("example", "web", 3)
	theirs := both(annotated, withSidecars)
	observed := deploymentOf(foo, running("nginx:1.0"), scaledTo(1), withoutLabels, theirs)
	before := observed.DeepCopy()

	got := merge(observed, desiredDeployment(foo))

	if diff := cmp.Diff(deploymentOf(foo, theirs), got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, observed); diff != "" {
		t.Errorf("merge changed the Deployment that was read (-before +after):\n%s", diff)
	}
}

// If you add a field to desiredDeployment but not to merge, existing Deployments never get it. So
// merge has to fill in everything but the fields that never change: the Deployment's identity, its
// owner and its selector.
func TestMergeForgetsNothing(t *testing.T) {
	desired := desiredDeployment(aFoo("example", "web", 3))
	observed := &appsv1.Deployment{
		TypeMeta:   desired.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{Namespace: desired.Namespace, Name: desired.Name, OwnerReferences: desired.OwnerReferences},
		Spec:       appsv1.DeploymentSpec{Selector: desired.Spec.Selector},
	}
	observed.Spec.Template.Spec.Containers = []corev1.Container{{Name: containerName}}

	if diff := cmp.Diff(desired, merge(observed, desired)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
}

func TestControls(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for sentence, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"the Foo is its controller":                          {func(*appsv1.Deployment) {}, true},
		"it has no controller":                               {unowned, false},
		"an earlier Foo of the same name is its controller":  {ofAnEarlierFoo, false},
		"the Foo is an owner, but not its controller":        {func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = nil }, false},
		"the Foo is its controller, but it is being deleted": {terminating, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := controls(foo, deploymentOf(foo, test.change)); got != test.want {
				t.Errorf("controls = %v, want %v", got, test.want)
			}
		})
	}
}

func both(first, second func(*appsv1.Deployment)) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { first(deployment); second(deployment) }
}
