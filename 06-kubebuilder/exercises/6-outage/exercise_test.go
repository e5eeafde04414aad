//go:build check || solution

// These tests send requests to an API server with the guard's configuration (apiserver_test.go):
// once while the operator is running, and once while it is down.
//
// As given, the API server refuses too much while the operator is down. `workshop test` checks
// these failures:
//
// fails: TestWhileTheOperatorIsDown/the operator's ReplicaSet makes a Pod
// says: did that need an answer from the operator?
//
// fails: TestWhileTheOperatorIsDown/a ReplicaSet that isn't a Foo's makes a Pod
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
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	m.Run()
}

// harmless are requests that the guard has nothing against.
var harmless = map[string]request{
	"the operator's ReplicaSet makes a Pod": {
		object: newPod("foo-operator-system", labelled("control-plane", "controller-manager"), controlledBy("ReplicaSet")),
	},
	"a ReplicaSet that isn't a Foo's makes a Pod": {object: newPod("monitoring", labelled("app", "prometheus"), controlledBy("ReplicaSet"))},
	"a Foo's ReplicaSet makes a Pod":              {object: newPod("shop", labelled(fooLabel, "cart"), controlledBy("ReplicaSet"))},
	"somebody starts a Pod without labels":        {object: newPod("shop")},
	"somebody starts a Pod with another label":    {object: newPod("shop", labelled("app", "cart"))},
	"a Job's Pod loses its finalizer": {
		old:    newPod("monitoring", labelled("job-name", "report"), controlledBy("Job"), withFinalizer),
		object: newPod("monitoring", labelled("job-name", "report"), controlledBy("Job")),
	},
	"an old Pod with a Foo's label loses its finalizer": {
		old:    newPod("shop", labelled(fooLabel, "cart"), withFinalizer),
		object: newPod("shop", labelled(fooLabel, "cart")),
	},
	"somebody removes a Foo's label from a Pod": {old: newPod("shop", labelled(fooLabel, "cart")), object: newPod("shop")},
	"a kubelet reports a Pod's status": {
		old:         newPod("shop", labelled(fooLabel, "cart")),
		object:      newPod("shop", labelled(fooLabel, "cart")),
		subresource: "status",
	},
	"somebody creates a ConfigMap with a Foo's label": {object: &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "settings", Labels: map[string]string{fooLabel: "cart"}},
	}},
}

// harmful are requests after which a Pod that somebody has started by hand would get the traffic of
// the Foo cart.
var harmful = map[string]request{
	"somebody starts a Pod with a Foo's label": {object: newPod("shop", labelled(fooLabel, "cart"))},
	"somebody copies a Foo's Pod":              {object: newPod("shop", labelled("app", "nginx"), labelled(fooLabel, "cart"))},
	"a Pod with an owner that isn't its controller gets a Foo's label": {
		object: newPod("shop", labelled(fooLabel, "cart"), ownedBy("ConfigMap")),
	},
	"somebody adds a Foo's label to a Pod without labels": {old: newPod("shop"), object: newPod("shop", labelled(fooLabel, "cart"))},
	"somebody changes a Pod's label to a Foo's": {
		old:    newPod("shop", labelled(fooLabel, "nobody")),
		object: newPod("shop", labelled(fooLabel, "cart")),
	},
}

func TestWhileTheOperatorIsDown(t *testing.T) {
	for sentence, request := range harmless {
		t.Run(sentence, func(t *testing.T) {
			if err := (&apiServer{T: t}).send(request); err != nil {
				t.Errorf("%s, while the operator is down. The user reads: %v: did that need an answer from the operator?", sentence, err)
			}
		})
	}
	for sentence, request := range harmful {
		t.Run(sentence, func(t *testing.T) {
			if (&apiServer{T: t}).send(request) == nil {
				t.Errorf("%s, while the operator is down, and the API server stores it: who has checked that Pod before it gets the requests to a Foo?", sentence)
			}
		})
	}
}

func TestWhileTheOperatorRuns(t *testing.T) {
	for sentence, request := range harmless {
		t.Run(sentence, func(t *testing.T) {
			if err := (&apiServer{t, newGuard()}).send(request); err != nil {
				t.Errorf("%s. The user reads: %v: what is wrong with it?", sentence, err)
			}
		})
	}
	for sentence, request := range harmful {
		t.Run(sentence, func(t *testing.T) {
			switch err := (&apiServer{t, newGuard()}).send(request); {
			case err == nil:
				t.Errorf("%s, and the API server stores it: was the guard asked?", sentence)
			case !strings.Contains(err.Error(), `would get the requests to Foo "cart"`):
				t.Errorf("%s. The user reads: %v: does that say why?", sentence, err)
			}
		})
	}
}

// The label is only a Foo's if there is such a Foo. Nobody but the operator knows that.
func TestOtherPeoplesLabels(t *testing.T) {
	for sentence, pod := range map[string]*corev1.Pod{
		"there is no Foo of that name":                 newPod("shop", labelled(fooLabel, "nobody")),
		"the Foo of that name is in another namespace": newPod("monitoring", labelled(fooLabel, "cart")),
		"the label is empty":                           newPod("shop", labelled(fooLabel, "")),
	} {
		t.Run(sentence, func(t *testing.T) {
			if err := (&apiServer{t, newGuard()}).send(request{object: pod}); err != nil {
				t.Errorf("somebody starts a Pod, and %s. The user reads: %v: what is wrong with it?", sentence, err)
			}
		})
	}
}

// A configuration can be edited, so the guard itself must accept whatever is harmless.
func TestWithAnotherConfiguration(t *testing.T) {
	for sentence, request := range harmless {
		if request.resource() != "pods" {
			continue
		}
		t.Run(sentence, func(t *testing.T) {
			if err := newGuard().review(t.Context(), request); err != nil {
				t.Errorf("%s. If the guard is asked, it answers: %v: what is wrong with it?", sentence, err)
			}
		})
	}
}

func newPod(namespace string, options ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a-pod"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}
	for _, option := range options {
		option(pod)
	}
	return pod
}

func labelled(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { metav1.SetMetaDataLabel(&pod.ObjectMeta, key, value) }
}

func ownedBy(kind string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "an-owner", UID: "1"}}
	}
}

func controlledBy(kind string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "its-controller", UID: "1", Controller: new(true)}}
	}
}

func withFinalizer(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/counted"} }
