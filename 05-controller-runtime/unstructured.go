// The same reconciler without Go types in its cache: for --unstructured, and skipped at a first reading. What is watched and kept is
// unstructured.Unstructured then: the decoded JSON, a map. A program does so if it learns only at run time which kinds it is about.
// This one knows, so it turns what it has read into its types; and what it writes is JSON anyway.

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// untyped returns an empty object of that kind. With a Go type the scheme knows the kind; a map has to say it.
func untyped(kind schema.GroupVersionKind) client.Object {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// untypedClient is a client whose reads are made without Go types. What is read into has one.
type untypedClient struct{ client.Client }

func (c untypedClient) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	kind, err := c.GroupVersionKindFor(into)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	if err := c.Client.Get(ctx, key, object, options...); err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

func (c untypedClient) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	kind, err := c.GroupVersionKindFor(into)
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	if err := c.Client.List(ctx, list, options...); err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(list.UnstructuredContent(), into)
}
