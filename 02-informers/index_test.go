package main

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestIndexByDeploymentName(t *testing.T) {
	if got, _ := indexByDeploymentName(aFoo("example", "web", 1)); !slices.Equal(got, []string{"default/web"}) {
		t.Errorf("got %q, want the namespace and the deploymentName", got)
	}
}

// The Foo's label doesn't matter, because anyone can set it. Its name doesn't either, because another
// Foo may get the name later.
func TestIndexByOwner(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for sentence, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   []string
	}{
		"it has lost its labels":                      {func(d *appsv1.Deployment) { d.Labels = nil }, []string{"uid of example"}},
		"it has lost its owner":                       {func(d *appsv1.Deployment) { d.OwnerReferences = nil }, nil},
		"the Foo is an owner, but not its controller": {func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = nil }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, _ := indexByOwner(deploymentOf(foo, test.change)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
