//go:build check || solution

// These tests install the guard's configuration in a real API server while the operator is down, and
// send it requests. Then they ask the guard's Go code about the same Pods.
//
// As given, the API server refuses too much while the operator is down. `workshop test` checks
// these failures:
//
// fails: TestWhileTheOperatorIsDown/the operator's ReplicaSet makes a Pod
// says: did that need an answer from the operator?
//
// fails: TestWhileTheOperatorIsDown/a Foo's ReplicaSet makes a Pod
// says: did that need an answer from the operator?
//
// fails: TestWhileTheOperatorIsDown/somebody starts a Pod without labels
// says: did that need an answer from the operator?
//
// fails: TestWhileTheOperatorIsDown/somebody starts a Pod with another label
// says: did that need an answer from the operator?
//
// fails: TestWhileTheOperatorIsDown/a Job's Pod loses its finalizer
// says: did that need an answer from the operator?
//
// fails: TestWhileTheOperatorIsDown/an old Pod with a Foo's label loses its finalizer
// says: did that need an answer from the operator?
//
// fails: TestWhileTheOperatorIsDown/somebody removes a Foo's label from a Pod
// says: did that need an answer from the operator?

package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	m.Run()
}

// request creates a Pod, or changes an old one.
type request struct {
	old, pod *corev1.Pod
}

// harmless are requests that the guard has nothing against, whatever Foos there are.
var harmless = map[string]request{
	"the operator's ReplicaSet makes a Pod":    {pod: aPod(labeled("control-plane", "controller-manager"), controlled)},
	"a Foo's ReplicaSet makes a Pod":           {pod: aPod(labeled(fooLabel, "cart"), controlled)},
	"somebody starts a Pod without labels":     {pod: aPod()},
	"somebody starts a Pod with another label": {pod: aPod(labeled("app", "cart"))},
	"a Job's Pod loses its finalizer": {
		old: aPod(labeled("job-name", "report"), controlled, withFinalizer),
		pod: aPod(labeled("job-name", "report"), controlled),
	},
	"an old Pod with a Foo's label loses its finalizer": {
		old: aPod(labeled(fooLabel, "cart"), withFinalizer),
		pod: aPod(labeled(fooLabel, "cart")),
	},
	"somebody removes a Foo's label from a Pod": {old: aPod(labeled(fooLabel, "cart")), pod: aPod()},
}

// harmful are requests after which a Pod that somebody has started by hand would get the traffic of
// the Foo cart.
var harmful = map[string]request{
	"somebody starts a Pod with a Foo's label":                         {pod: aPod(labeled(fooLabel, "cart"))},
	"a Pod with an owner that isn't its controller gets a Foo's label": {pod: aPod(labeled(fooLabel, "cart"), owned)},
	"somebody adds a Foo's label to a Pod without labels":              {old: aPod(), pod: aPod(labeled(fooLabel, "cart"))},
	"somebody changes a Pod's label to a Foo's": {
		old: aPod(labeled(fooLabel, "nobody")),
		pod: aPod(labeled(fooLabel, "cart")),
	},
}

func TestWhileTheOperatorIsDown(t *testing.T) {
	api := startServer(t)
	// 1. The old Pods are older than the guard.
	for _, requests := range []map[string]request{harmless, harmful} {
		for sentence, r := range requests {
			if r.old != nil {
				must(t, api.Create(t.Context(), r.old))
				r.pod.Name, r.pod.ResourceVersion = r.old.Name, r.old.ResourceVersion
			}
			requests[sentence] = r
		}
	}

	// 2. The API server uses a new configuration within seconds.
	must(t, api.Create(t.Context(), guardConfiguration()))
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if send(t.Context(), api, harmful["somebody starts a Pod with a Foo's label"]) != nil {
			break
		}
	}

	// 3. Nobody answers its calls.
	for sentence, request := range harmless {
		t.Run(sentence, func(t *testing.T) {
			if err := send(t.Context(), api, request); err != nil {
				t.Errorf("%s, while the operator is down. The user reads: %v: did that need an answer from the operator?", sentence, err)
			}
		})
	}
	for sentence, request := range harmful {
		t.Run(sentence, func(t *testing.T) {
			if send(t.Context(), api, request) == nil {
				t.Errorf("%s, while the operator is down, and the API server stores it: who has checked that Pod before it gets the requests to a Foo?", sentence)
			}
		})
	}
}

// A configuration can be edited, so the guard itself must accept whatever is harmless.
func TestWhileTheOperatorRuns(t *testing.T) {
	foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cart"}}
	g := &guard{fake.NewClientBuilder().WithScheme(scheme).WithObjects(foo).Build()}
	ask := func(r request) error {
		if r.old == nil {
			_, err := g.ValidateCreate(t.Context(), r.pod)
			return err
		}
		_, err := g.ValidateUpdate(t.Context(), r.old, r.pod)
		return err
	}
	for sentence, request := range harmless {
		t.Run(sentence, func(t *testing.T) {
			if err := ask(request); err != nil {
				t.Errorf("%s. If the guard is asked, it answers: %v: what is wrong with it?", sentence, err)
			}
		})
	}
	for sentence, request := range harmful {
		t.Run(sentence, func(t *testing.T) {
			if err := ask(request); err == nil || !strings.Contains(err.Error(), `would get the requests to Foo "cart"`) {
				t.Errorf("%s. If the guard is asked, it answers: %v: does that say why it is refused?", sentence, err)
			}
		})
	}
	t.Run("there is no Foo of that name", func(t *testing.T) {
		if err := ask(request{pod: aPod(labeled(fooLabel, "nobody"))}); err != nil {
			t.Errorf("the guard answers: %v: what is wrong with somebody else's label?", err)
		}
	})
}

// startServer starts an API server in which nothing runs: no operator, and no other controller.
func startServer(t *testing.T) client.Client {
	t.Helper()
	assets, err := utils.EnvtestAssets()
	must(t, err)
	server := &envtest.Environment{BinaryAssetsDirectory: assets}
	t.Cleanup(func() { must(t, server.Stop()) })
	config, err := server.Start()
	must(t, err)
	config.WarningHandler = rest.NoWarnings{} // about names of finalizers
	api, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	return api
}

// send sends a request that isn't carried out.
func send(ctx context.Context, api client.Client, r request) error {
	if r.old == nil {
		return api.Create(ctx, r.pod.DeepCopy(), client.DryRunAll)
	}
	return api.Update(ctx, r.pod.DeepCopy(), client.DryRunAll)
}

func aPod(options ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "a-pod-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}
	for _, option := range options {
		option(pod)
	}
	return pod
}

func labeled(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { metav1.SetMetaDataLabel(&pod.ObjectMeta, key, value) }
}

func owned(pod *corev1.Pod) {
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "an-owner", UID: "1"}}
}

func controlled(pod *corev1.Pod) {
	owned(pod)
	pod.OwnerReferences[0].Controller = new(true)
}

func withFinalizer(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/counted"} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
