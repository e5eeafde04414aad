// Owner references and scopes, on a real garbage collector. A Foo and its Deployment are in one
// namespace. Some operators have a cluster-scoped owner, or create cluster-scoped objects.

package main

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestIntegrationOwnersAndScopes(t *testing.T) {
	t.Run("right: a cluster-scoped owner", func(t *testing.T) {
		here, there := newRealCluster(t), newRealCluster(t)
		owner := here.createPriorityClass(nil)
		mine := ownedBy("scheduling.k8s.io/v1", "PriorityClass", owner)
		here.createConfigMap("owned", mine)
		there.createConfigMap("owned", mine)

		must(t, here.kube.SchedulingV1().PriorityClasses().Delete(t.Context(), owner.Name, metav1.DeleteOptions{}))

		here.eventually("the ConfigMap here is deleted", func(context.Context) bool { return !here.hasConfigMap("owned") })
		here.eventually("the ConfigMap there is deleted", func(context.Context) bool { return !there.hasConfigMap("owned") })
		t.Log("the owner is deleted, and so are its ConfigMaps in two namespaces")
	})

	t.Run("wrong: a namespaced owner of a cluster-scoped object", func(t *testing.T) {
		c := newRealCluster(t)
		owner := c.createConfigMap("owner", nil)
		mine := ownedBy("v1", "ConfigMap", owner)
		dependent := c.createPriorityClass(mine)
		c.createConfigMap("owned", mine)
		event := c.ownerEvent(dependent.UID)

		must(t, c.kube.CoreV1().ConfigMaps(c.namespace).Delete(t.Context(), "owner", metav1.DeleteOptions{}))

		// The garbage collector looks at all dependents of the deleted owner.
		c.eventually("the owned ConfigMap is deleted", func(context.Context) bool { return !c.hasConfigMap("owned") })
		_, err := c.kube.SchedulingV1().PriorityClasses().Get(t.Context(), dependent.Name, metav1.GetOptions{})
		must(t, err)
		t.Logf("the owner is deleted, and the PriorityClass isn't. Event: %s", event)
		if !strings.HasSuffix(event, `does not exist in namespace ""`) {
			t.Error("want an Event that says that the owner isn't in the empty namespace")
		}
	})

	t.Run("wrong: an owner in another namespace", func(t *testing.T) {
		here, there := newRealCluster(t), newRealCluster(t)
		owner := here.createConfigMap("owner", nil)
		dependent := there.createConfigMap("owned", ownedBy("v1", "ConfigMap", owner))

		there.eventually("the ConfigMap in the other namespace is deleted", func(context.Context) bool { return !there.hasConfigMap("owned") })
		if !here.hasConfigMap("owner") {
			t.Fatal("the owner is deleted, too")
		}
		t.Logf("the owner exists, but the ConfigMap in the other namespace is deleted. Event: %s", here.ownerEvent(dependent.UID))
	})
}

func ownedBy(apiVersion, kind string, owner metav1.Object) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: owner.GetName(), UID: owner.GetUID()}}
}

// createPriorityClass creates an object that is in no namespace, so the test has to delete it.
func (c *realCluster) createPriorityClass(owners []metav1.OwnerReference) *schedulingv1.PriorityClass {
	c.t.Helper()
	classes := c.kube.SchedulingV1().PriorityClasses()
	class, err := classes.Create(c.t.Context(), &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "workqueue-", OwnerReferences: owners},
		Value:      1,
	}, metav1.CreateOptions{})
	must(c.t, err)
	c.t.Cleanup(func() {
		if err := classes.Delete(context.Background(), class.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			c.t.Error(err)
		}
	})
	return class
}

func (c *realCluster) createConfigMap(name string, owners []metav1.OwnerReference) *corev1.ConfigMap {
	c.t.Helper()
	configMap, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(c.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners},
	}, metav1.CreateOptions{})
	must(c.t, err)
	return configMap
}

func (c *realCluster) hasConfigMap(name string) bool {
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	return !apierrors.IsNotFound(err)
}

// ownerEvent waits for the garbage collector's warning about an object's owner.
func (c *realCluster) ownerEvent(uid types.UID) (message string) {
	c.t.Helper()
	c.eventually("there is an Event OwnerRefInvalidNamespace", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events("").List(ctx, metav1.ListOptions{
			FieldSelector: "reason=OwnerRefInvalidNamespace,involvedObject.uid=" + string(uid),
		})
		if err != nil || len(events.Items) == 0 {
			return false
		}
		message = events.Items[0].Reason + ": " + events.Items[0].Message
		return true
	})
	return message
}
