// Command unstructured logs the conditions of all objects of one kind, whenever they change. You name
// the kind when you start it, so there is no Go type for it. The objects are the decoded JSON, as a
// map:
//
//	go run ./05-controller-runtime/unstructured --kind Foo.v1alpha1.samplecontroller.k8s.io
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	kind := flag.String("kind", "Deployment.v1.apps", "kind to watch, as Kind.version.group")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	if err := run(ctrl.SetupSignalHandler(), *kind); err != nil {
		fmt.Fprintln(os.Stderr, "unstructured:", err)
		os.Exit(1)
	}
}

// run logs conditions until ctx ends.
func run(ctx context.Context, kind string) error {
	gvk, _ := schema.ParseKindArg(kind)
	if gvk == nil {
		return fmt.Errorf("--kind %s: must be Kind.version.group, such as Deployment.v1.apps", kind)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		// Without this, each read of an unstructured object is a request to the API server.
		Client:  client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	r := &reporter{mgr.GetClient(), *gvk}
	if err := ctrl.NewControllerManagedBy(mgr).Named("conditions").For(r.newObject()).Complete(r); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return mgr.Start(ctx)
}

// reporter logs the conditions of objects of one kind.
type reporter struct {
	client.Client
	kind schema.GroupVersionKind
}

// newObject returns an empty object. A Go type would tell the client the kind, a map has to say it.
func (r *reporter) newObject() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(r.kind)
	return object
}

// Reconcile logs each condition of one object. The compiler can't check the names of the fields, so
// they may be missing or have another type.
func (r *reporter) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object := r.newObject()
	if err := r.Get(ctx, req.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("conditions: %w", err)
	}
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok {
			ctrl.LoggerFrom(ctx).Info("Condition", "type", fields["type"], "status", fields["status"], "reason", fields["reason"])
		}
	}
	return ctrl.Result{}, nil
}
