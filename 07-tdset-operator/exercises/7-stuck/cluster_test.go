//go:build check || solution

// The cluster of the tests: controller-runtime's fake client plays the API server, and the
// program's manager lists and watches the objects in it.

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

// checkout is the name of the TDSet that the tests are about, and of its Deployment.
var checkout = client.ObjectKey{Namespace: "shop", Name: "checkout"}

// stillRunning is a finalizer that keeps a Pod which is being deleted, until it has ended.
const stillRunning = "example.com/still-running"

// cluster is an API server with a TDSet, and the program that works with it.
type cluster struct {
	*testing.T
	server  client.WithWatch
	stop    func() // stops the program; nil if it isn't running
	stopped bool   // whether the controllers of Deployments and ReplicaSets are

	mu      sync.Mutex
	refused string // a request of the program, such as "list PodList"
	refusal error
}

// inACluster runs test while the program runs, in a cluster without TDSets.
func inACluster(t *testing.T, test func(*cluster)) {
	synctest.Test(t, func(t *testing.T) {
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.Add(schedulev2.SchemeGroupVersion.WithKind("TDSet"), meta.RESTScopeNamespace)
		mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
		c := &cluster{T: t, server: fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
			WithStatusSubresource(&schedulev2.TDSet{}, &appsv1.Deployment{}).Build()}
		startProgram(c)
		defer func() {
			stopProgram(c)
			time.Sleep(time.Hour) // lets any goroutine that Reconcile started finish
		}()
		c.pause(5 * time.Second)
		test(c)
	})
}

func startProgram(c *cluster) {
	options := managerOptions("")
	options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return c.server.RESTMapper(), nil }
	options.NewClient = func(*rest.Config, client.Options) (client.Client, error) { return c.client(), nil }
	options.Cache.NewInformer = c.newInformer
	options.Controller.SkipNameValidation = new(true) // all tests use the same name
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://none"}, options)
	c.must(err)
	c.must((&reconciler{Client: mgr.GetClient(), APIReader: c.client()}).SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	c.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			c.Errorf("the manager stopped with the error: %v", err)
		}
	}
}

func stopProgram(c *cluster) {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

// client returns the program's client.
func (c *cluster) client() client.Client {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			if err := c.check("list " + kindOf(into)); err != nil {
				return err
			}
			return server.List(ctx, into, opts...)
		},
		Apply: func(ctx context.Context, server client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if err := c.check("apply Deployment"); err != nil {
				return err
			}
			return server.Apply(ctx, object, opts...)
		},
		Patch: func(ctx context.Context, server client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := c.check("patch " + kindOf(object)); err != nil {
				return err
			}
			return server.Patch(ctx, object, patch, opts...)
		},
	})
}

// check returns an error if the server refuses such a request.
func (c *cluster) check(request string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == request {
		return c.refusal
	}
	return nil
}

// refusing makes the server refuse such a request of the program; with "" it refuses nothing.
func (c *cluster) refusing(request string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused, c.refusal = request, err
}

// newInformer returns an informer that lists and watches the objects of this cluster.
func (c *cluster) newInformer(_ toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	list := func() client.ObjectList {
		switch kindOf(object) {
		case "TDSet":
			return &schedulev2.TDSetList{}
		case "Deployment":
			return &appsv1.DeploymentList{}
		}
		return &corev1.PodList{}
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

// pause lets time pass, and plays the controllers of Deployments and ReplicaSets in the meantime.
func (c *cluster) pause(d time.Duration) {
	for range 8 {
		time.Sleep(d / 8)
		synctest.Wait()
		c.control()
		synctest.Wait()
	}
}

// control creates as many Pods as the Deployment asks for, and deletes the others, which end later.
// Without a Deployment, it deletes all of them, as the garbage collector does.
func (c *cluster) control() {
	if c.stopped {
		return
	}
	deployment, want := &appsv1.Deployment{}, 0
	err := c.server.Get(context.Background(), checkout, deployment)
	c.must(client.IgnoreNotFound(err))
	if err == nil {
		want = int(replicasOf(deployment))
	}
	pods := c.ownPods()
	for i := len(pods); i < want; i++ {
		c.must(c.server.Create(context.Background(), newPod(checkout.Namespace, fmt.Sprintf("checkout-7d4b9c6f5-%d", i), "checkout-7d4b9c6f5", labelsOf(newTDSet()))))
	}
	for i := want; i < len(pods); i++ {
		c.must(c.server.Delete(context.Background(), &pods[i]))
	}
	if err == nil && deployment.Status.Replicas != int32(want) {
		deployment.Status.Replicas = int32(want)
		c.must(c.server.Status().Update(context.Background(), deployment))
	}
}

// ownPods returns the Pods that were made for the Deployment and haven't ended.
func (c *cluster) ownPods() (own []corev1.Pod) {
	for _, pod := range c.pods() {
		if strings.HasPrefix(pod.Name, "checkout-7d4b9c6f5-") && pod.Status.Phase != corev1.PodFailed {
			own = append(own, pod)
		}
	}
	return own
}

// otherPods returns the names of the Pods that weren't made for the Deployment and aren't being
// deleted.
func (c *cluster) otherPods() (names []string) {
	for _, pod := range c.pods() {
		if !strings.HasPrefix(pod.Name, "checkout-7d4b9c6f5-") && pod.DeletionTimestamp.IsZero() {
			names = append(names, pod.Namespace+"/"+pod.Name)
		}
	}
	return names
}

func (c *cluster) pods() []corev1.Pod {
	var pods corev1.PodList
	c.must(c.server.List(context.Background(), &pods))
	return pods.Items
}

// state returns the state of the TDSet in words.
func (c *cluster) state() string {
	tdset := &schedulev2.TDSet{}
	err := c.server.Get(context.Background(), checkout, tdset)
	if apierrors.IsNotFound(err) {
		return gone
	}
	c.must(err)
	words, has := "active", "without our finalizer"
	if !tdset.DeletionTimestamp.IsZero() {
		words = "being deleted"
	}
	if slices.Contains(tdset.Finalizers, finalizer) {
		has = "with our finalizer"
	}
	return fmt.Sprintf("%s, %s and %d Pods of its own", words, has, len(c.ownPods()))
}

func newTDSet() *schedulev2.TDSet {
	return &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: checkout.Namespace, Name: checkout.Name, UID: "uid of checkout"},
		Spec: schedulev2.TDSetSpec{
			Container:       schedulev2.Container{Image: "crccheck/hello-world", Port: 8000},
			DefaultReplicas: 2,
			TimeZone:        "UTC",
		},
	}
}

// newPod returns a Pod. If replicaSet isn't empty, it is the Pod's controller.
func newPod(namespace, name, replicaSet string, labels map[string]string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, Finalizers: []string{stillRunning}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if replicaSet != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: replicaSet, UID: "uid of " + types.UID(replicaSet), Controller: new(true)}}
	}
	return pod
}

func (c *cluster) create(object client.Object) { c.must(c.server.Create(context.Background(), object)) }

func createDebugPod(c *cluster) {
	c.create(newPod("shop", "checkout-debug", "", map[string]string{"app": "checkout"}))
}

func createCanaryPod(c *cluster) {
	c.create(newPod("shop", "checkout-canary-5c8f-x7k2p", "checkout-canary-5c8f", map[string]string{"app": "checkout", "track": "canary"}))
}

func createPodOfOtherTDSet(c *cluster) {
	c.create(newPod("shop", "checkout-eu-6f7d-l4m9q", "checkout-eu-6f7d", map[string]string{"app": "checkout-eu", "schedule.rs/tdset": "checkout-eu"}))
}

func createPodElsewhere(c *cluster) {
	c.create(newPod("test", "checkout-6f7d-l4m9q", "checkout-6f7d", labelsOf(newTDSet())))
}

func createPodWithoutLabels(c *cluster) { c.create(newPod("shop", "checkout-backup", "", nil)) }

func createTDSet(c *cluster) { c.create(newTDSet()) }

func deleteTDSet(c *cluster) { c.must(c.server.Delete(context.Background(), newTDSet())) }

func deleteDeployment(c *cluster) {
	c.must(c.server.Delete(context.Background(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout"}}))
}

// endPods ends all own Pods that are being deleted, endPod only one of them.
func endPods(c *cluster) { c.end(len(c.pods())) }
func endPod(c *cluster)  { c.end(1) }

func (c *cluster) end(count int) {
	for _, pod := range c.ownPods() {
		if !pod.DeletionTimestamp.IsZero() && count > 0 {
			count--
			pod.Finalizers = nil
			c.must(c.server.Update(context.Background(), &pod))
		}
	}
}

// createEvictedPod leaves a Pod of its own behind. The kubelet has ended it, but nobody deletes it.
func createEvictedPod(c *cluster) {
	pod := newPod(checkout.Namespace, "checkout-7d4b9c6f5-evicted", "checkout-7d4b9c6f5", labelsOf(newTDSet()))
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}
	c.create(pod)
}

func stopControllers(c *cluster)  { c.stopped = true }
func startControllers(c *cluster) { c.stopped = false }
func waitAnHour(c *cluster)       { c.pause(time.Hour) }
func nothing(*cluster)            {}

const backup = "example.com/backup"

func addBackup(c *cluster) {
	c.changeFinalizers(func(finalizers []string) []string { return append(finalizers, backup) })
}

func removeBackup(c *cluster) {
	c.changeFinalizers(func(finalizers []string) []string {
		return slices.DeleteFunc(finalizers, func(finalizer string) bool { return finalizer == backup })
	})
}

func (c *cluster) changeFinalizers(change func([]string) []string) {
	tdset := &schedulev2.TDSet{}
	c.must(c.server.Get(context.Background(), checkout, tdset))
	tdset.Finalizers = change(tdset.Finalizers)
	c.must(c.server.Update(context.Background(), tdset))
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}
