// The controller: two informers, and the work done in their handlers.

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

// The image is in this ConfigMap, under this key.
const (
	configMapName = "imageswap"
	imageKey      = "image"
)

// swapper sets the image of the first container of every Deployment in one namespace.
type swapper struct {
	client      kubernetes.Interface
	namespace   string
	factory     informers.SharedInformerFactory
	deployments appslisters.DeploymentLister
	configMaps  corelisters.ConfigMapLister
}

func newSwapper(client kubernetes.Interface, namespace string) *swapper {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	return &swapper{
		client:      client,
		namespace:   namespace,
		factory:     factory,
		deployments: factory.Apps().V1().Deployments().Lister(),
		configMaps:  factory.Core().V1().ConfigMaps().Lister(),
	}
}

// run handles events until ctx ends.
func (s *swapper) run(ctx context.Context) {
	defer s.factory.Shutdown() // waits for the informers to end
	deployments, configMaps := s.factory.Apps().V1().Deployments().Informer(), s.factory.Core().V1().ConfigMaps().Informer()
	s.factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), deployments.HasSynced, configMaps.HasSynced) {
		return
	}
	deployments.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { s.handle(ctx, obj.(*appsv1.Deployment)) },
		UpdateFunc: func(_, obj any) { s.handle(ctx, obj.(*appsv1.Deployment)) },
	})
	// The ConfigMap may be created, or change, after the Deployments.
	configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { s.handleConfigMap(ctx, obj.(*corev1.ConfigMap)) },
		UpdateFunc: func(_, obj any) { s.handleConfigMap(ctx, obj.(*corev1.ConfigMap)) },
	})
	<-ctx.Done()
}

// handleConfigMap checks every Deployment again, because the image may have changed.
func (s *swapper) handleConfigMap(ctx context.Context, configMap *corev1.ConfigMap) {
	if configMap.Name != configMapName {
		return
	}
	deployments, err := s.deployments.Deployments(s.namespace).List(labels.Everything())
	if err != nil {
		klog.ErrorS(err, "No Deployments in the cache")
	}
	for _, deployment := range deployments {
		s.handle(ctx, deployment)
	}
}

func (s *swapper) handle(ctx context.Context, deployment *appsv1.Deployment) {
	if err := s.swap(ctx, deployment); err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Lost an event: nothing will retry it", "deployment", klog.KObj(deployment))
	}
}

// swap sets deployment's image, if one is configured and differs from the current one. Without a
// configured image, a controller can't refuse the Deployment, because it exists already. It can
// only log that. Refusing it needs an admission webhook (chapter 06).
func (s *swapper) swap(ctx context.Context, deployment *appsv1.Deployment) error {
	image, err := s.image()
	if err != nil {
		klog.InfoS("Leaving alone", "deployment", klog.KObj(deployment), "because", err.Error())
		return nil
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if deployment.Spec.Template.Spec.Containers[0].Image == image {
			return nil // our own update causes an event, too, which ends here
		}
		// The object belongs to the cache and is shared by all its readers, so change a copy.
		changed := deployment.DeepCopy()
		changed.Spec.Template.Spec.Containers[0].Image = image
		_, err := s.client.AppsV1().Deployments(s.namespace).Update(ctx, changed, metav1.UpdateOptions{})
		switch {
		case apierrors.IsConflict(err):
			// Somebody else wrote first. The cache may be behind, so read the Deployment from the
			// server.
			latest, getErr := s.client.AppsV1().Deployments(s.namespace).Get(ctx, deployment.Name, metav1.GetOptions{})
			if getErr != nil {
				return getErr
			}
			deployment = latest
		case err == nil:
			klog.InfoS("Swapped", "deployment", klog.KObj(deployment), "image", image)
		}
		return err
	})
}

// image returns the configured image, or an error that explains why there is none.
func (s *swapper) image() (string, error) {
	configMap, err := s.configMaps.ConfigMaps(s.namespace).Get(configMapName)
	if err != nil {
		return "", fmt.Errorf("no image is configured: %w", err)
	}
	image := configMap.Data[imageKey]
	if image == "" {
		return "", fmt.Errorf("no image is configured: ConfigMap %q has no key %q", configMapName, imageKey)
	}
	return image, nil
}
