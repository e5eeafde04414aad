// A real API server's answers to the controller's writes, which the fake client doesn't check: see
// write_test.go. The reconciler has no cache here, and each test calls one function of it.

package controller

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func TestStaleWritesAreRefused(t *testing.T) {
	c := newBareCluster(t)
	tdset := c.createTDSet(example)
	tdset.Spec.Service = aTDSet(withService(80)).Spec.Service
	must(t, c.create(t.Context(), desiredDeployment(tdset, 5)))
	must(t, c.create(t.Context(), desiredService(tdset)))
	deployment, service := c.deployment(t.Context()), c.service(t.Context())
	c.patch(&corev1.Service{}, "web", `{"metadata":{"annotations":{"team":"blue"}}}`)
	c.change(`{"defaultReplicas":3}`)
	ctx, anotherDeployment, anotherService, gone := t.Context(), deployment.DeepCopy(), c.service(t.Context()), tdset.DeepCopy()
	anotherDeployment.UID, anotherService.UID, gone.Name = "another", "another", "gone"
	status := desiredStatus(tdset, seenAt(noon, tdset, deployment), now)

	for name, test := range map[string]struct {
		err     error
		refused func(error) bool
	}{
		// The API server answers that a UID can't be changed.
		"an apply to a Deployment of another UID":  {c.update(ctx, desiredDeployment(tdset, 5).WithUID(anotherDeployment.UID)), isReplaced},
		"an apply to a Service of another UID":     {c.update(ctx, desiredService(tdset).WithUID(anotherService.UID)), isReplaced},
		"ports for a Service of another UID":       {c.replacePorts(ctx, anotherService, desiredService(tdset)), isReplaced},
		"the deletion of a Service of another UID": {c.deleteService(ctx, anotherService), apierrors.IsConflict},
		"ports for a Service that has changed":     {c.replacePorts(ctx, service.DeepCopy(), desiredService(tdset)), apierrors.IsConflict},
		"a status of a TDSet that has changed":     {c.updateStatus(ctx, tdset, status), apierrors.IsConflict},
		"a status of a TDSet that is gone":         {c.updateStatus(ctx, gone, status), apierrors.IsNotFound},
		"a finalizer for a TDSet that has changed": {c.patchFinalizers(ctx, tdset.DeepCopy(), controllerutil.AddFinalizer), apierrors.IsConflict},
	} {
		if !test.refused(test.err) {
			t.Errorf("%s: got the error %v, want a refusal", name, test.err)
		}
	}
	if service := c.service(t.Context()); service.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost, got %v", service.Annotations)
	}

	// An update doesn't create an object that is gone.
	must(t, c.users.Delete(t.Context(), deployment))
	must(t, c.deleteService(t.Context(), service))
	must(t, c.deleteService(t.Context(), service)) // nothing left to do
	for name, err := range map[string]error{
		"Deployment": c.update(t.Context(), desiredDeployment(tdset, 5).WithUID(deployment.UID)),
		"Service":    c.update(t.Context(), desiredService(tdset).WithUID(service.UID)),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("an apply to a deleted %s: got the error %v, want a conflict", name, err)
		}
	}
	if left := c.deployment(t.Context()).Name + c.service(t.Context()).Name; left != "" {
		t.Error("an object was created, want none")
	}
}

func isReplaced(err error) bool {
	return apierrors.IsInvalid(err) && isConflict(err) && !isRefusal(err)
}

// The answer to an apply has the object's resourceVersion, which is the same if nothing has
// changed. So the controller knows whether there will be an event.
func TestAnApplyAnswersWithTheObject(t *testing.T) {
	c := newBareCluster(t)
	tdset := c.createTDSet(example)
	must(t, c.create(t.Context(), desiredDeployment(tdset, 5)))
	before := c.deployment(t.Context())
	for replicas, wantSame := range map[int32]bool{5: true, 3: false} {
		desired := desiredDeployment(tdset, replicas)
		must(t, c.update(t.Context(), desired.WithUID(before.UID)))
		if same := *desired.ResourceVersion == before.ResourceVersion; same != wantSame {
			t.Errorf("with %d replicas, the resourceVersion is the same: %v, want %v", replicas, same, wantSame)
		}
		if !wantSame { // reset it for the other case
			must(t, c.update(t.Context(), desiredDeployment(tdset, 5).WithUID(before.UID)))
			before = c.deployment(t.Context())
		}
	}
}

// Somebody changes the Service's port with an apply. Then it is theirs, and no apply of ours
// changes it, not even with force. So the controller replaces the ports.
func TestSomebodyElsesPort(t *testing.T) {
	c := newBareCluster(t)
	tdset := c.createTDSet(example)
	tdset.Spec.Service = aTDSet(withService(80)).Spec.Service
	must(t, c.create(t.Context(), desiredService(tdset)))
	c.patch(&corev1.Service{}, "web", `{"spec":{"ports":[{"name":"app","port":90,"targetPort":8080}]}}`)

	err := c.update(t.Context(), desiredService(tdset).WithUID(c.service(t.Context()).UID))

	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.ports[1].name") {
		t.Errorf("an apply: got the error %v, want a refusal of a second port with the same name", err)
	}

	must(t, c.replacePorts(t.Context(), c.service(t.Context()), desiredService(tdset)))

	service := c.service(t.Context())
	if !portsUpToDate(service, desiredService(tdset)) {
		t.Errorf("got the ports %+v, want only ours", service.Spec.Ports)
	}
	owners := ownersOf(service, "f:spec", "f:ports", `k:{"port":80,"protocol":"TCP"}`)
	if diff := cmp.Diff([]string{string(fieldOwner)}, owners); diff != "" {
		t.Errorf("owners of the port (-want +got):\n%s", diff)
	}

	// From then on it is ours, so an apply can change it.
	tdset.Spec.Service.Port = 81
	must(t, c.replacePorts(t.Context(), service, desiredService(tdset)))
	must(t, c.update(t.Context(), desiredService(tdset).WithUID(c.service(t.Context()).UID)))
	if service := c.service(t.Context()); !portsUpToDate(service, desiredService(tdset)) {
		t.Errorf("after the next change, got the ports %+v, want the new one", service.Spec.Ports)
	}
}

// An apply removes a list entry of ours that it no longer contains, and keeps the entries of
// others, as with the container's ports.
func TestTheContainersPorts(t *testing.T) {
	c := newBareCluster(t)
	tdset := c.createTDSet(example)
	must(t, c.create(t.Context(), desiredDeployment(tdset, 5)))
	theirs := corev1ac.Container().WithName(containerName).WithPorts(corev1ac.ContainerPort().WithContainerPort(9090))
	must(t, c.users.Apply(t.Context(), appsv1ac.Deployment("web", c.namespace).WithSpec(appsv1ac.DeploymentSpec().WithTemplate(
		corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(theirs)))), somebody))
	tdset.Spec.Container.Port = 8081

	must(t, c.update(t.Context(), desiredDeployment(tdset, 5).WithUID(c.deployment(t.Context()).UID)))

	var ports []int32
	for _, port := range ours(c.deployment(t.Context())).Ports {
		ports = append(ports, port.ContainerPort)
	}
	if slices.Sort(ports); !slices.Equal(ports, []int32{8081, 9090}) {
		t.Errorf("the container's ports are %v, want ours and theirs", ports)
	}
}

// The list of conditions is a map by type, so each entry has its own owner. A field that an apply
// no longer contains is removed.
func TestTheStatusHasOwners(t *testing.T) {
	c := newBareCluster(t)
	tdset := c.createTDSet(example)
	blessed := `{"status":{"conditions":[
		{"type":"Blessed","status":"True","reason":"ByThePriest","message":"amen","lastTransitionTime":"2026-01-01T12:00:00Z"}]}}`
	must(t, c.users.Status().Patch(t.Context(), tdset, client.RawPatch(types.MergePatchType, []byte(blessed)), somebody))

	must(t, c.updateStatus(t.Context(), tdset, desiredStatus(tdset, seenAt(noon, tdset, deploymentOf(tdset)), now)))

	tdset = c.tdset(t.Context())
	for condition, want := range map[string]client.FieldOwner{
		"Blessed": somebody, conditionReady: fieldOwner, conditionAvailable: fieldOwner, conditionProgressing: fieldOwner, conditionDegraded: fieldOwner,
	} {
		if diff := cmp.Diff([]string{string(want)}, ownersOf(tdset, "f:status", "f:conditions", `k:{"type":"`+condition+`"}`)); diff != "" {
			t.Errorf("owners of the condition %s (-want +got):\n%s", condition, diff)
		}
	}
	if owners := ownersOf(tdset, "f:spec"); slices.Contains(owners, string(fieldOwner)) {
		t.Errorf("the spec is owned by %q, but the controller has only written a status", owners)
	}

	must(t, c.updateStatus(t.Context(), tdset, desiredStatus(tdset, observation{invalid: errDiskFull}, metav1.Now())))
	got := c.tdset(t.Context()).Status
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
