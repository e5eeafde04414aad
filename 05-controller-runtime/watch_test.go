// Who comes to Reconcile, by real watches: what setUp says, controller-runtime does.

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// In each case what is given is there, and has been looked at, when something is done to a Foo or a Deployment.
func TestWhatBringsAFoo(t *testing.T) {
	type objects = []client.Object
	example, another, renamed := aFoo("example", "web", 1), aFoo("another", "web", 1), aFoo("example", "new", 1)
	web, theirs := deploymentOf(example), deploymentOf(example, unowned)
	all := newAudience(t, func(o *options) { o.namespace = "" }) // each case has one of its own
	for name, test := range map[string]struct {
		given objects
		do    func(*audience, client.Object)
		to    client.Object
		want  []string
	}{
		"a Foo is made":      {nil, made, example, []string{"example"}},
		"a Foo is changed":   {objects{example}, scaled, example, []string{"example"}},
		"a Foo is annotated": {objects{example}, touched, example, []string{"example"}},
		"a Foo is deleted":   {objects{example}, deleted, example, []string{"example"}},

		"its Deployment is made":           {objects{example}, made, web, []string{"example"}},
		"its Deployment is scaled":         {objects{example, web}, scaled, web, []string{"example"}},
		"its Deployment is annotated":      {objects{example, web}, touched, web, []string{"example"}},
		"its Deployment is deleted":        {objects{example, web}, deleted, web, []string{"example"}},
		"its former Deployment is deleted": {objects{renamed, web}, deleted, web, []string{"example"}},

		"a Deployment that two want is made":                 {objects{example, another}, made, theirs, []string{"another", "example"}},
		"a Deployment that one has and one wants is deleted": {objects{renamed, another, web}, deleted, web, []string{"another", "example"}},
		"a Deployment that nobody has or wants is made":      {objects{renamed}, made, theirs, nil},

		// The owner reference names a version, and the server is asked whether it has that. (Chapter 04 looks at the group alone.)
		"its owner's version is none that the server has": {objects{renamed}, made, deploymentOf(example, ofAnotherVersion), nil},
		"its owner is a Foo of another group":             {objects{renamed}, made, deploymentOf(example, ofAnotherGroupsFoo), nil},
		"its owner is of another kind of our group":       {objects{renamed}, made, deploymentOf(example, ofABar), nil},
		"its owner isn't its controller":                  {objects{renamed}, made, deploymentOf(example, ownedOnly), nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := all.elsewhere(t)
			for _, object := range test.given {
				made(a, a.here(object))
			}
			a.settle()

			test.do(a, a.here(test.to))

			if diff := cmp.Diff(test.want, a.settle()); diff != "" {
				t.Errorf("Foos (-want +got):\n%s", diff)
			}
		})
	}
}

func made(a *audience, object client.Object)    { must(a.t, a.users.Create(a.t.Context(), object)) }
func deleted(a *audience, object client.Object) { must(a.t, a.users.Delete(a.t.Context(), object)) }
func scaled(a *audience, object client.Object) {
	a.patch(object, object.GetName(), `{"spec":{"replicas":2}}`)
}
func touched(a *audience, object client.Object) {
	a.patch(object, object.GetName(), `{"metadata":{"annotations":{"touched":"yes"}}}`)
}

// A Foo in another namespace than the one that the program acts on doesn't come.
func TestOtherNamespaces(t *testing.T) {
	a := newAudience(t)
	elsewhere := newBareCluster(t)
	elsewhere.create(example)
	a.create(example)

	if diff := cmp.Diff([]string{"example"}, a.settle()); diff != "" {
		t.Errorf("Foos (-want +got):\n%s", diff)
	}
	if len(a.strangers) != 0 {
		t.Errorf("Foos of other namespaces came: %v", a.strangers)
	}
}

// A resync, which is an update to the same resourceVersion, brings each Foo, but none for the sake of a Deployment.
func TestAResyncOfADeploymentBringsNobody(t *testing.T) {
	t.Parallel()
	a := newAudience(t, func(o *options) { o.Cache.SyncPeriod = new(time.Second) }) // it can't be shorter
	a.create(example)
	orphan := deploymentOf(aFoo("ghost", "ghostly", 1)) // its Foo comes for its sake alone
	a.makeByHand(orphan)
	if diff := cmp.Diff([]string{"example", "ghost"}, a.settle()); diff != "" {
		t.Fatalf("Foos (-want +got):\n%s", diff)
	}
	resyncs := make(chan struct{}, 100)
	informer, err := a.mgr.GetCache().GetInformer(t.Context(), &appsv1.Deployment{})
	must(t, err)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, new any) {
		if old.(*appsv1.Deployment).ResourceVersion == new.(*appsv1.Deployment).ResourceVersion && new.(*appsv1.Deployment).Name == orphan.Name {
			resyncs <- struct{}{}
		}
	}})
	must(t, err)

	for range 2 { // our own handlers came first, so they have seen one of them
		<-resyncs
	}

	if diff := cmp.Diff([]string{"example"}, a.settle()); diff != "" {
		t.Errorf("Foos (-want +got):\n%s", diff)
	}
}

func ofAnotherVersion(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "samplecontroller.k8s.io/v1"
}

func ofAnotherGroupsFoo(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "example.com/v1alpha1"
}

func ofABar(deployment *appsv1.Deployment) { deployment.OwnerReferences[0].Kind = "Bar" }

func ownedOnly(deployment *appsv1.Deployment) { deployment.OwnerReferences[0].Controller = nil }
