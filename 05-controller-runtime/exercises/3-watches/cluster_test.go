//go:build check || solution

// The manager that the tests run. It is controller-runtime's own, except that its informers list
// and watch objects in memory.

package watches

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// newManager returns a manager whose cache watches this cluster's objects. Foos have no resync, and
// ConfigMaps have one about every hour.
func (c *cluster) newManager() ctrl.Manager {
	scheme := newScheme(c.T)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://none", Transport: noServer{c}}, ctrl.Options{
		Scheme:         scheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		Cache: cache.Options{
			NewInformer: c.newInformer,
			ByObject: map[client.Object]cache.ByObject{
				&samplecontrollerv1alpha1.Foo{}: {SyncPeriod: new(time.Duration(0))},
				&corev1.ConfigMap{}:             {SyncPeriod: new(time.Hour)},
			},
		},
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		c.Fatal(err)
	}
	return mgr
}

// noServer fails all requests to the API server, because there is none.
type noServer struct{ c *cluster }

func (n noServer) RoundTrip(request *http.Request) (*http.Response, error) {
	if !n.c.Failed() { // one report is enough
		n.c.Errorf("setUp sent a request to the API server (%s %s): read from the manager's cache instead, with mgr.GetClient()", request.Method, request.URL.Path)
	}
	return nil, errors.New("there is no server here")
}

// newInformer returns an informer for this cluster's objects. It catches panics in handlers and
// index functions.
func (c *cluster) newInformer(_ toolscache.ListerWatcher, object apiruntime.Object, resync time.Duration,
	indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*")
	kind = kind[strings.LastIndex(kind, ".")+1:]
	stream, ok := c.streams[kind]
	if !ok {
		c.Errorf("setUp watches %s, want Foos and ConfigMaps, with all their fields", kind)
		stream = c.streams["ConfigMap"]
	}
	listWatch := &toolscache.ListWatch{
		ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (apiruntime.Object, error) {
			return stream.List(options)
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return stream.Watch(options)
		},
	}
	source := toolscache.ToListWatcherWithWatchListSemantics(listWatch, noWatchList{})
	return informer{toolscache.NewSharedIndexInformer(source, object, resync, indexers), c}
}

// noWatchList is a client that can list and watch, but can't list by watching (WatchList).
type noWatchList struct{}

func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

// informer catches panics in handlers and index functions. They run in goroutines of their own,
// where a panic would end all tests at once.
type informer struct {
	toolscache.SharedIndexInformer
	c *cluster
}

func (i informer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler,
	options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(panicHandler{handler, i.c}, options)
}

func (i informer) AddIndexers(indexers toolscache.Indexers) error {
	for name, index := range indexers {
		indexers[name] = func(object any) ([]string, error) {
			defer explainPanic(i.c.T)
			return index(object)
		}
	}
	return i.SharedIndexInformer.AddIndexers(indexers)
}

type panicHandler struct {
	toolscache.ResourceEventHandler
	c *cluster
}

func (h panicHandler) OnAdd(object any, initial bool) {
	defer explainPanic(h.c.T)
	h.ResourceEventHandler.OnAdd(object, initial)
}

func (h panicHandler) OnUpdate(before, now any) {
	defer explainPanic(h.c.T)
	h.ResourceEventHandler.OnUpdate(before, now)
}

func (h panicHandler) OnDelete(object any) {
	defer explainPanic(h.c.T)
	h.ResourceEventHandler.OnDelete(object)
}

// explainPanic is deferred, and reports the line of exercise.go that panicked.
func explainPanic(t *testing.T) {
	problem := recover()
	if problem == nil || t.Failed() { // one report is enough
		return
	}
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.File, "/exercise.go") {
			t.Errorf("panic at exercise.go:%d: %v", frame.Line, problem)
			return
		}
		if !more {
			t.Errorf("panic: %v", problem)
			return
		}
	}
}
