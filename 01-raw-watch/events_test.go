// Which Foos an event concerns, with Foos on a real API server. A Deployment only occurs in an event
// here, so it needn't exist.

package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
)

func TestIntegrationFindFoosForDeployment(t *testing.T) {
	c := newRealCluster(t)
	owner := aFoo("owner", "new", 1)
	c.create(owner)
	c.create(aFoo("first", "web", 1))
	c.create(aFoo("second", "web", 1))
	for sentence, test := range map[string]struct {
		name   string // of the Deployment that was created, changed or deleted
		change func(*appsv1.Deployment)
		want   []string
	}{
		"nobody owns it: the Foos that ask for its name":         {"web", unowned, []string{"first", "second"}},
		"a Foo owns it and asks for its name: that Foo, once":    {"new", nobodyHasChangedIt, []string{"owner"}},
		"its Foo was renamed: the Foo is found by the reference": {"old", nobodyHasChangedIt, []string{"owner"}},
		"another Foo owns it: that Foo, and those that wait":     {"web", nobodyHasChangedIt, []string{"first", "owner", "second"}},
		"its owner has another version of our group: that Foo":   {"old", ownedBy("samplecontroller.k8s.io/v1", "Foo"), []string{"owner"}},
		"its owner is a Foo of another group: none":              {"old", ownedBy("example.com/v1alpha1", "Foo"), nil},
		"its owner is another kind of our group: none":           {"old", ownedBy("samplecontroller.k8s.io/v1alpha1", "Bar"), nil},
		"it is in another namespace: none":                       {"web", func(d *appsv1.Deployment) { unowned(d); d.Namespace = "default" }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			keys, err := c.findFoosForDeployment(t.Context(), deploymentOf(owner, named(test.name), test.change))
			must(t, err)
			var got []string
			for _, key := range keys {
				got = append(got, key.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Foos (-want +got):\n%s", diff)
			}
		})
	}
}

func nobodyHasChangedIt(*appsv1.Deployment) {}

func ownedBy(apiVersion, kind string) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) {
		deployment.OwnerReferences[0].APIVersion, deployment.OwnerReferences[0].Kind = apiVersion, kind
	}
}
