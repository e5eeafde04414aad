// Package client is a typed client for Foos, with as many verbs as the controller uses. Chapter 04 generates it, with all
// verbs, for any number of types.
package client

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

const resource = "foos"

// Client sends requests about Foos.
type Client struct {
	rest   rest.Interface
	params runtime.ParameterCodec
}

// NewForConfig makes a Client for the server and the credentials of config.
func NewForConfig(config *rest.Config) (*Client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &v1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON // a CRD's objects have no other form
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client for Foos: %w", err)
	}
	return &Client{rest: client, params: runtime.NewParameterCodec(scheme)}, nil
}

// List returns the Foos in namespace; "" means all namespaces.
func (c *Client) List(ctx context.Context, namespace string, options metav1.ListOptions) (*v1alpha1.FooList, error) {
	list := &v1alpha1.FooList{}
	return list, c.rest.Get().Namespace(namespace).Resource(resource).VersionedParams(&options, c.params).Do(ctx).Into(list)
}

// Watch streams the changes of the Foos in namespace.
func (c *Client) Watch(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	return c.rest.Get().Namespace(namespace).Resource(resource).VersionedParams(&options, c.params).Watch(ctx)
}

// UpdateStatus sends foo to its status subresource, which ignores all but the status.
func (c *Client) UpdateStatus(ctx context.Context, foo *v1alpha1.Foo) (*v1alpha1.Foo, error) {
	updated := &v1alpha1.Foo{}
	return updated, c.rest.Put().Namespace(foo.Namespace).Resource(resource).Name(foo.Name).SubResource("status").Body(foo).Do(ctx).Into(updated)
}
