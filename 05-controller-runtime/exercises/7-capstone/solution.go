//go:build solution

// Command 7-capstone is a controller for Foos in a single file. From top to bottom, it starts,
// finds the Foos that an event concerns, and reconciles one Foo. At the end are pure functions that
// decide what a Foo asks for.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

const (
	fieldOwner       = client.FieldOwner("foo-controller")
	byDeploymentName = "spec.deploymentName" // indexes Foos
	byOwner          = "owner"               // indexes Deployments, by the UID of their controller

	conditionReady       = "Ready"
	reasonAvailable      = "Available"
	reasonProgressing    = "Progressing"
	reasonTerminating    = "Terminating"
	reasonRefused        = "Refused" // by the API server
	reasonFailed         = "Failed"  // for another reason
	reasonResourceExists = "ErrResourceExists"
)

func init() { utilruntime.Must(samplecontrollerv1alpha1.Install(scheme.Scheme)) }

func main() {
	o := ctrl.Options{LeaderElectionID: "foo-controller"}
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "foo-system", "namespace of the Lease")
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
		fmt.Fprintln(os.Stderr, "7-capstone:", err)
		os.Exit(1)
	}
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o ctrl.Options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	c := &controller{Client: mgr.GetClient(), apiReader: mgr.GetAPIReader(), recorder: mgr.GetEventRecorder("foo-controller")}
	if err := c.setUp(ctx, mgr); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return mgr.Start(ctx)
}

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	client.Client               // reads from the manager's cache, writes to the API server
	apiReader     client.Reader // reads from the API server
	recorder      events.EventRecorder
}

// setUp creates the indexes, and tells the manager which events enqueue which Foos.
func (c *controller) setUp(ctx context.Context, mgr ctrl.Manager) error {
	indexer := mgr.GetFieldIndexer()
	if err := indexer.IndexField(ctx, &samplecontrollerv1alpha1.Foo{}, byDeploymentName, func(object client.Object) []string {
		return []string{object.(*samplecontrollerv1alpha1.Foo).Spec.DeploymentName}
	}); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &appsv1.Deployment{}, byOwner, func(object client.Object) []string {
		if owner := metav1.GetControllerOf(object); owner != nil {
			return []string{string(owner.UID)}
		}
		return nil
	}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}).
		Owns(&appsv1.Deployment{}).
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(c.findFoosForDeployment)).
		Complete(c)
}

// findFoosForDeployment returns the Foos that ask for the Deployment's name, which may be free now.
func (c *controller) findFoosForDeployment(ctx context.Context, deployment client.Object) (requests []ctrl.Request) {
	var foos samplecontrollerv1alpha1.FooList
	err := c.List(ctx, &foos, client.InNamespace(deployment.GetNamespace()), client.MatchingFields{byDeploymentName: deployment.GetName()})
	if err != nil {
		klog.ErrorS(err, "Lost an event: the index can't be read", "deployment", klog.KObj(deployment))
	}
	for i := range foos.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&foos.Items[i])})
	}
	return requests
}

// Reconcile makes the cluster match the Foo with that key.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := c.reconcile(ctx, req)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) { // the cache was behind, which is normal
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

func (c *controller) reconcile(ctx context.Context, req ctrl.Request) error {
	// 1. Read the Foo. If it is gone or being deleted, the garbage collector does the rest.
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := c.Get(ctx, req.NamespacedName, foo); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return nil
	}

	// 2. Create or update its Deployment.
	deployment, err := c.syncDeployment(ctx, foo)

	// 3. Delete Deployments that it named before, but only once the new one exists.
	if err == nil && controls(foo, deployment) {
		err = c.deleteFormer(ctx, foo)
	}

	// 4. Update the status, even after a failure, but only if it has changed.
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return err // somebody else has just written it, so look again first
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // the Foo will be deleted with its namespace
	}
	ready := desiredReady(foo, deployment, err)
	status := &samplecontrollerv1alpha1.FooStatus{ObservedGeneration: foo.Generation, Conditions: slices.Clone(foo.Status.Conditions)}
	if deployment != nil && controls(foo, deployment) {
		status.Replicas = deployment.Status.Replicas
		status.Selector = metav1.FormatLabelSelector(deployment.Spec.Selector)
		status.AvailableReplicas = deployment.Status.AvailableReplicas
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	if equality.Semantic.DeepEqual(&foo.Status, status) {
		return err
	}
	if failed := c.patchStatus(ctx, foo, status); failed != nil {
		return errors.Join(err, fmt.Errorf("update the status: %w", failed))
	}
	c.recordEvent(foo, ready)
	return err
}

// syncDeployment returns the Deployment that foo names, as it is after a write. The error says why
// it isn't as foo asks.
func (c *controller) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*appsv1.Deployment, error) {
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	key := client.ObjectKey{Namespace: foo.Namespace, Name: name}
	deployment := &appsv1.Deployment{}
	err := c.Get(ctx, key, deployment)
	if apierrors.IsNotFound(err) {
		// Ask the API server, because the cache may be behind, and an apply changes what exists.
		err = c.apiReader.Get(ctx, key, deployment)
	}
	switch {
	case apierrors.IsNotFound(err):
		klog.FromContext(ctx).Info("Creating", "deployment", klog.KRef(foo.Namespace, name))
		// Without force, it can't take fields away from anyone who has just created the Deployment.
		if deployment, err = c.applyDeployment(ctx, desired); err != nil {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !controls(foo, deployment) || upToDate(deployment, foo):
		return deployment, nil
	default:
		klog.FromContext(ctx).Info("Updating", "deployment", klog.KObj(deployment))
		written, err := c.applyDeployment(ctx, desired.WithUID(deployment.UID), client.ForceOwnership)
		if err != nil {
			return deployment, fmt.Errorf("update Deployment %s: %w", name, err)
		}
		deployment = written
	}
	if !upToDate(deployment, foo) {
		return deployment, fmt.Errorf("write Deployment %s: %w", name, errOverruled)
	}
	return deployment, nil
}

// applyDeployment applies desired and returns the API server's answer. It goes through an
// unstructured object, which Apply replaces with the answer. Into desired, Apply would only merge
// the answer, so a label that a webhook has removed would still be there.
func (c *controller) applyDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration, options ...client.ApplyOption) (*appsv1.Deployment, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), append(options, fieldOwner)...); err != nil {
		return nil, err
	}
	applied := &appsv1.Deployment{}
	return applied, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, applied)
}

// deleteFormer deletes the Deployments that foo controls but no longer names.
func (c *controller) deleteFormer(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	var deployments appsv1.DeploymentList
	if err := c.List(ctx, &deployments, client.InNamespace(foo.Namespace), client.MatchingFields{byOwner: string(foo.UID)}); err != nil {
		return fmt.Errorf("list the Deployments of the Foo: %w", err)
	}
	for i := range deployments.Items {
		former := &deployments.Items[i]
		if former.Name == foo.Spec.DeploymentName || !controls(foo, former) {
			continue
		}
		klog.FromContext(ctx).Info("Deleting", "deployment", klog.KObj(former))
		if err := c.Delete(ctx, former, client.Preconditions{UID: &former.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}

// patchStatus sends what has changed. The patch includes foo's resourceVersion, so that the API
// server refuses a status that was computed from an old Foo.
func (c *controller) patchStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, status *samplecontrollerv1alpha1.FooStatus) error {
	updated := foo.DeepCopy()
	updated.Status = *status
	patch := client.MergeFromWithOptions(foo, client.MergeFromWithOptimisticLock{})
	return c.Status().Patch(ctx, updated, patch, fieldOwner)
}

// recordEvent records an Event if the reason of Ready has changed.
func (c *controller) recordEvent(foo *samplecontrollerv1alpha1.Foo, ready metav1.Condition) {
	if before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady); before != nil && before.Reason == ready.Reason {
		return
	}
	switch ready.Reason {
	case reasonAvailable:
		c.recorder.Eventf(foo, nil, corev1.EventTypeNormal, "Synced", "Sync", "%s", ready.Message)
	case reasonResourceExists, reasonRefused:
		c.recorder.Eventf(foo, nil, corev1.EventTypeWarning, ready.Reason, "Sync", "%s", ready.Message)
	}
}

// From here on, nothing reads from a cluster: these functions only decide.

// desiredDeployment sets only the fields that this controller owns.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithLabels(labels).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(samplecontrollerv1alpha1.GroupVersion.String()).
			WithKind("Foo").
			WithName(foo.Name).
			WithUID(foo.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(ptr.Deref(foo.Spec.Replicas, 1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().
						WithName("nginx").
						WithImage("nginx:latest").
						WithImagePullPolicy(corev1.PullIfNotPresent)))))
}

// upToDate reports whether the Deployment has the values that desiredDeployment sets.
func upToDate(deployment *appsv1.Deployment, foo *samplecontrollerv1alpha1.Foo) bool {
	for _, labels := range []map[string]string{deployment.Labels, deployment.Spec.Template.Labels} {
		if labels["app"] != "nginx" || labels["controller"] != foo.Name {
			return false
		}
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == "nginx" {
			return container.Image == "nginx:latest" && container.ImagePullPolicy == corev1.PullIfNotPresent &&
				ptr.Deref(deployment.Spec.Replicas, 1) == ptr.Deref(foo.Spec.Replicas, 1)
		}
	}
	return false
}

// controls reports whether foo may change the Deployment.
func controls(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, foo) && deployment.DeletionTimestamp.IsZero()
}

// desiredReady returns the condition Ready, given the Deployment that foo names, and why that isn't
// as foo asks. Both may be nil. meta.SetStatusCondition sets the time.
func desiredReady(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment, failure error) metav1.Condition {
	ready := metav1.Condition{Type: conditionReady, Status: metav1.ConditionFalse, ObservedGeneration: foo.Generation}
	switch {
	case failure != nil:
		ready.Reason, ready.Message = reasonFailed, "The last attempt failed: the controller's log says why"
		if isRefusal(failure) {
			ready.Reason, ready.Message = reasonRefused, failure.Error()
		}
		// The text of a refusal may differ each time. Keep the first one, so that a retry writes nothing.
		before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
		if before != nil && before.Reason == ready.Reason && before.ObservedGeneration == foo.Generation {
			ready.Message = before.Message
		}
	case !metav1.IsControlledBy(deployment, foo):
		ready.Reason = reasonResourceExists
		ready.Message = fmt.Sprintf("Deployment %q exists and is not controlled by this Foo: delete it or choose another deploymentName", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		ready.Reason = reasonTerminating
		ready.Message = fmt.Sprintf("Deployment %q is being deleted and will be created again", deployment.Name)
	default:
		want, status := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
		ready.Reason = reasonProgressing
		ready.Message = fmt.Sprintf("%d of %d replicas of Deployment %q are available", status.AvailableReplicas, want, deployment.Name)
		if status.ObservedGeneration >= deployment.Generation && status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want {
			ready.Status, ready.Reason = metav1.ConditionTrue, reasonAvailable
			break
		}
		// The Deployment's own conditions say why it gets no Pods, or why its rollout is stuck.
		for _, condition := range status.Conditions {
			noPods := condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue
			stuck := condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse
			if noPods || stuck && ready.Reason == reasonProgressing {
				ready.Reason, ready.Message = condition.Reason, condition.Message
			}
		}
	}
	return ready
}
