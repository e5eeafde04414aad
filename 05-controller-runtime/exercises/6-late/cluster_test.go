//go:build check || solution

// The cluster of the tests: controller-runtime's fake client plays the API server, and the
// program's manager lists and watches the objects in it.

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

// cluster is an API server with Foos. The one that the tests are about is called cart.
type cluster struct {
	*testing.T
	server client.WithWatch

	mu     sync.Mutex
	refuse string         // the kind of which writes are refused
	behind bool           // the cache has no Deployments yet
	gets   map[string]int // the program's reads, by kind
	sent   int            // all requests of the program
}

// inACluster runs test while the program runs, in a cluster without Foos.
func inACluster(t *testing.T, test func(*cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		options := managerOptions("", "0")
		options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return c.server.RESTMapper(), nil }
		options.NewClient = func(*rest.Config, client.Options) (client.Client, error) { return c.client(), nil }
		options.Cache.NewInformer = c.newInformer
		options.Controller.SkipNameValidation = new(true) // all tests use the same name
		mgr, err := ctrl.NewManager(&rest.Config{Host: "http://none"}, options)
		c.must(err)
		c.must((&controller{Client: mgr.GetClient()}).SetupWithManager(mgr))
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- mgr.Start(ctx) }()
		defer func() {
			cancel()
			stopping := time.Now()
			if err := <-ended; err != nil {
				c.Errorf("the manager stopped with the error: %v", err)
			}
			if took := time.Since(stopping); took > 5*time.Second {
				c.Errorf("the program stopped %v after it was told to", took)
			}
			requests := c.requests()
			pause(time.Hour) // lets any goroutine that Reconcile started finish
			if more := c.requests() - requests; more > 0 {
				c.Errorf("%d requests were sent after the program had stopped: from where?", more)
			}
		}()
		pause(5 * time.Second)
		test(c)
	})
}

func newCluster(t *testing.T) *cluster {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo"), meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	builder := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
		WithStatusSubresource(&samplecontrollerv1alpha1.Foo{}, &appsv1.Deployment{})
	return &cluster{T: t, server: builder.Build(), gets: map[string]int{}}
}

func newFoo(name string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name)},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))},
	}
}

// client returns the program's client.
func (c *cluster) client() client.Client {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		Get: func(ctx context.Context, server client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.sent++
			c.gets[kindOf(into)]++
			if c.behind && kindOf(into) == "Deployment" {
				return apierrors.NewNotFound(appsv1.Resource("deployments"), key.Name)
			}
			return server.Get(ctx, key, into, opts...)
		},
		Apply: func(ctx context.Context, server client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if err := c.write("Deployment"); err != nil {
				return err
			}
			return server.Apply(ctx, object, opts...)
		},
		SubResourcePatch: func(ctx context.Context, server client.Client, subResource string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := c.write(kindOf(object)); err != nil {
				return err
			}
			return server.SubResource(subResource).Patch(ctx, object, patch, opts...)
		},
	})
}

// write counts a write, and returns an error if it is refused.
func (c *cluster) write(kind string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	if c.refuse == kind {
		return apierrors.NewInternalError(errors.New("the disk is full"))
	}
	return nil
}

// refusing makes the server refuse all writes of that kind; with "" it refuses nothing.
func (c *cluster) refusing(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = kind
}

// fallBehind makes the cache miss all Deployments.
func (c *cluster) fallBehind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.behind = true
}

func (c *cluster) reads(kind string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gets[kind]
}

func (c *cluster) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// newInformer returns an informer that lists and watches the objects of this cluster.
func (c *cluster) newInformer(_ toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	list := func() client.ObjectList {
		if kindOf(object) == "Foo" {
			return &samplecontrollerv1alpha1.FooList{}
		}
		return &appsv1.DeploymentList{}
	}
	listWatch := &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			found := list()
			return found, c.server.List(ctx, found)
		},
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			return c.server.Watch(ctx, list())
		},
	}
	return toolscache.NewSharedIndexInformer(toolscache.ToListWatcherWithWatchListSemantics(listWatch, noWatchList{}), object, resync, indexers)
}

// noWatchList is a client that can list and watch, but can't list by watching (WatchList).
type noWatchList struct{}

func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

func kindOf(object any) string {
	name := fmt.Sprintf("%T", object)
	return name[strings.LastIndex(name, ".")+1:]
}

// foo returns the Foo cart, which is empty if there is none.
func (c *cluster) foo() *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{}
	c.must(client.IgnoreNotFound(c.server.Get(context.Background(), cart, foo)))
	return foo
}

// deployment returns the Foo's Deployment, or nil if there is none.
func (c *cluster) deployment() *appsv1.Deployment {
	deployment := &appsv1.Deployment{}
	err := c.server.Get(context.Background(), cart, deployment)
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.must(err)
	return deployment
}

// cart is the key of the Foo, and of its Deployment.
var cart = client.ObjectKey{Namespace: "default", Name: "cart"}

// setAvailable plays the Deployment controller.
func (c *cluster) setAvailable(available int32) {
	deployment := c.deployment()
	if deployment == nil {
		c.Fatal("the Foo cart has no Deployment")
	}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           *deployment.Spec.Replicas,
		UpdatedReplicas:    *deployment.Spec.Replicas,
		AvailableReplicas:  available,
	}
	c.must(c.server.Status().Update(context.Background(), deployment))
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}
