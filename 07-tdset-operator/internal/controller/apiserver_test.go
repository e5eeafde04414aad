// A real API server's answers to the controller's writes. The fake client doesn't check the UID
// that a write assumes, and doesn't know who owns a field. The reconciler has no manager here.

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Each write assumes what the controller has read. If somebody has changed or replaced the object
// since then, it stays as they have left it. That is no error: an event is on its way.
func TestAStaleCacheOverwritesNothing(t *testing.T) {
	type objects = []client.Object
	for sentence, test := range map[string]struct {
		tdset       *schedulev2.TDSet // the default has a finalizer and a Service
		isDeleted   bool
		given       func(*schedulev2.TDSet) objects
		meanwhile   func(*realCluster) // after the cache was filled
		beforeApply bool               // and even after the API server was asked
	}{
		"the Deployment to update was replaced": {
			given: func(tdset *schedulev2.TDSet) objects {
				return objects{deploymentOf(tdset, scaledTo(1)), serviceOf(tdset)}
			},
			meanwhile: func(c *realCluster) { c.replace(c.deployment(), deploymentOf(aTDSet(), unowned, scaledTo(1))) },
		},
		"the Deployment to update was deleted": {
			given: func(tdset *schedulev2.TDSet) objects {
				return objects{deploymentOf(tdset, scaledTo(1)), serviceOf(tdset)}
			},
			meanwhile: func(c *realCluster) { must(c.t, c.api.Delete(c.t.Context(), c.deployment())) },
		},
		"the Deployment to drain was orphaned": {
			isDeleted: true,
			given:     func(tdset *schedulev2.TDSet) objects { return objects{deploymentOf(tdset)} },
			meanwhile: func(c *realCluster) { c.patch(c.deployment(), `{"metadata":{"ownerReferences":null}}`) },
		},
		"the Service whose port is wrong was replaced": {
			given: func(tdset *schedulev2.TDSet) objects {
				return objects{deploymentOf(tdset), serviceOf(tdset, listeningOn(81))}
			},
			meanwhile: func(c *realCluster) { c.replace(c.service(), serviceOf(aTDSet(withService(82)), unowned)) },
		},
		"the Service whose port is wrong has changed": {
			given: func(tdset *schedulev2.TDSet) objects {
				return objects{deploymentOf(tdset), serviceOf(tdset, listeningOn(81))}
			},
			meanwhile: func(c *realCluster) { c.patch(c.service(), `{"metadata":{"annotations":{"team":"blue"}}}`) },
		},
		"the Service whose selector is wrong was replaced": {
			given: func(tdset *schedulev2.TDSet) objects {
				return objects{deploymentOf(tdset), serviceOf(tdset, selecting("other"))}
			},
			meanwhile: func(c *realCluster) { c.replace(c.service(), serviceOf(aTDSet(withService(82)), unowned)) },
		},
		"the Service to delete was replaced": {
			tdset: aTDSet(known),
			given: func(tdset *schedulev2.TDSet) objects {
				return objects{deploymentOf(tdset), serviceOf(aTDSet(withService(80), func(old *schedulev2.TDSet) { old.UID = tdset.UID }))}
			},
			meanwhile: func(c *realCluster) { c.replace(c.service(), serviceOf(aTDSet(withService(80)), unowned)) },
		},
		"somebody takes the names just before they are used": {
			given: func(*schedulev2.TDSet) objects { return nil },
			meanwhile: func(c *realCluster) {
				c.make(deploymentOf(aTDSet(), unowned, scaledTo(1)), serviceOf(aTDSet(withService(80)), unowned, selecting("other")))
			},
			beforeApply: true,
		},
		"the TDSet that gets the finalizer has changed": {
			tdset:     aTDSet(withService(80)),
			given:     func(tdset *schedulev2.TDSet) objects { return objects{deploymentOf(tdset), serviceOf(tdset)} },
			meanwhile: func(c *realCluster) { c.patch(c.tdset(), `{"metadata":{"finalizers":["example.com/theirs"]}}`) },
		},
		"the TDSet that gets the status has changed": {
			given:     func(tdset *schedulev2.TDSet) objects { return objects{deploymentOf(tdset), serviceOf(tdset)} },
			meanwhile: func(c *realCluster) { c.patch(c.tdset(), `{"spec":{"timeZone":"Asia/Kolkata"}}`) },
		},
		"the TDSet that loses the finalizer has changed": {
			isDeleted: true,
			given:     func(*schedulev2.TDSet) objects { return nil },
			meanwhile: func(c *realCluster) { c.patch(c.tdset(), `{"metadata":{"annotations":{"team":"blue"}}}`) },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newRealCluster(t)
			if test.tdset == nil {
				test.tdset = aTDSet(known, withService(80))
			}
			c.make(test.tdset)
			c.make(test.given(c.tdset())...)
			if test.isDeleted {
				must(t, c.api.Delete(t.Context(), c.tdset()))
			}
			stale := &staleClient{Client: c.api, reads: newFake().WithObjects(c.objects()...).Build()}
			c.Client = stale
			var before []string
			change := func() { test.meanwhile(c); before = c.versions() }
			if test.beforeApply {
				stale.beforeApply = change
			} else {
				change()
			}

			result, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: "web"}})

			if must(t, err); result.RequeueAfter != conflictPause {
				t.Errorf("requeued after %v, want %v", result.RequeueAfter, conflictPause)
			}
			if diff := cmp.Diff(before, c.versions()); diff != "" {
				t.Errorf("resource versions (-before +after):\n%s", diff)
			}
		})
	}
}

// staleClient reads what was there when it was made.
type staleClient struct {
	client.Client
	reads       client.Reader
	beforeApply func() // called once
}

func (c *staleClient) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return c.reads.Get(ctx, key, into, options...)
}

func (c *staleClient) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return c.reads.List(ctx, into, options...)
}

func (c *staleClient) Apply(ctx context.Context, desired runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	if before := c.beforeApply; before != nil {
		c.beforeApply = nil
		before()
	}
	return c.Client.Apply(ctx, desired, options...)
}

// objects returns those of the TDSet's name.
func (c *realCluster) objects() (found []client.Object) {
	for _, object := range []client.Object{c.tdset(), c.deployment(), c.service()} {
		if object.GetName() != "" {
			found = append(found, object)
		}
	}
	return found
}

// versions returns their resourceVersions, which any write would change.
func (c *realCluster) versions() (versions []string) {
	for _, object := range c.objects() {
		versions = append(versions, fmt.Sprintf("%T %s", object, object.GetResourceVersion()))
	}
	return versions
}

// replace is what somebody does who wants an object of that name for themselves.
func (c *realCluster) replace(former, other client.Object) {
	c.t.Helper()
	must(c.t, c.api.Delete(c.t.Context(), former))
	c.make(other)
}

// Somebody changes the Service's port with an apply. Then it is theirs, and no apply of ours
// changes it, not even with force. So the controller replaces the ports.
func TestSomebodyElsesPort(t *testing.T) {
	c := newRealCluster(t)
	c.make(aTDSet(withService(80)))
	tdset := c.tdset()
	must(t, c.create(t.Context(), desiredService(tdset)))
	c.patch(c.service(), `{"spec":{"ports":[{"name":"app","port":90,"targetPort":8080}]}}`)

	err := c.update(t.Context(), desiredService(tdset).WithUID(c.service().UID))

	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.ports[1].name") {
		t.Errorf("an apply: got the error %v, want a refusal of a second port with the same name", err)
	}

	must(t, c.replacePorts(t.Context(), c.service(), desiredService(tdset)))

	if service := c.service(); !portsUpToDate(service, desiredService(tdset)) {
		t.Errorf("got the ports %+v, want only ours", service.Spec.Ports)
	}
	must(t, c.update(t.Context(), desiredService(tdset).WithUID(c.service().UID))) // the port is ours again
}

// An apply removes a list entry of ours that it no longer contains, and keeps the entries of
// others, as with the container's ports.
func TestTheContainersPorts(t *testing.T) {
	c := newRealCluster(t)
	c.make(aTDSet())
	tdset := c.tdset()
	must(t, c.create(t.Context(), desiredDeployment(tdset, 5)))
	theirs := corev1ac.Container().WithName(containerName).WithPorts(corev1ac.ContainerPort().WithContainerPort(9090))
	must(t, c.api.Apply(t.Context(), appsv1ac.Deployment("web", c.namespace).WithSpec(appsv1ac.DeploymentSpec().WithTemplate(
		corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(theirs)))), somebody))
	tdset.Spec.Container.Port = 8081

	must(t, c.update(t.Context(), desiredDeployment(tdset, 5).WithUID(c.deployment().UID)))

	var ports []int32
	for _, port := range ours(c.deployment()).Ports {
		ports = append(ports, port.ContainerPort)
	}
	if slices.Sort(ports); !slices.Equal(ports, []int32{8081, 9090}) {
		t.Errorf("the container's ports are %v, want ours and theirs", ports)
	}
}

// The list of conditions is a map by type, so each entry has its own owner. A field that an apply
// no longer contains is removed.
func TestTheStatusHasOwners(t *testing.T) {
	c := newRealCluster(t)
	c.make(aTDSet())
	tdset := c.tdset()
	blessed := `{"status":{"conditions":[
		{"type":"Blessed","status":"True","reason":"ByThePriest","message":"amen","lastTransitionTime":"2026-01-01T12:00:00Z"}]}}`
	must(t, c.api.Status().Patch(t.Context(), tdset, client.RawPatch(types.MergePatchType, []byte(blessed)), somebody))

	must(t, c.updateStatus(t.Context(), tdset, desiredStatus(tdset, seenAt(noon, tdset, deploymentOf(tdset)), now)))

	tdset = c.tdset()
	for condition, want := range map[string]client.FieldOwner{
		"Blessed": somebody, conditionReady: fieldOwner, conditionAvailable: fieldOwner, conditionProgressing: fieldOwner, conditionDegraded: fieldOwner,
	} {
		if diff := cmp.Diff([]string{string(want)}, ownersOf(tdset, "f:status", "f:conditions", `k:{"type":"`+condition+`"}`)); diff != "" {
			t.Errorf("owners of the condition %s (-want +got):\n%s", condition, diff)
		}
	}

	must(t, c.updateStatus(t.Context(), tdset, desiredStatus(tdset, observation{invalid: errDiskFull}, now)))
	got := c.tdset().Status
	if got.ActiveWindow != "" || got.DesiredReplicas != nil || got.NextTransitionTime != nil || len(got.Conditions) != 5 {
		t.Errorf("the status still has fields that were not sent: %+v", got)
	}
}

// ownersOf returns the field managers that own a field of object. The path is as in managedFields:
// "f:spec", "f:replicas".
func ownersOf(object metav1.Object, path ...string) (owners []string) {
	for _, entry := range object.GetManagedFields() {
		var owned map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned); err != nil {
			panic(err)
		}
		if _, found, _ := unstructured.NestedFieldNoCopy(owned, path...); found {
			owners = append(owners, entry.Manager)
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}
