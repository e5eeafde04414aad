// The reads: which objects the indexes find, and which they don't.

package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

func TestListFoos(t *testing.T) {
	elsewhere := aFoo("elsewhere", "web", 1, func(foo *samplecontrollerv1alpha1.Foo) { foo.Namespace = "other" })
	c := newCluster(t, aFoo("first", "web", 1), aFoo("second", "web", 1), aFoo("third", "db", 1), elsewhere)
	c.informed()

	if diff := cmp.Diff([]string{"first", "second"}, c.foosThatAskFor("web")); diff != "" {
		t.Errorf("Foos that ask for web (-want +got):\n%s", diff)
	}

	c.put(aFoo("second", "db", 1))
	c.informed()

	if diff := cmp.Diff([]string{"second", "third"}, c.foosThatAskFor("db")); diff != "" {
		t.Errorf("Foos that ask for db, after a rename (-want +got):\n%s", diff)
	}
}

// The Foo's label doesn't matter, because anyone can set it.
func TestListDeployments(t *testing.T) {
	foo := aFoo("example", "web", 3)
	named := func(name string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Name = name }
	}
	withoutLabels := func(d *appsv1.Deployment) { d.Labels = nil }
	ownedOnly := func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = nil }
	c := newCluster(t, foo, deploymentOf(foo), deploymentOf(foo, named("former"), withoutLabels),
		deploymentOf(foo, named("unowned"), unowned), deploymentOf(foo, named("earlier"), ofAnEarlierFoo),
		deploymentOf(foo, named("owned"), ownedOnly))
	c.informed()

	found, err := c.listDeployments(t.Context(), foo)
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"former", "web"}, namesOf(found)); diff != "" {
		t.Errorf("Deployments (-want +got):\n%s", diff)
	}
}

func TestGetDeployment(t *testing.T) {
	c := newCluster(t, deploymentOf(aFoo("example", "web", 3)))
	c.informed()

	if _, err := c.getDeployment(t.Context(), "default", "web"); err != nil {
		t.Error(err)
	}
	if _, err := c.getDeployment(t.Context(), "other", "web"); !apierrors.IsNotFound(err) {
		t.Errorf("in another namespace: got the error %v, want NotFound", err)
	}
}

func (c *cluster) foosThatAskFor(deploymentName string) []string {
	foos, err := c.listFoos(c.t.Context(), "default", deploymentName)
	if err != nil {
		c.t.Fatal(err)
	}
	return namesOf(foos)
}

func namesOf[T metav1.Object](objects []T) []string {
	var names []string
	for _, object := range objects {
		names = append(names, object.GetName())
	}
	slices.Sort(names)
	return names
}
