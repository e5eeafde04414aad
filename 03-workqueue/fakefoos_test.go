// A fake of pkg/client, built from the same parts as client-go's fake clientset: an object tracker
// that stores the Foos, and a Fake that records requests and lets a test replace their responses.
// Chapter 04 generates it.

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	clienttesting "k8s.io/client-go/testing"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/03-workqueue/pkg/client"
)

var (
	foosResource = samplecontrollerv1alpha1.GroupVersion.WithResource("foos")
	fooKind      = samplecontrollerv1alpha1.GroupVersion.WithKind("Foo")
)

type fakeFoos struct {
	clienttesting.Fake
	tracker clienttesting.ObjectTracker
	// onUpdate is called before each update of a status, unless it is nil. If it returns an error,
	// that is the response.
	onUpdate func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error
}

func newFakeFoos() *fakeFoos {
	scheme := runtime.NewScheme()
	if err := samplecontrollerv1alpha1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	f := &fakeFoos{tracker: clienttesting.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())}
	f.AddReactor("*", "*", clienttesting.ObjectReaction(f.tracker))
	f.AddWatchReactor("*", f.watch)
	return f
}

// Foos returns client-go's fake of the client that pkg/client returns.
func (f *fakeFoos) Foos(namespace string) client.FooInterface {
	return fakeFooInterface{gentype.NewFakeClientWithList(&f.Fake, namespace, foosResource, fooKind,
		func() *samplecontrollerv1alpha1.Foo { return &samplecontrollerv1alpha1.Foo{} },
		func() *samplecontrollerv1alpha1.FooList { return &samplecontrollerv1alpha1.FooList{} },
		func(to, from *samplecontrollerv1alpha1.FooList) { to.ListMeta = from.ListMeta },
		func(list *samplecontrollerv1alpha1.FooList) []*samplecontrollerv1alpha1.Foo {
			return gentype.ToPointerSlice(list.Items)
		},
		func(list *samplecontrollerv1alpha1.FooList, items []*samplecontrollerv1alpha1.Foo) {
			list.Items = gentype.FromPointerSlice(items)
		},
	), f}
}

type fakeFooInterface struct {
	client.FooInterface
	fake *fakeFoos
}

func (f fakeFooInterface) UpdateStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, options metav1.UpdateOptions) (*samplecontrollerv1alpha1.Foo, error) {
	if f.fake.onUpdate != nil {
		if err := f.fake.onUpdate(ctx, foo); err != nil {
			return nil, err
		}
	}
	return f.FooInterface.UpdateStatus(ctx, foo, options)
}

// watch does what an API server does for sendInitialEvents=true, which informers send: it starts
// with an event for each existing object and a bookmark after the last one, and then sends the
// changes.
func (f *fakeFoos) watch(action clienttesting.Action) (handled bool, stream watch.Interface, err error) {
	stream, err = f.tracker.Watch(foosResource, action.GetNamespace(), action.(clienttesting.WatchActionImpl).ListOptions)
	if err != nil {
		return true, nil, err
	}
	endOfInitialEvents := &samplecontrollerv1alpha1.Foo{}
	endOfInitialEvents.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	stream.(*watch.RaceFreeFakeWatcher).Action(watch.Bookmark, endOfInitialEvents)
	return true, stream, nil
}
