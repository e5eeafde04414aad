// What a real server says to what the controller sends, where the fake client lets it through: see
// write_test.go. The reconciler has no cache here: each test calls what it is about.

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
	c.change(`{"defaultReplica":3}`)
	ctx, anotherDeployment, anotherService, gone := t.Context(), deployment.DeepCopy(), c.service(t.Context()), tdset.DeepCopy()
	anotherDeployment.UID, anotherService.UID, gone.Name = "another", "another", "gone"
	status := desiredStatus(tdset, seenAt(noon, tdset, deployment), now)

	for name, test := range map[string]struct {
		err     error
		refused func(error) bool
	}{
		// The server says that a UID can't be changed.
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
			t.Errorf("%s: got the error %v, want that it is refused", name, test.err)
		}
	}
	if service := c.service(t.Context()); service.Annotations["team"] != "blue" {
		t.Errorf("somebody's annotation is lost: %v", service.Annotations)
	}

	// What is gone isn't made again by an update.
	must(t, c.users.Delete(t.Context(), deployment))
	must(t, c.deleteService(t.Context(), service))
	must(t, c.deleteService(t.Context(), service)) // it is gone, as it should be
	for name, err := range map[string]error{
		"Deployment": c.update(t.Context(), desiredDeployment(tdset, 5).WithUID(deployment.UID)),
		"Service":    c.update(t.Context(), desiredService(tdset).WithUID(service.UID)),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("an apply to a %s that is gone: got the error %v, want a conflict", name, err)
		}
	}
	if left := c.deployment(t.Context()).Name + c.service(t.Context()).Name; left != "" {
		t.Error("something was made")
	}
}

func isReplaced(err error) bool {
	return apierrors.IsInvalid(err) && isConflict(err) && !isRefusal(err)
}

// An apply answers with the object, whose resourceVersion is the same if nothing has changed: so it
// is known whether an event will come.
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
		if !wantSame { // as before, for the other case
			must(t, c.update(t.Context(), desiredDeployment(tdset, 5).WithUID(before.UID)))
			before = c.deployment(t.Context())
		}
	}
}

// Somebody takes the port, by an apply of their own. Then it is theirs: no apply of ours changes
// it, with force or without. So the ports are replaced.
func TestAPortThatSomebodyHasChanged(t *testing.T) {
	c := newBareCluster(t)
	tdset := c.createTDSet(example)
	tdset.Spec.Service = aTDSet(withService(80)).Spec.Service
	must(t, c.create(t.Context(), desiredService(tdset)))
	c.patch(&corev1.Service{}, "web", `{"spec":{"ports":[{"name":"app","port":90,"targetPort":8080}]}}`)

	err := c.update(t.Context(), desiredService(tdset).WithUID(c.service(t.Context()).UID))

	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.ports[1].name") {
		t.Errorf("an apply: got the error %v, want that there can't be two ports of one name", err)
	}

	must(t, c.replacePorts(t.Context(), c.service(t.Context()), desiredService(tdset)))

	service := c.service(t.Context())
	if !portsUpToDate(service, desiredService(tdset)) {
		t.Errorf("ports that were replaced: %+v", service.Spec.Ports)
	}
	owners := ownersOf(service, "f:spec", "f:ports", `k:{"port":80,"protocol":"TCP"}`)
	if diff := cmp.Diff([]string{string(fieldOwner)}, owners); diff != "" {
		t.Errorf("owners of the port (-want +got):\n%s", diff)
	}

	// From then on it is ours: another one that is asked for takes its place.
	tdset.Spec.Service.Port = 81
	must(t, c.replacePorts(t.Context(), service, desiredService(tdset)))
	must(t, c.update(t.Context(), desiredService(tdset).WithUID(c.service(t.Context()).UID)))
	if service := c.service(t.Context()); !portsUpToDate(service, desiredService(tdset)) {
		t.Errorf("ports, after the next change: %+v", service.Spec.Ports)
	}
}

// What is ours and no longer asked for goes with an apply: the container's port is one of a list,
// and theirs stays.
func TestAPortOfTheContainer(t *testing.T) {
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

// The list of conditions is a map by type, so each entry has an owner of its own. And a field that
// is no longer sent is removed.
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
		t.Errorf("the spec is owned by %q, and the controller has only written a status", owners)
	}

	must(t, c.updateStatus(t.Context(), tdset, desiredStatus(tdset, observation{invalid: errDiskFull}, metav1.Now())))
	got := c.tdset(t.Context()).Status
	if got.ActiveWindow != "" || got.DesiredReplicas != nil || got.NextTransitionTime != nil || len(got.Conditions) != 5 {
		t.Errorf("fields that are no longer sent are still there: %+v", got)
	}
}

// ownersOf returns the field managers who own a field of object. Its path is written as
// managedFields has it: "f:spec", "f:replicas".
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
