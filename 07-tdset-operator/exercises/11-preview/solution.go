//go:build solution

// Command 11-preview is an operator for Previews in a single file. Read it from the top: it starts,
// says which changes concern which Previews, works on one Preview, and has a pure core that decides
// what a Preview asks for at a given time.

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const (
	fieldOwner       = client.FieldOwner("preview-controller") // its name in managedFields
	conditionReady   = "Ready"
	conditionExpired = "Expired"
)

func init() { utilruntime.Must(addToScheme(scheme.Scheme)) }

func main() {
	o := ctrl.Options{LeaderElectionID: "preview-controller"}
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "preview-system", "namespace of the Lease")
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
		fmt.Fprintln(os.Stderr, "11-preview:", err)
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
	c := &controller{Client: mgr.GetClient(), apiReader: mgr.GetAPIReader(), clock: clock.RealClock{}}
	if err := c.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return mgr.Start(ctx)
}

// controller keeps each Preview's Deployment in the state that the Preview asks for.
type controller struct {
	client.Client               // reads from the manager's cache, writes to the API server
	apiReader     client.Reader // reads from the API server
	clock         clock.PassiveClock
}

// SetupWithManager adds the controller to mgr. A Deployment has its Preview's name, so its own key
// is its Preview's. Owns would enqueue the same key, but not for a Deployment that somebody else
// has made, and whose deletion makes the name free.
func (c *controller) SetupWithManager(mgr ctrl.Manager) error {
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&Preview{}).
		Watches(&appsv1.Deployment{}, &handler.EnqueueRequestForObject{}, changed).
		Complete(c)
}

// Reconcile makes the cluster match what the Preview with that key asks for at this time. No event
// says that time has passed, so the result says when to call it again. The queue keeps only one
// such time for a key, and forgets it at an earlier call. So each call has to return it again.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// 1. Read the Preview. If it is gone or being deleted, the garbage collector does the rest.
	preview := &Preview{}
	if err := c.Get(ctx, req.NamespacedName, preview); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !preview.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// 2. Find out whether it has expired. Look at the clock only once, so that the Deployment and
	// the status are about the same time.
	expired := !c.clock.Now().Before(expiryOf(preview))

	// 3. Make the cluster match.
	err := c.sync(ctx, preview, expired)
	switch {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err): // the cache was behind, which is normal
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case err != nil || expired:
		return ctrl.Result{}, err // after an error, the queue's backoff counts
	}

	// 4. Come back when it expires, which may be right now: 0 would mean never.
	return ctrl.Result{RequeueAfter: max(expiryOf(preview).Sub(c.clock.Now()), time.Millisecond)}, nil
}

// sync creates or updates the Deployment, and then the status.
func (c *controller) sync(ctx context.Context, preview *Preview, expired bool) error {
	// A write causes an event, and that event leads to the status.
	deployment, err := c.syncDeployment(ctx, preview, expired)
	if err != nil || deployment == nil {
		return err
	}
	return c.updateStatus(ctx, preview, desiredExpired(preview, expired), desiredReady(preview, deployment, expired))
}

// syncDeployment returns the Deployment, or nil if it has just created or updated it.
func (c *controller) syncDeployment(ctx context.Context, preview *Preview, expired bool) (*appsv1.Deployment, error) {
	name, desired, observed := preview.Name, desiredDeployment(preview, expired), &appsv1.Deployment{}
	key := client.ObjectKeyFromObject(preview)
	err := c.Get(ctx, key, observed)
	if apierrors.IsNotFound(err) {
		err = c.apiReader.Get(ctx, key, observed) // the cache may be behind, and an apply changes what exists
	}
	switch {
	case apierrors.IsNotFound(err):
		klog.FromContext(ctx).Info("Creating", "deployment", klog.KRef(key.Namespace, name))
		// Without force, it can't take over fields of a Deployment that someone has just created.
		if err := c.Apply(ctx, desired, fieldOwner); err != nil {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !metav1.IsControlledBy(observed, preview) || !observed.DeletionTimestamp.IsZero():
		return observed, nil // the next change to it causes an event
	}
	// The fields that this controller owns, with their values. They differ from the desired ones if
	// somebody has changed them.
	owned, err := appsv1ac.ExtractDeployment(observed, string(fieldOwner))
	if err != nil {
		return nil, fmt.Errorf("managedFields of Deployment %s: %w", name, err)
	}
	if equality.Semantic.DeepEqual(owned, desired) {
		return observed, nil
	}
	klog.FromContext(ctx).Info("Updating", "deployment", klog.KObj(observed), "replicas", *desired.Spec.Replicas)
	if err := c.Apply(ctx, desired.WithUID(observed.UID), fieldOwner, client.ForceOwnership); err != nil {
		return nil, fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil, nil
}

// updateStatus sends the status if it has changed. A merge patch replaces the whole list of
// conditions, so it assumes preview's resourceVersion: nobody else's condition is lost.
func (c *controller) updateStatus(ctx context.Context, preview *Preview, conditions ...metav1.Condition) error {
	before := preview.DeepCopy()
	preview.Status.ObservedGeneration = preview.Generation
	preview.Status.ExpiresAt = ptr.To(metav1.NewTime(expiryOf(preview)))
	for _, condition := range conditions {
		meta.SetStatusCondition(&preview.Status.Conditions, condition) // sets its time if its status has changed
	}
	if equality.Semantic.DeepEqual(before.Status, preview.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, preview, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}

// From here on, nothing reads from a cluster or a clock: these functions only decide.

// expiryOf counts from the creation. That never changes, so the result is the same after a restart,
// and on each replica.
func expiryOf(preview *Preview) time.Time {
	return preview.CreationTimestamp.Add(time.Duration(preview.Spec.TTLSeconds) * time.Second)
}

// desiredDeployment sets only the fields that this controller owns.
func desiredDeployment(preview *Preview, expired bool) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app.kubernetes.io/name": "preview", "app.kubernetes.io/instance": preview.Name}
	replicas := int32(1)
	if expired {
		replicas = 0
	}
	return appsv1ac.Deployment(preview.Name, preview.Namespace).
		WithLabels(labels).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(groupVersion.String()).
			WithKind("Preview").
			WithName(preview.Name).
			WithUID(preview.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().WithName("preview").WithImage(preview.Spec.Image)))))
}

// desiredExpired returns the condition Expired, which is about time only.
func desiredExpired(preview *Preview, expired bool) metav1.Condition {
	condition := metav1.Condition{
		Type:               conditionExpired,
		Status:             metav1.ConditionFalse,
		ObservedGeneration: preview.Generation,
		Reason:             "TimeLeft",
		Message:            "raise ttlSeconds to keep it for longer",
	}
	if expired {
		condition.Status, condition.Reason = metav1.ConditionTrue, "TimePassed"
		condition.Message = "raise ttlSeconds to bring it back"
	}
	return condition
}

// desiredReady returns the condition Ready: the Deployment has done what was asked for, which is to
// have no Pod once the Preview has expired.
func desiredReady(preview *Preview, deployment *appsv1.Deployment, expired bool) metav1.Condition {
	condition := metav1.Condition{Type: conditionReady, Status: metav1.ConditionFalse, ObservedGeneration: preview.Generation}
	want, status := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	switch {
	case !metav1.IsControlledBy(deployment, preview):
		condition.Reason = "ErrResourceExists"
		condition.Message = fmt.Sprintf("Deployment %q exists and is not controlled by this Preview: delete it or choose another name", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		condition.Reason = "Terminating"
		condition.Message = fmt.Sprintf("Deployment %q is being deleted and will be created again", deployment.Name)
	default:
		condition.Reason = "Progressing"
		condition.Message = fmt.Sprintf("%d of %d replicas are available, and there are %d in all", status.AvailableReplicas, want, status.Replicas)
		if status.ObservedGeneration < deployment.Generation || status.Replicas != want || status.UpdatedReplicas != want || status.AvailableReplicas != want {
			break
		}
		condition.Status, condition.Reason = metav1.ConditionTrue, "Available"
		if expired {
			condition.Reason = "Expired"
		}
	}
	return condition
}
