//go:build solution

// Command 9-website is an operator for Websites in a single file. Read it from the top: it starts,
// says which changes concern which Websites, works on one Website, and has a pure core that decides
// what a Website asks for.

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
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
	fieldOwner     = client.FieldOwner("website-controller") // its name in managedFields
	hashAnnotation = "web.example.com/content-hash"
	conditionReady = "Ready"
)

func init() { utilruntime.Must(addToScheme(scheme.Scheme)) }

func main() {
	o := ctrl.Options{LeaderElectionID: "website-controller"}
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "website-system", "namespace of the Lease")
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
		fmt.Fprintln(os.Stderr, "9-website:", err)
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
	c := &controller{Client: mgr.GetClient(), apiReader: mgr.GetAPIReader()}
	if err := c.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return mgr.Start(ctx)
}

// controller keeps each Website's objects in the state that the Website asks for.
type controller struct {
	client.Client               // reads from the manager's cache, writes to the API server
	apiReader     client.Reader // reads from the API server
}

// SetupWithManager adds the controller to mgr. An owned object has its Website's name, so its own
// key is its Website's. Owns would enqueue the same key, but not for an object that somebody else
// has made, and whose deletion makes the name free.
func (c *controller) SetupWithManager(mgr ctrl.Manager) error {
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&Website{}).
		Watches(&corev1.ConfigMap{}, &handler.EnqueueRequestForObject{}, changed).
		Watches(&corev1.Service{}, &handler.EnqueueRequestForObject{}, changed).
		Watches(&appsv1.Deployment{}, &handler.EnqueueRequestForObject{}, changed).
		Complete(c)
}

// Reconcile makes the cluster match the Website with that key.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := c.reconcile(ctx, req)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) { // the cache was behind, which is normal
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return ctrl.Result{}, nil // the Website will be deleted with its namespace
	}
	return ctrl.Result{}, err
}

func (c *controller) reconcile(ctx context.Context, req ctrl.Request) error {
	// 1. Read the Website. If it is gone or being deleted, the garbage collector does the rest.
	website := &Website{}
	if err := c.Get(ctx, req.NamespacedName, website); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !website.DeletionTimestamp.IsZero() {
		return nil
	}

	// 2. Create or update its objects. The Deployment comes last, because new Pods must find the
	// new page, and must never serve somebody else's.
	deployment := &appsv1.Deployment{}
	ready, written := (*metav1.Condition)(nil), false
	for _, ensure := range []func() (outcome, error){
		func() (outcome, error) {
			return ensure(ctx, c, website, &corev1.ConfigMap{}, desiredConfigMap(website), corev1ac.ExtractConfigMap)
		},
		func() (outcome, error) { return c.ensureService(ctx, website) },
		func() (outcome, error) {
			return ensure(ctx, c, website, deployment, desiredDeployment(website), appsv1ac.ExtractDeployment)
		},
	} {
		done, err := ensure()
		if err != nil {
			return err
		}
		written = written || done.written
		if ready = done.obstacle; ready != nil {
			break
		}
	}

	// 3. After a write, do nothing more: its event leads to step 4, with the result in the cache.
	if written && ready == nil {
		return nil
	}

	// 4. Update the status, but only if it has changed.
	if ready == nil {
		ready = rollout(deployment)
	}
	return c.updateStatus(ctx, website, deployment.Status.AvailableReplicas, *ready)
}

// outcome says what came of ensure. Without either, the object is as it should be.
type outcome struct {
	written  bool              // by this call, or nothing can be written, because the namespace is being deleted
	obstacle *metav1.Condition // why the object can't be written, as the condition Ready
}

// applyConfiguration is an apply configuration of the type A.
type applyConfiguration[A any] interface {
	runtime.ApplyConfiguration
	WithUID(types.UID) A
}

// ensure creates or updates the object of website's name that desired describes, unless it is
// somebody else's. It reads the object into observed. extract returns what this controller owns of
// it according to managedFields, so it differs from desired if somebody has changed that.
func ensure[O client.Object, A applyConfiguration[A]](ctx context.Context, c *controller, website *Website,
	observed O, desired A, extract func(O, string) (A, error)) (done outcome, err error) {
	what := fmt.Sprintf("%T %s", observed, website.Name)[len("*v1."):]
	key := client.ObjectKeyFromObject(website)
	if err = c.Get(ctx, key, observed); apierrors.IsNotFound(err) {
		err = c.apiReader.Get(ctx, key, observed) // the cache may be behind, and an apply changes what exists
	}
	switch {
	case apierrors.IsNotFound(err):
		klog.FromContext(ctx).Info("Creating", "object", what)
		// Without force, it can't take over fields of an object that someone has just created.
		if err := c.Apply(ctx, desired, fieldOwner); err != nil {
			return done, fmt.Errorf("create %s: %w", what, err)
		}
		return outcome{written: true}, nil
	case err != nil:
		return done, fmt.Errorf("get %s: %w", what, err)
	case !metav1.IsControlledBy(observed, website):
		return outcome{obstacle: notReady("ErrResourceExists", "%s exists and is not controlled by this Website: delete it or choose another name", what)}, nil
	case !observed.GetDeletionTimestamp().IsZero():
		return outcome{obstacle: notReady("Terminating", "%s is being deleted and will be created again", what)}, nil
	}
	owned, err := extract(observed, string(fieldOwner))
	if err != nil {
		return done, fmt.Errorf("managedFields of %s: %w", what, err)
	}
	if equality.Semantic.DeepEqual(owned, desired) {
		return done, nil
	}
	klog.FromContext(ctx).Info("Updating", "object", what)
	if err := c.Apply(ctx, desired.WithUID(observed.GetUID()), fieldOwner, client.ForceOwnership); err != nil {
		return done, fmt.Errorf("update %s: %w", what, err)
	}
	return outcome{written: true}, nil
}

// ensureService creates or updates the Service. A port that somebody has edited is theirs, so an apply
// adds ours to it, and the API server refuses two ports without names. In this case, ours replaces the
// whole list.
func (c *controller) ensureService(ctx context.Context, website *Website) (outcome, error) {
	observed, desired := &corev1.Service{}, desiredService(website)
	done, err := ensure(ctx, c, website, observed, desired, corev1ac.ExtractService)
	if !apierrors.IsInvalid(err) || observed.Spec.Ports[0].Port == *desired.Spec.Ports[0].Port {
		return done, err
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": observed.UID, "resourceVersion": observed.ResourceVersion},
		"spec":     map[string]any{"ports": desired.Spec.Ports},
	})
	if err != nil {
		return done, err
	}
	if err := c.Patch(ctx, observed, client.RawPatch(types.MergePatchType, patch), fieldOwner); err != nil {
		return done, fmt.Errorf("replace the ports of Service %s: %w", website.Name, err)
	}
	return outcome{written: true}, nil
}

// updateStatus sends the status if it has changed. A merge patch replaces the whole list of
// conditions, so it assumes website's resourceVersion: nobody else's condition is lost.
func (c *controller) updateStatus(ctx context.Context, website *Website, available int32, ready metav1.Condition) error {
	before := website.DeepCopy()
	ready.ObservedGeneration = website.Generation
	website.Status.ObservedGeneration, website.Status.AvailableReplicas = website.Generation, available
	meta.SetStatusCondition(&website.Status.Conditions, ready) // sets its time if its status has changed
	if equality.Semantic.DeepEqual(before.Status, website.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, website, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}

// From here on, nothing reads from a cluster: these functions only decide. The apply configurations
// set only the fields that this controller owns.

func labelsOf(website *Website) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "website", "app.kubernetes.io/instance": website.Name}
}

func ownerReference(website *Website) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(groupVersion.String()).WithKind("Website").WithName(website.Name).WithUID(website.UID).
		WithController(true).WithBlockOwnerDeletion(true)
}

func desiredConfigMap(website *Website) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(website.Name, website.Namespace).
		WithLabels(labelsOf(website)).
		WithOwnerReferences(ownerReference(website)).
		WithData(map[string]string{"index.html": website.Spec.Content})
}

func desiredService(website *Website) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(website.Name, website.Namespace).
		WithLabels(labelsOf(website)).
		WithOwnerReferences(ownerReference(website)).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(labelsOf(website)).
			WithPorts(corev1ac.ServicePort().WithPort(80).WithProtocol(corev1.ProtocolTCP)))
}

func desiredDeployment(website *Website) *appsv1ac.DeploymentApplyConfiguration {
	const volume = "page"
	// A changed ConfigMap reaches the Pods within about a minute, each at another time. A changed
	// template makes the Deployment controller replace the Pods one by one.
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(website.Spec.Content)))
	return appsv1ac.Deployment(website.Name, website.Namespace).
		WithLabels(labelsOf(website)).
		WithOwnerReferences(ownerReference(website)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(ptr.Deref(website.Spec.Replicas, 1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labelsOf(website))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labelsOf(website)).
				WithAnnotations(map[string]string{hashAnnotation: hash}).
				WithSpec(corev1ac.PodSpec().
					WithVolumes(corev1ac.Volume().
						WithName(volume).
						WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(website.Name))).
					WithContainers(corev1ac.Container().
						WithName("nginx").
						WithImage("nginx:latest").
						WithImagePullPolicy(corev1.PullIfNotPresent).
						WithVolumeMounts(corev1ac.VolumeMount().WithName(volume).WithMountPath("/usr/share/nginx/html"))))))
}

// rollout returns the condition Ready of a Website whose objects are all as they should be.
func rollout(deployment *appsv1.Deployment) *metav1.Condition {
	want, status := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	ready := notReady("Progressing", "%d of %d replicas are available", status.AvailableReplicas, want)
	if status.ObservedGeneration >= deployment.Generation && status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Available"
	}
	return ready
}

func notReady(reason, message string, args ...any) *metav1.Condition {
	return &metav1.Condition{Type: conditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(message, args...)}
}
