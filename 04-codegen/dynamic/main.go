// Command dynamic prints how the objects of one resource change. You name the resource when you
// start it, as you would for kubectl, so there is no Go type and no generated client for it:
//
//	go run ./04-codegen/dynamic --resource deployments
//	go run ./04-codegen/dynamic --resource foos.v1alpha1.samplecontroller.k8s.io
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	namespace := flag.String("namespace", "", "watch this namespace only (default: all)")
	resource := flag.String("resource", "deployments", "resource to watch, as for kubectl get: deploy, deployments.apps or deployments.v1.apps")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, os.Stdout, *kubeconfig, *namespace, *resource); err != nil {
		fmt.Fprintln(os.Stderr, "dynamic:", err)
		os.Exit(1)
	}
}

// run prints changes to out until ctx ends.
func run(ctx context.Context, out io.Writer, kubeconfig, namespace, resource string) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig (--kubeconfig, KUBECONFIG or ~/.kube/config): %w", err)
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("client for discovery: %w", err)
	}
	gvr, err := resourceFor(server, resource)
	if err != nil {
		return fmt.Errorf("--resource %s: %w", resource, err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client for %s: %w", gvr.Resource, err)
	}

	// Whatever the resource is, its objects have the Go type Unstructured.
	informer := cache.NewTypedSharedIndexInformer[*unstructured.Unstructured](
		dynamicinformer.NewFilteredDynamicInformer(client, gvr, namespace, 0, cache.Indexers{}, nil).Informer())
	if err := informer.SetTransform(withoutManagedFields); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	fmt.Fprintf(out, "watching %s in %s\n", gvr.Resource, gvr.GroupVersion())
	informer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*unstructured.Unstructured]{
		AddFunc: func(object *unstructured.Unstructured) {
			fmt.Fprintf(out, "added %s\n", cache.MetaObjectToName(object))
		},
		UpdateFunc: func(before, after *unstructured.Unstructured) {
			fmt.Fprintf(out, "changed %s\n", cache.MetaObjectToName(after))
			for _, change := range changes(before.Object, after.Object) {
				fmt.Fprintf(out, "  %s\n", change)
			}
		},
		DeleteFunc: func(deleted cache.DeletedObject[*unstructured.Unstructured]) {
			fmt.Fprintf(out, "deleted %s\n", deleted.GetObjectName())
		},
	})
	informer.RunWithContext(ctx)
	return nil
}

// resourceFor finds the resource that the user means. Like kubectl, it asks the API server which
// groups, versions and short names there are (discovery), and the RESTMapper selects one.
func resourceFor(server discovery.DiscoveryInterface, name string) (schema.GroupVersionResource, error) {
	cached := memory.NewMemCacheClient(server)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	// deployments.v1.apps may mean version v1 of the group apps, or the group v1.apps.
	full, groupResource := schema.ParseResourceArg(name)
	if full != nil {
		if gvr, err := mapper.ResourceFor(*full); err == nil {
			return gvr, nil
		}
	}
	return mapper.ResourceFor(groupResource.WithVersion(""))
}

// withoutManagedFields is called before an object gets into the cache. managedFields are often a big
// part of an object, and nothing here reads them.
func withoutManagedFields(object any) (any, error) {
	if object, ok := object.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return object, nil
}
