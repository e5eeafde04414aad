// The experiment. Some Foos have three Pods each. Two of these are deleted, one after the other, so
// that the second event arrives before the controller can see what it created after the first one.
//
// No scheduler sees these Pods, so nobody but the experiment and the controller writes to them.

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const desiredPods = 3

var (
	fooKind      = schema.GroupVersionKind{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Kind: "Foo"}
	foosResource = fooKind.GroupVersion().WithResource("foos")
)

// result is what the controller did after the deletions, for all Foos together.
type result struct {
	counts
	surplus int           // Pods that no Foo has asked for
	latency time.Duration // from the second deletion until the Foo has all its Pods: the median
}

// experiment is one run, in a namespace of its own.
type experiment struct {
	behind time.Duration // how late the controller gets each event
	foos   int

	namespace string
	kube      kubernetes.Interface
	users     dynamic.ResourceInterface // Foos as users write them

	mutex sync.Mutex
	has   map[types.UID]int       // by Foo: how many Pods it has
	full  map[types.UID]time.Time // since when it has had enough
}

// run measures the controller that start starts.
func (e *experiment) run(ctx context.Context, config *rest.Config, start starter) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server limits requests itself
	deleteNamespace, err := e.createNamespace(ctx, config)
	if err != nil {
		return result{}, err
	}
	defer deleteNamespace()
	owners, err := e.createFoos(ctx)
	if err != nil {
		return result{}, err
	}

	w, theirs := &wire{behind: e.behind}, rest.CopyConfig(config)
	theirs.Wrap(w.wrap)
	if err := start(ctx, theirs, e.namespace); err != nil {
		return result{}, err
	}
	quiet := 2*e.behind + time.Second // longer than any event takes
	w.settle(quiet)

	deleted := map[types.UID]time.Time{}
	for i, pod := range []string{"a", "b"} {
		time.Sleep(time.Duration(i) * e.behind / 2)
		for uid, foo := range owners {
			deleted[uid] = time.Now()
			if err := e.deletePod(ctx, foo+"-"+pod); err != nil {
				return result{}, err
			}
		}
	}
	return e.evaluate(w.settle(quiet), deleted), nil
}

// createNamespace also starts to count the Foos' Pods.
func (e *experiment) createNamespace(ctx context.Context, config *rest.Config) (deleteIt func(), err error) {
	if e.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	namespaces := e.kube.CoreV1().Namespaces()
	namespace, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "stalereads-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create a namespace: %w", err)
	}
	e.namespace = namespace.Name
	e.users = client.Resource(foosResource).Namespace(e.namespace)
	e.has, e.full = map[types.UID]int{}, map[types.UID]time.Time{}
	pods, err := e.kube.CoreV1().Pods(e.namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("watch the Pods: %w", err)
	}
	go func() {
		for event := range pods.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok {
				e.count(string(event.Type), metav1.GetControllerOf(pod).UID)
			}
		}
	}()
	return func() { namespaces.Delete(context.WithoutCancel(ctx), e.namespace, metav1.DeleteOptions{}) }, nil
}

func (e *experiment) count(event string, owner types.UID) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch event {
	case "ADDED":
		if e.has[owner]++; e.has[owner] == desiredPods {
			e.full[owner] = time.Now()
		}
	case "DELETED":
		e.has[owner]--
	}
}

// createFoos creates the Foos with their Pods, and returns their names.
func (e *experiment) createFoos(ctx context.Context) (map[types.UID]string, error) {
	names := map[types.UID]string{}
	for i := range e.foos {
		name := fmt.Sprintf("foo-%d", i)
		foo := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deploymentName": name, "replicas": int64(desiredPods)}}}
		foo.SetGroupVersionKind(fooKind)
		foo.SetName(name)
		created, err := e.users.Create(ctx, foo, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("create Foo %s: %w", name, err)
		}
		names[created.GetUID()] = name
		for _, letter := range []string{"a", "b", "c"} {
			pod := newPod(metav1.NewControllerRef(created, fooKind))
			pod.GenerateName, pod.Name = "", name+"-"+letter
			if _, err := e.kube.CoreV1().Pods(e.namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
				return nil, fmt.Errorf("create Pod %s: %w", pod.Name, err)
			}
		}
	}
	return names, nil
}

// newPod returns a Pod whose name the server chooses.
func newPod(owner *metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: owner.Name + "-", OwnerReferences: []metav1.OwnerReference{*owner}},
		Spec:       corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
	}
}

func (e *experiment) deletePod(ctx context.Context, name string) error {
	return e.kube.CoreV1().Pods(e.namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
}

func (e *experiment) evaluate(requests counts, deleted map[types.UID]time.Time) result {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	r := result{counts: requests}
	var latencies []time.Duration
	for uid, at := range deleted {
		r.surplus += e.has[uid] - desiredPods
		latencies = append(latencies, e.full[uid].Sub(at))
	}
	slices.Sort(latencies)
	r.latency = latencies[len(latencies)/2]
	return r
}
