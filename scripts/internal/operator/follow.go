package operator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// Follow calls see with each version of the objects of these resources in a namespace, and with their
// resource. Of a deleted object, that is the last version known. Follow returns when it has listed the
// existing objects, and goes on until ctx ends. Calls for different resources are concurrent.
func Follow(
	ctx context.Context, client dynamic.Interface, namespace string, resources []schema.GroupVersionResource,
	see func(schema.GroupVersionResource, watch.EventType, *unstructured.Unstructured),
) error {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	for _, resource := range resources {
		handle := func(event watch.EventType, object any) {
			if last, isTombstone := object.(cache.DeletedFinalStateUnknown); isTombstone {
				object = last.Obj
			}
			see(resource, event, object.(*unstructured.Unstructured))
		}
		handler := cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { handle(watch.Added, object) },
			UpdateFunc: func(_, object any) { handle(watch.Modified, object) },
			DeleteFunc: func(object any) { handle(watch.Deleted, object) },
		}
		if _, err := factory.ForResource(resource).Informer().AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	for resource, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("watch %s in namespace %s: %w", resource.Resource, namespace, context.Cause(ctx))
		}
	}
	return nil
}
