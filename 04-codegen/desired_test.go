// The Deployment that a Foo asks for, and whether a Deployment matches it. Pure functions need no
// server and no mocks: values in, values out.

package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

func TestDesiredDeployment(t *testing.T) {
	var foo samplecontrollerv1alpha1.Foo
	var want appsv1ac.DeploymentApplyConfiguration
	readYAML(t, "testdata/foo.yaml", &foo)
	readYAML(t, "testdata/deployment.yaml", &want)

	if diff := cmp.Diff(&want, desiredDeployment(&foo)); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
}

func TestUpToDate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		// Somebody changed a field that we set. TestUpToDateForgetsNothing tries each of them.
		"the replicas were set to 0":             {scaledTo(0), false},
		"a label was removed":                    {func(d *appsv1.Deployment) { delete(d.Labels, controllerLabel) }, false},
		"all labels were removed":                {func(d *appsv1.Deployment) { d.Labels = nil }, false},
		"our container was removed":              {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = nil }, false},
		"the image was changed, beside sidecars": {both(running("nginx:1.0"), withSidecars), false},

		// Somebody changed a field that we don't set.
		"only the API server's defaults were added": {func(*appsv1.Deployment) {}, true},
		"an annotation was added":                   {annotated, true},
		"a label was added":                         {func(d *appsv1.Deployment) { d.Labels["team"] = "blue" }, true},
		"a label was added to the template":         {func(d *appsv1.Deployment) { d.Spec.Template.Labels["team"] = "blue" }, true},
		"sidecars were added before and after ours": {withSidecars, true},
		"a variable was added to our container":     {withVariable, true},
		"the rollout was paused":                    {func(d *appsv1.Deployment) { d.Spec.Paused = true }, true},
		"no replica is available yet":               {available(0), true},
	} {
		t.Run(name, func(t *testing.T) {
			foo := aFoo("example", "web", 3)
			if got := upToDate(deploymentOf(foo, test.change), desiredDeployment(foo)); got != test.want {
				t.Errorf("upToDate = %v, want %v", got, test.want)
			}
		})
	}
}

// TestUpToDateForgetsNothing changes each field that the controller sets, one at a time. If you add a
// field to desiredDeployment but not to upToDate, existing Deployments would never get it.
func TestUpToDateForgetsNothing(t *testing.T) {
	foo := aFoo("example", "web", 3)
	desired := desiredDeployment(foo)
	fields := 0
	for field, observed := range eachFieldChanged(t, desired) {
		fields++
		if upToDate(observed, desired) {
			t.Errorf("%s has another value, and upToDate doesn't notice", field)
		}
	}
	if fields < 8 {
		t.Errorf("only %d fields were changed: does eachFieldChanged still find them?", fields)
	}
}

// eachFieldChanged returns copies of desired, each with another value in one field. It leaves out the
// fields that never change: the Deployment's identity, its owner and its selector.
func eachFieldChanged(t *testing.T, desired any) map[string]*appsv1.Deployment {
	t.Helper()
	encoded, err := json.Marshal(desired)
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(encoded, &root); err != nil {
		t.Fatal(err)
	}
	all := map[string]*appsv1.Deployment{}
	var walk func(path string, value any, set func(any))
	walk = func(path string, value any, set func(any)) {
		switch path {
		case ".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.ownerReferences", ".spec.selector":
			return
		}
		var other any
		switch value := value.(type) {
		case map[string]any:
			for key, child := range value {
				walk(path+"."+key, child, func(changed any) { value[key] = changed })
			}
			return
		case []any:
			for i, child := range value {
				walk(fmt.Sprintf("%s[%d]", path, i), child, func(changed any) { value[i] = changed })
			}
			return
		case string:
			other = value + "-other"
		case float64:
			other = value + 1
		case bool:
			other = !value
		default: // null
			return
		}
		set(other)
		changed, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		set(value)
		all[path] = &appsv1.Deployment{}
		if err := json.Unmarshal(changed, all[path]); err != nil {
			t.Fatal(err)
		}
	}
	walk("", root, nil)
	return all
}

// If a Foo or a Deployment has no number of replicas, that means one.
func TestUpToDateWithoutReplicas(t *testing.T) {
	one, none := aFoo("example", "web", 1), aFoo("example", "web", 1)
	none.Spec.Replicas = nil
	withoutNumber := func(d *appsv1.Deployment) { d.Spec.Replicas = nil }

	if !upToDate(deploymentOf(one), desiredDeployment(none)) {
		t.Error("upToDate is false for a Deployment with one replica and a Foo without a number, want true")
	}
	if !upToDate(deploymentOf(one, withoutNumber), desiredDeployment(one)) {
		t.Error("upToDate is false for a Deployment without a number and a Foo with one replica, want true")
	}
	if upToDate(deploymentOf(aFoo("example", "web", 2)), desiredDeployment(none)) {
		t.Error("upToDate is true for a Deployment with two replicas and a Foo without a number, want false")
	}
}

func withVariable(deployment *appsv1.Deployment) {
	deployment.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "COLOUR", Value: "blue"}}
}

func both(first, second func(*appsv1.Deployment)) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { first(deployment); second(deployment) }
}
