// The work on one Foo: create its Deployment, or scale it.

package main

import (
	"context"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/01-raw-watch/wire"
)

// operator does the work. It doesn't retry: after a failure, a Foo waits for its next change.
type operator struct{ client *wire.Client }

// handleFoo handles a Foo that was listed, added or changed.
func (o *operator) handleFoo(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) {
	klog.V(4).InfoS("Event received", "kind", "Foo", "object", klog.KObj(foo), "resourceVersion", foo.ResourceVersion)
	logger := klog.FromContext(ctx).WithValues("foo", klog.KObj(foo))
	logger.V(4).Info("Work started")
	err := o.syncDeployment(klog.NewContext(ctx, logger), foo)
	logger.V(4).Info("Work finished", "err", err)
	if err != nil && ctx.Err() == nil {
		logger.Error(err, "Lost an event: nothing will retry it")
	}
}

// syncDeployment creates or scales the Deployment that foo names. It leaves alone a Deployment that
// isn't foo's.
func (o *operator) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	if !foo.DeletionTimestamp.IsZero() {
		return nil // the garbage collector deletes the Deployment, too
	}
	logger := klog.FromContext(ctx)
	collection := "/apis/apps/v1/namespaces/" + foo.Namespace + "/deployments"
	path := collection + "/" + foo.Spec.DeploymentName
	observed := &appsv1.Deployment{}
	err := o.client.Do(ctx, http.MethodGet, path, nil, nil, observed)
	switch {
	case apierrors.IsNotFound(err):
		logger.Info("Creating", "deployment", foo.Spec.DeploymentName)
		if err := o.client.Do(ctx, http.MethodPost, collection, nil, newDeployment(foo), nil); err != nil {
			return fmt.Errorf("create Deployment %s: %w", foo.Spec.DeploymentName, err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("get Deployment %s: %w", foo.Spec.DeploymentName, err)
	case !metav1.IsControlledBy(observed, foo) || !observed.DeletionTimestamp.IsZero():
		logger.V(2).Info("Leaving alone", "deployment", observed.Name)
		return nil
	case ptr.Deref(observed.Spec.Replicas, 1) == ptr.Deref(foo.Spec.Replicas, 1):
		return nil
	}
	logger.Info("Scaling", "deployment", observed.Name)
	observed.Spec.Replicas = foo.Spec.Replicas
	if err := o.client.Do(ctx, http.MethodPut, path, nil, observed, nil); err != nil {
		return fmt.Errorf("scale Deployment %s: %w", observed.Name, err)
	}
	return nil
}

// newDeployment returns the Deployment that foo asks for.
func newDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            foo.Spec.DeploymentName,
			Namespace:       foo.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: foo.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
}
