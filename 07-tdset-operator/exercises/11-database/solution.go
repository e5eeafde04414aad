//go:build solution

// Command 11-database is an operator for Databases in a single file. Read it from the top: it
// starts, says what leads to a call, works on one Database, first at the provider and then in the
// cluster, and has a pure core that decides what the status says.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"example.com/operators/07-tdset-operator/exercises/11-database/provider"
)

const (
	fieldOwner     = "database-controller" // its name in managedFields
	finalizer      = "db.example.com/external-database"
	conditionReady = "Ready"
)

func init() { utilruntime.Must(addToScheme(scheme.Scheme)) }

func main() {
	o := ctrl.Options{LeaderElectionID: "database-controller"}
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	where := flag.String("provider", "", "URL of the provider, or folder of a simulated one (default: a temporary folder)")
	pollInterval := flag.Duration("poll-interval", 10*time.Second, "how often to look at each database at the provider")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "database-system", "namespace of the Lease")
	logOptions := zap.Options{Development: true}
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	if *namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{*namespace: {}}
	}
	if err := run(ctrl.SetupSignalHandler(), o, *where, *pollInterval); err != nil {
		fmt.Fprintln(os.Stderr, "11-database:", err)
		os.Exit(1)
	}
}

// run runs the operator until ctx ends.
func run(ctx context.Context, o ctrl.Options, where string, pollInterval time.Duration) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	external, err := provider.Open(where)
	if err != nil {
		return fmt.Errorf("provider: %w", err)
	}
	r := &reconciler{client.WithFieldOwner(mgr.GetClient(), fieldOwner), external, pollInterval}
	if err := r.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return mgr.Start(ctx)
}

// reconciler keeps the database and the ConfigMap of each Database in the state that it asks for.
type reconciler struct {
	client.Client // reads from the manager's cache, writes to the API server
	provider      *provider.Client
	pollInterval  time.Duration
}

// SetupWithManager adds the controller to mgr. Each call sends a request to the provider, so
// changes of the status, which are the controller's own, lead to no call. A ConfigMap has its
// Database's name, so its own key is its Database's, even if somebody else has made it.
func (r *reconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&Database{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, &handler.EnqueueRequestForObject{}, changed).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 4,
			// The provider may fail for hours. The default would let the pauses grow to 16 minutes.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](100*time.Millisecond, time.Minute),
		}).
		Complete(r)
}

// Reconcile makes the provider and the cluster match the Database with that key. Nothing watches
// the provider, so each call says when the next one is due, even if there was nothing to do.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// 1. Read the Database. It is only gone when there is nothing left at the provider.
	database := &Database{}
	if err := r.Get(ctx, req.NamespacedName, database); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// 2. Take the next step, or clean up.
	step := r.sync
	if !database.DeletionTimestamp.IsZero() {
		step = r.finalize
	}
	err := step(ctx, database)

	// 3. Come back. Waiting here instead would occupy a worker, which other Databases need.
	var refused *provider.Error
	var blocked *obstacle
	switch {
	case errors.As(err, &refused) && refused.RetryAfter > 0:
		return ctrl.Result{RequeueAfter: refused.RetryAfter}, nil
	case isPassing(err):
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case err != nil && !errors.As(err, &blocked):
		return ctrl.Result{}, err // after an error, the queue's backoff counts
	}
	return ctrl.Result{RequeueAfter: r.pollInterval}, nil
}

// sync makes the provider match database, and then the ConfigMap and the status.
func (r *reconciler) sync(ctx context.Context, database *Database) error {
	// The finalizer comes first. Otherwise, a Database that is deleted before it has the finalizer
	// would leave its database behind. This also fails if the Database is gone, unlike in the cache.
	if err := r.patchFinalizers(ctx, database, controllerutil.AddFinalizer); err != nil {
		return fmt.Errorf("add the finalizer: %w", err)
	}
	external, err := r.syncExternal(ctx, database) // its errors name the request
	if err == nil && external.State == provider.Available {
		err = r.syncConfigMap(ctx, database, external)
	}
	if isPassing(err) {
		return err
	}
	return errors.Join(err, r.updateStatus(ctx, database, external, readiness(external, err)))
}

// syncExternal takes the next step at the provider and returns the database as it is after that, or
// nil if it isn't known. It looks for the database by name and owner each time. That finds even one
// whose ID was never stored, because the process died right after creating it.
func (r *reconciler) syncExternal(ctx context.Context, database *Database) (*provider.Database, error) {
	ours, others, err := r.findExternal(ctx, database)
	switch {
	case err != nil:
		return nil, err
	case len(ours) == 0 && len(others) > 0:
		return nil, &obstacle{"NameTaken", fmt.Sprintf("database %s at the provider has the name %s, but not the owner %s: "+
			"delete it there, or set its owner to make this Database adopt it", others[0].ID, others[0].Name, database.UID)}
	case len(ours) == 0:
		klog.FromContext(ctx).Info("Creating the database at the provider")
		return r.provider.Create(ctx, provider.Database{
			Name: externalName(database), Owner: string(database.UID), SizeGiB: database.Spec.SizeGiB,
		})
	case ours[0].SizeGiB != database.Spec.SizeGiB:
		klog.FromContext(ctx).Info("Resizing the database at the provider", "externalID", ours[0].ID, "from", ours[0].SizeGiB)
		return r.provider.Resize(ctx, ours[0].ID, database.Spec.SizeGiB)
	}
	return &ours[0], nil
}

// findExternal returns the databases at the provider that have database's external name: those that
// belong to it, and those of others.
func (r *reconciler) findExternal(ctx context.Context, database *Database) (
	ours, others []provider.Database, err error,
) {
	found, err := r.provider.List(ctx, externalName(database))
	for _, external := range found {
		if external.Owner == string(database.UID) {
			ours = append(ours, external)
		} else {
			others = append(others, external)
		}
	}
	return ours, others, err
}

// syncConfigMap creates or updates the ConfigMap, unless it is somebody else's. An update contains
// the resourceVersion that was read, so it overwrites nothing that the cache doesn't have yet.
func (r *reconciler) syncConfigMap(ctx context.Context, database *Database, external *provider.Database) error {
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: database.Namespace, Name: database.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, configMap, func() error {
		if configMap.UID != "" && !metav1.IsControlledBy(configMap, database) {
			return &obstacle{"ErrResourceExists", fmt.Sprintf("ConfigMap %s exists and is not controlled by this Database: "+
				"delete it or choose another name", configMap.Name)}
		}
		if configMap.Data == nil {
			configMap.Data = map[string]string{}
		}
		configMap.Data["endpoint"], configMap.Data["sizeGiB"] = external.Endpoint, fmt.Sprint(external.SizeGiB)
		return controllerutil.SetControllerReference(database, configMap, r.Scheme())
	})
	if err != nil {
		return fmt.Errorf("create or update ConfigMap %s: %w", database.Name, err)
	}
	return nil
}

// finalize deletes what belongs to database at the provider, and then removes the finalizer. While
// that fails, database stays, and its status says why. Retain is the way out of that.
func (r *reconciler) finalize(ctx context.Context, database *Database) error {
	if !controllerutil.ContainsFinalizer(database, finalizer) {
		return nil
	}
	if database.Spec.DeletionPolicy != Retain {
		if err := r.deleteExternal(ctx, database); err != nil {
			const message = "%s; to leave the database there, set spec.deletionPolicy to Retain"
			ready := readyIs(metav1.ConditionFalse, "DeletionFailed", fmt.Sprintf(message, readiness(nil, err).Message))
			return errors.Join(err, r.updateStatus(ctx, database, nil, ready))
		}
	}
	if err := r.patchFinalizers(ctx, database, controllerutil.RemoveFinalizer); err != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	return nil
}

// deleteExternal deletes every database that belongs to database.
func (r *reconciler) deleteExternal(ctx context.Context, database *Database) error {
	ours, _, err := r.findExternal(ctx, database)
	if err != nil {
		return err
	}
	for _, external := range ours {
		klog.FromContext(ctx).Info("Deleting the database at the provider", "externalID", external.ID)
		if err := r.provider.Delete(ctx, external.ID); err != nil {
			return err
		}
	}
	return nil
}

// patchFinalizers adds or removes the finalizer, if that changes anything. A merge patch replaces
// the whole list, so it assumes database's resourceVersion: nobody else's finalizer is lost.
func (r *reconciler) patchFinalizers(
	ctx context.Context, database *Database, change func(client.Object, string) bool,
) error {
	before := database.DeepCopy()
	if !change(database, finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return r.Patch(ctx, database, patch)
}

// updateStatus sends the status if it has changed. A merge patch replaces the whole list of
// conditions, so it assumes database's resourceVersion: nobody else's condition is lost.
func (r *reconciler) updateStatus(
	ctx context.Context, database *Database, external *provider.Database, ready metav1.Condition,
) error {
	before := database.DeepCopy()
	ready.ObservedGeneration, database.Status.ObservedGeneration = database.Generation, database.Generation
	if external != nil {
		database.Status.ExternalID = external.ID
	}
	meta.SetStatusCondition(&database.Status.Conditions, ready) // sets its time if its status has changed
	if equality.Semantic.DeepEqual(before.Status, database.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Status().Patch(ctx, database, patch); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}

// From here on, nothing sends a request: these functions only decide.

// externalName is unambiguous, because a namespace's name has no dots.
func externalName(database *Database) string { return database.Namespace + "." + database.Name }

// obstacle is an error that lasts until a person acts. It is the condition's reason and message,
// and there is no use in retrying it before the next poll.
type obstacle struct{ reason, message string }

func (o *obstacle) Error() string { return o.message }

// isPassing reports whether an error is no news for users: the cache was behind, which is normal,
// or the namespace is being deleted, and the Database with it.
func isPassing(err error) bool {
	isBehind := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
	return isBehind || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// readiness returns the condition Ready after a call with that result. It is Unknown if the call
// couldn't find out whether the database is as it should be.
func readiness(external *provider.Database, err error) metav1.Condition {
	var blocked *obstacle
	var refused *provider.Error
	switch {
	case errors.As(err, &blocked):
		return readyIs(metav1.ConditionFalse, blocked.reason, blocked.message)
	case errors.As(err, &refused): // without the network's error, whose text may differ each time
		return readyIs(metav1.ConditionUnknown, "ProviderFailed", refused.Message)
	case err != nil:
		return readyIs(metav1.ConditionFalse, "Failed", err.Error())
	case external.State != provider.Available:
		return readyIs(metav1.ConditionFalse, "Creating", "the provider is creating database "+external.ID)
	}
	return readyIs(metav1.ConditionTrue, "Available", "database "+external.ID+" is available")
}

func readyIs(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionReady, Status: status, Reason: reason, Message: message}
}
