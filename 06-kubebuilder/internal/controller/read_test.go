// The reads: what the indexes find, and what they don't.

package controller

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
)

func TestListFoosFindsThoseThatWantTheName(t *testing.T) {
	elsewhere := aFoo("elsewhere", "web", 1, func(foo *v1alpha1.Foo) { foo.Namespace = "other" })
	c := newCluster(t, aFoo("first", "web", 1), aFoo("second", "web", 1), aFoo("third", "db", 1), elsewhere)
	want := client.MatchingFields{byDeploymentName: "web"}

	if diff := cmp.Diff([]string{"first", "second"}, c.found(&v1alpha1.FooList{}, want)); diff != "" {
		t.Errorf("Foos that want web (-want +got):\n%s", diff)
	}

	c.put(aFoo("second", "db", 1))

	if diff := cmp.Diff([]string{"first"}, c.found(&v1alpha1.FooList{}, want)); diff != "" {
		t.Errorf("Foos that want web, after one was renamed (-want +got):\n%s", diff)
	}
}

// The Foo's label is not asked: anyone can set it.
func TestListDeploymentsFindsThoseThatTheFooControls(t *testing.T) {
	foo := aFoo("example", "web", 3)
	named := func(name string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Name = name }
	}
	withoutLabels := func(d *appsv1.Deployment) { d.Labels = nil }
	ownedOnly := func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = nil }
	c := newCluster(t, foo, deploymentOf(foo), deploymentOf(foo, named("former"), withoutLabels),
		deploymentOf(foo, named("unowned"), unowned), deploymentOf(foo, named("earlier"), ofAnEarlierFoo),
		deploymentOf(foo, named("owned"), ownedOnly))

	found := c.found(&appsv1.DeploymentList{}, client.MatchingFields{byOwner: string(foo.UID)})

	if diff := cmp.Diff([]string{"former", "web"}, found); diff != "" {
		t.Errorf("Deployments (-want +got):\n%s", diff)
	}
}

// A request is spent only where the cache has nothing, which is before a Deployment is made.
func TestTheServerIsAskedOnlyForWhatTheCacheLacks(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for name, test := range map[string]struct {
		given []client.Object
		want  []string
	}{
		"the cache has it":              {[]client.Object{foo, deploymentOf(foo, scaledTo(1))}, nil},
		"the cache has somebody else's": {[]client.Object{foo, deploymentOf(foo, unowned)}, nil},
		"the cache has none":            {[]client.Object{foo}, []string{"live get deployments"}},
		"the cache has no such Foo":     {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)

			must(t, c.sync("example"))

			var asked []string
			for _, request := range c.requests {
				if request.verb == "live get" {
					asked = append(asked, request.String())
				}
			}
			if diff := cmp.Diff(test.want, asked); diff != "" {
				t.Errorf("the server was asked (-want +got):\n%s", diff)
			}
		})
	}
}

// found lists by an index, and returns the names of what is there.
func (c *cluster) found(list client.ObjectList, by client.MatchingFields) (names []string) {
	c.t.Helper()
	c.informed()
	must(c.t, c.List(c.t.Context(), list, client.InNamespace("default"), by))
	must(c.t, meta.EachListItem(list, func(object runtime.Object) error {
		names = append(names, object.(client.Object).GetName())
		return nil
	}))
	slices.Sort(names)
	return names
}
