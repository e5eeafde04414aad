// Package client is a typed client for Foos. It wraps client-go's generic client (package gentype)
// and supplies the type. Chapter 04 generates such a client.
package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// Scheme knows the Go types of this API group.
var Scheme = runtime.NewScheme()

func init() { utilruntime.Must(samplecontrollerv1alpha1.AddToScheme(Scheme)) }

// Interface returns clients. Tests have another implementation of it.
type Interface interface {
	// Foos returns a client for the Foos in namespace; "" means all namespaces.
	Foos(namespace string) FooInterface
}

// FooInterface lists only those of gentype's methods that the controller uses.
type FooInterface interface {
	List(ctx context.Context, options metav1.ListOptions) (*samplecontrollerv1alpha1.FooList, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	UpdateStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, options metav1.UpdateOptions) (*samplecontrollerv1alpha1.Foo, error)
}

type foos struct{ rest rest.Interface }

// NewForConfig returns an Interface for the server and the credentials in config.
func NewForConfig(config *rest.Config) (Interface, error) {
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &samplecontrollerv1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(Scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON // the only one for custom resources
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return foos{client}, nil
}

func (f foos) Foos(namespace string) FooInterface {
	return gentype.NewClientWithList("foos", f.rest, runtime.NewParameterCodec(Scheme), namespace,
		func() *samplecontrollerv1alpha1.Foo { return &samplecontrollerv1alpha1.Foo{} }, func() *samplecontrollerv1alpha1.FooList { return &samplecontrollerv1alpha1.FooList{} })
}
