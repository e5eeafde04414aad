//go:build solution

// Command 10-pool is an operator for Pools in a single file. Read it from the top: it starts, says
// which changes concern which Pools, works on one Pool, and has a pure core that decides what a
// Pool asks for.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const (
	fieldOwner     = client.FieldOwner("pool-controller") // its name in managedFields
	byOwner        = "owner"                              // indexes Pods, by the UID of their controller
	conditionReady = "Ready"
)

func init() { utilruntime.Must(addToScheme(scheme.Scheme)) }

func main() {
	o := ctrl.Options{LeaderElectionID: "pool-controller"}
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "pool-system", "namespace of the Lease")
	logOptions := zap.Options{Development: true}
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	o.Controller.MaxConcurrentReconciles = 4
	if *namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{*namespace: {}}
	}
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "10-pool:", err)
		os.Exit(1)
	}
}

// run runs the operator until ctx ends.
func run(ctx context.Context, o ctrl.Options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	c := &controller{Client: mgr.GetClient()}
	if err := c.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return mgr.Start(ctx)
}

// controller keeps each Pool's Pods in the state that the Pool asks for.
type controller struct {
	client.Client // reads from the manager's cache, writes to the API server
}

// SetupWithManager adds the controller to mgr.
func (c *controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, byOwner, func(pod client.Object) []string {
		if owner := metav1.GetControllerOf(pod); owner != nil {
			return []string{string(owner.UID)}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("index of Pods: %w", err)
	}
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&Pool{}).
		Owns(&corev1.Pod{}, changed). // enqueues the Pool that controls it
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(findPoolForName), changed).
		Complete(c)
}

// findPoolForName returns the Pool that may want the Pod's name, such as the Pool a for the Pod
// a-1. Somebody else's Pod has no owner reference to it, and its deletion makes the name free.
func findPoolForName(_ context.Context, pod client.Object) []ctrl.Request {
	dash := strings.LastIndex(pod.GetName(), "-")
	if dash < 0 {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: pod.GetNamespace(), Name: pod.GetName()[:dash]}}}
}

// Reconcile makes the cluster match the Pool with that key.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := c.reconcile(ctx, req)
	if apierrors.IsConflict(err) { // the cache was behind, which is normal
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return ctrl.Result{}, nil // the Pool will be deleted with its namespace
	}
	return ctrl.Result{}, err
}

func (c *controller) reconcile(ctx context.Context, req ctrl.Request) error {
	// 1. Read the Pool. If it is gone or being deleted, the garbage collector does the rest.
	pool := &Pool{}
	if err := c.Get(ctx, req.NamespacedName, pool); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !pool.DeletionTimestamp.IsZero() {
		return nil
	}

	// 2. Delete the Pods that it no longer asks for.
	if err := c.deleteSurplus(ctx, pool); err != nil {
		return err
	}

	// 3. Create, update or replace the Pods that it asks for. If one fails, the others still get
	// their turn.
	pods := map[state][]string{}
	var errs []error
	for i := range pool.Spec.Size {
		name := podName(pool, i)
		state, err := c.syncPod(ctx, pool, name)
		pods[state], errs = append(pods[state], name), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}

	// 4. Update the status, but only if it has changed.
	return c.updateStatus(ctx, pool, int32(len(pods[ready])), desiredReady(pool, pods))
}

// deleteSurplus deletes the Pods that pool controls and doesn't name any more.
func (c *controller) deleteSurplus(ctx context.Context, pool *Pool) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(pool.Namespace), client.MatchingFields{byOwner: string(pool.UID)}); err != nil {
		return fmt.Errorf("list the Pods of the Pool: %w", err)
	}
	wanted := map[string]bool{}
	for i := range pool.Spec.Size {
		wanted[podName(pool, i)] = true
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; !wanted[pod.Name] && pod.DeletionTimestamp.IsZero() {
			if err := c.deletePod(ctx, pod, "the Pool is smaller"); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncPod takes the next step for the Pod of that name, and returns the state of the Pod. Each step
// causes an event, and that event leads to the step after it.
func (c *controller) syncPod(ctx context.Context, pool *Pool, name string) (state, error) {
	pod, desired := &corev1.Pod{}, desiredPod(pool, name)
	err := c.Get(ctx, client.ObjectKeyFromObject(desired), pod)
	switch {
	case apierrors.IsNotFound(err):
		return starting, c.createPod(ctx, pool, desired)
	case err != nil:
		return starting, fmt.Errorf("get Pod %s: %w", name, err)
	case !metav1.IsControlledBy(pod, pool):
		return taken, nil
	case !pod.DeletionTimestamp.IsZero():
		return starting, nil // another one can't have the name before it is gone
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return starting, c.deletePod(ctx, pod, "it has ended")
	case imageOf(pod) != pool.Spec.Image:
		return starting, c.deletePod(ctx, pod, "it has another image than the Pool")
	case !labels.SelectorFromSet(desired.Labels).Matches(labels.Set(pod.Labels)):
		return stateOf(pod), c.restoreLabels(ctx, pod, desired)
	}
	return stateOf(pod), nil
}

// createPod needs no look at the API server before it. If the cache is behind, there is a Pod of
// that name already, the API server refuses another, and the event of the first one is on its way.
func (c *controller) createPod(ctx context.Context, pool *Pool, desired *corev1.Pod) error {
	klog.FromContext(ctx).Info("Creating", "pod", klog.KObj(desired))
	err := c.Create(ctx, desired, fieldOwner)
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return fmt.Errorf("create Pod %s: %w", desired.Name, err)
}

// deletePod assumes the UID, so it never deletes another Pod that has taken the name.
func (c *controller) deletePod(ctx context.Context, pod *corev1.Pod, why string) error {
	klog.FromContext(ctx).Info("Deleting", "pod", klog.KObj(pod), "why", why)
	if err := c.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Pod %s: %w", pod.Name, err)
	}
	return nil
}

// restoreLabels sends only the labels that differ, and keeps those of others.
func (c *controller) restoreLabels(ctx context.Context, pod, desired *corev1.Pod) error {
	klog.FromContext(ctx).Info("Restoring the labels", "pod", klog.KObj(pod))
	before := pod.DeepCopy()
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, desired.Labels)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, pod, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("restore the labels of Pod %s: %w", pod.Name, err)
	}
	return nil
}

// updateStatus sends the status if it has changed. A merge patch replaces the whole list of
// conditions, so it assumes pool's resourceVersion: nobody else's condition is lost.
func (c *controller) updateStatus(ctx context.Context, pool *Pool, readyPods int32, condition metav1.Condition) error {
	before := pool.DeepCopy()
	pool.Status.ObservedGeneration, pool.Status.ReadyPods = pool.Generation, readyPods
	meta.SetStatusCondition(&pool.Status.Conditions, condition) // sets its time if its status has changed
	if equality.Semantic.DeepEqual(before.Status, pool.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, pool, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}

// From here on, nothing reads from a cluster: these functions only decide.

func podName(pool *Pool, i int32) string { return fmt.Sprintf("%s-%d", pool.Name, i) }

func desiredPod(pool *Pool, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			Namespace:       pool.Namespace,
			Labels:          map[string]string{"app.kubernetes.io/name": "pool", "app.kubernetes.io/instance": pool.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(pool, groupVersion.WithKind("Pool"))},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: pool.Spec.Image}}},
	}
}

// imageOf finds the container by its name, because a webhook may have put a sidecar before it.
func imageOf(pod *corev1.Pod) string {
	for _, container := range pod.Spec.Containers {
		if container.Name == "worker" {
			return container.Image
		}
	}
	return ""
}

// state is what the status says about a Pod.
type state int

const (
	starting state = iota // or not there yet
	ready
	taken // somebody else's Pod has the name
)

func stateOf(pod *corev1.Pod) state {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return ready
		}
	}
	return starting
}

// desiredReady returns the condition Ready, given the names of the Pods in each state.
func desiredReady(pool *Pool, pods map[state][]string) metav1.Condition {
	condition := metav1.Condition{Type: conditionReady, Status: metav1.ConditionFalse, ObservedGeneration: pool.Generation}
	condition.Reason = "Progressing"
	condition.Message = fmt.Sprintf("%d of %d Pods are ready", len(pods[ready]), pool.Spec.Size)
	switch {
	case len(pods[taken]) > 0:
		condition.Reason = "ErrResourceExists"
		condition.Message = fmt.Sprintf("not controlled by this Pool: the Pods %s; delete them or choose another name", strings.Join(pods[taken], ", "))
	case len(pods[ready]) == int(pool.Spec.Size):
		condition.Status, condition.Reason = metav1.ConditionTrue, "Available"
	}
	return condition
}
