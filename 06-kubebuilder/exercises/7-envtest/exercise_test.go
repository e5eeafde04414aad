//go:build check || solution

// The test of your tests. They must accept the reconciler that keeps its promises, and report an
// error for each of the others, on the API server that StartServer has started.
//
// As given, there is no API server. `workshop test` checks this failure:
//
// fails: TestEnvtest
// says: StartServer returned the error: it isn't written yet

package envtests

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
)

func TestEnvtest(t *testing.T) {
	ctrl.SetLogger(klog.Background())
	c, stop := start(t)
	t.Run("the API server accepts Foos, and sets their defaults", func(t *testing.T) {
		foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "default"}}
		foo.Spec.DeploymentName = "default"
		if err := c.Create(t.Context(), foo); err != nil {
			t.Fatalf("can't create a Foo: %v", err)
		}
		if foo.Spec.Replicas == nil || *foo.Spec.Replicas != 1 {
			t.Errorf("a Foo without replicas has %v, want 1", foo.Spec.Replicas)
		}
	})
	if t.Failed() {
		return // all others would report the same
	}
	t.Run("your tests accept the reconciler that keeps its promises", func(t *testing.T) {
		for _, reported := range run(t, c, right) {
			t.Errorf("they report: %s", reported)
		}
	})
	for _, does := range slices.Sorted(maps.Keys(wrong)) {
		t.Run("your tests report the reconciler that "+does, func(t *testing.T) {
			r := right
			wrong[does](&r)
			if len(run(t, c, r)) == 0 {
				t.Errorf("all tests pass; which test would notice that the reconciler %s?", does)
			}
		})
	}
	t.Run("stop ends the API server", func(t *testing.T) {
		if err := stop(); err != nil {
			t.Errorf("stop returned the error: %v", err)
		}
		if err := c.List(t.Context(), &corev1.NamespaceList{}); err == nil {
			t.Error("the API server still answers")
		}
	})
}

// start calls StartServer. It ends the test if there is no API server, and stops the server after
// the test.
func start(t *testing.T) (c client.Client, stop func() error) {
	assets, err := utils.EnvtestAssets()
	if err != nil {
		t.Fatalf("this exercise needs kube-apiserver and etcd, which ./scripts/workshop up builds: %v", err)
	}
	config, stop, err := StartServer(assets)
	if stop != nil {
		stop = sync.OnceValue(stop)
		t.Cleanup(func() { _ = stop() })
	}
	if err != nil {
		t.Fatalf("StartServer returned the error: %v", err)
	}
	if config == nil || stop == nil {
		t.Fatal("StartServer returned no config, or no function that stops the server")
	}
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, samplecontrollerv1alpha1.AddToScheme} {
		if err := add(types); err != nil {
			t.Fatal(err)
		}
	}
	if c, err = client.New(config, client.Options{Scheme: types}); err != nil {
		t.Fatalf("the config that StartServer returned: %v", err)
	}
	return c, stop
}

// run runs all tests on a reconciler, each in a namespace of its own, and returns what they report.
func run(t *testing.T, c client.Client, r reconciler) (reported []string) {
	for _, test := range Tests {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
		if err := c.Create(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		recorder := &recorder{ctx: t.Context()}
		test(recorder, c, namespace.Name, r.reconcile)
		reported = append(reported, recorder.reported...)
	}
	return reported
}

// recorder is a T that remembers the errors.
type recorder struct {
	ctx      context.Context
	reported []string
}

func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) Errorf(format string, args ...any) {
	r.reported = append(r.reported, fmt.Sprintf(format, args...))
}
