// Which events enqueue which Foos, with real watches: tests of SetupWithManager.

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// In each case, the given objects exist, and their events have been handled, before do changes an
// object.
func TestWhichEventsEnqueueAFoo(t *testing.T) {
	type objects = []client.Object
	example, another, renamed := aFoo("example", "web", 1), aFoo("another", "web", 1), aFoo("example", "new", 1)
	web, theirs := deploymentOf(example), deploymentOf(example, unowned)
	all := newKeyRecorder(t, func(o *ctrl.Options) { o.Cache.DefaultNamespaces = nil }) // each case has a namespace of its own
	for name, test := range map[string]struct {
		given objects
		do    func(*keyRecorder, client.Object)
		to    client.Object
		want  []string
	}{
		"a Foo is created":   {nil, create, example, []string{"example"}},
		"a Foo is changed":   {objects{example}, scale, example, []string{"example"}},
		"a Foo is annotated": {objects{example}, annotate, example, []string{"example"}},
		"a Foo is deleted":   {objects{example}, remove, example, []string{"example"}},

		"its Deployment is created":        {objects{example}, create, web, []string{"example"}},
		"its Deployment is scaled":         {objects{example, web}, scale, web, []string{"example"}},
		"its Deployment is annotated":      {objects{example, web}, annotate, web, []string{"example"}},
		"its Deployment is deleted":        {objects{example, web}, remove, web, []string{"example"}},
		"its former Deployment is deleted": {objects{renamed, web}, remove, web, []string{"example"}},

		"a Deployment whose name two Foos ask for is created":                  {objects{example, another}, create, theirs, []string{"another", "example"}},
		"a Deployment of one Foo, whose name another one asks for, is deleted": {objects{renamed, another, web}, remove, web, []string{"another", "example"}},
		"a Deployment that concerns no Foo is created":                         {objects{renamed}, create, theirs, nil},

		// The owner reference names a version, and controller-runtime asks the server for its
		// kinds. (Chapter 04 compares only the group.)
		"the server doesn't have its owner's version": {objects{renamed}, create, deploymentOf(example, ofAnotherVersion), nil},
		"its owner is a Foo of another group":         {objects{renamed}, create, deploymentOf(example, ofAnotherGroupsFoo), nil},
		"its owner has another kind of our group":     {objects{renamed}, create, deploymentOf(example, ofABar), nil},
		"its owner isn't its controller":              {objects{renamed}, create, deploymentOf(example, ownedOnly), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := all.inNewNamespace(t)
			for _, object := range test.given {
				create(r, r.here(object))
			}
			r.settle()

			test.do(r, r.here(test.to))

			if diff := cmp.Diff(test.want, r.settle()); diff != "" {
				t.Errorf("reconciled Foos (-want +got):\n%s", diff)
			}
		})
	}
}

func create(r *keyRecorder, object client.Object) { must(r.t, r.users.Create(r.t.Context(), object)) }
func remove(r *keyRecorder, object client.Object) { must(r.t, r.users.Delete(r.t.Context(), object)) }
func scale(r *keyRecorder, object client.Object) {
	r.patch(object, object.GetName(), `{"spec":{"replicas":2}}`)
}
func annotate(r *keyRecorder, object client.Object) {
	r.patch(object, object.GetName(), `{"metadata":{"annotations":{"annotated":"yes"}}}`)
}

// A Foo in a namespace that the program doesn't act on isn't enqueued.
func TestOtherNamespaces(t *testing.T) {
	r := newKeyRecorder(t)
	other := newBareCluster(t)
	other.create(example)
	r.create(example)

	if diff := cmp.Diff([]string{"example"}, r.settle()); diff != "" {
		t.Errorf("reconciled Foos (-want +got):\n%s", diff)
	}
	if len(r.foreign) != 0 {
		t.Errorf("Foos of other namespaces were reconciled: %v, want none", r.foreign)
	}
}

// A resync is an update with the same resourceVersion. A resync of the Foos enqueues each Foo, but
// a resync of the Deployments enqueues nothing.
func TestAResyncOfADeploymentEnqueuesNothing(t *testing.T) {
	t.Parallel()
	r := newKeyRecorder(t, func(o *ctrl.Options) { o.Cache.SyncPeriod = new(time.Second) }) // it can't be shorter
	r.create(example)
	orphan := deploymentOf(aFoo("ghost", "ghostly", 1)) // its Foo doesn't exist, so only the Deployment's events enqueue it
	r.createByHand(orphan)
	if diff := cmp.Diff([]string{"example", "ghost"}, r.settle()); diff != "" {
		t.Fatalf("reconciled Foos (-want +got):\n%s", diff)
	}
	resyncs := make(chan struct{}, 100)
	informer, err := r.mgr.GetCache().GetInformer(t.Context(), &appsv1.Deployment{})
	must(t, err)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, new any) {
		if old.(*appsv1.Deployment).ResourceVersion == new.(*appsv1.Deployment).ResourceVersion && new.(*appsv1.Deployment).Name == orphan.Name {
			resyncs <- struct{}{}
		}
	}})
	must(t, err)

	for range 2 { // our own handlers are called first, so they have seen at least one
		<-resyncs
	}

	if diff := cmp.Diff([]string{"example"}, r.settle()); diff != "" {
		t.Errorf("reconciled Foos (-want +got):\n%s", diff)
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
