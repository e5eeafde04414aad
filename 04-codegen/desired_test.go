// The Deployment that a Foo asks for, and whether a Deployment matches it. Chapter 01 tests the rest
// of desired.go, which is the same there.

package main

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	foo := aFoo("example", "web", 3)
	for sentence, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		// Somebody changed a field that we set. TestUpToDateForgetsNothing tries each of them.
		"the replicas were set to 0":             {scaledTo(0), false},
		"all labels were removed":                {func(d *appsv1.Deployment) { d.Labels = nil }, false},
		"our container was removed":              {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = nil }, false},
		"the image was changed, beside sidecars": {func(d *appsv1.Deployment) { running("nginx:1.0")(d); withSidecars(d) }, false},

		// Somebody changed a field that we don't set.
		"only the API server's defaults were added": {func(*appsv1.Deployment) {}, true},
		"an annotation was added":                   {func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "blue"} }, true},
		"a label was added to the template":         {func(d *appsv1.Deployment) { d.Spec.Template.Labels["team"] = "blue" }, true},
		"sidecars were added before and after ours": {withSidecars, true},
		"the rollout was paused":                    {func(d *appsv1.Deployment) { d.Spec.Paused = true }, true},
	} {
		t.Run(sentence, func(t *testing.T) {
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
	observed := applied(desiredDeployment(foo))
	// These never change: the Deployment's identity, its owner and its selector.
	observed.TypeMeta, observed.Name, observed.Namespace = metav1.TypeMeta{}, "", ""
	observed.OwnerReferences, observed.Spec.Selector = nil, nil
	text, err := json.MarshalIndent(observed, "", " ")
	must(t, err)
	values := regexp.MustCompile(`: (".*"|\d+)`).FindAllSubmatchIndex(text, -1)
	for _, at := range values {
		begin, end := at[2], at[3]
		other := "7"
		if text[begin] == '"' {
			other = `"other"`
		}
		changed := string(text[:begin]) + other + string(text[end:])
		var observed appsv1.Deployment
		must(t, json.Unmarshal([]byte(changed), &observed))
		if upToDate(&observed, desiredDeployment(foo)) {
			t.Errorf("upToDate doesn't notice that %s has become %s in\n%s", text[begin:end], other, text)
		}
	}
	if len(values) < 8 {
		t.Errorf("only %d fields were changed in\n%s", len(values), text)
	}
}
