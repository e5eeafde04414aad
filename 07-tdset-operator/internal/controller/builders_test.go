// Builders of TDSets, Deployments, Services and Pods.

package controller

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// noon is the time of the tests, unless they set another one. The TDSet's first window is active
// then, with 5 replicas.
var noon = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// aTDSet returns a TDSet named web, as a user creates it: 5 replicas from 9 to 17, 3 from 17 to 19,
// and 2 at other times.
func aTDSet(changes ...func(*schedulev2.TDSet)) *schedulev2.TDSet {
	tdset := &schedulev2.TDSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulev2.GroupVersion.String(), Kind: "TDSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid of web", Generation: 1},
		Spec: schedulev2.TDSetSpec{
			Container:       schedulev2.Container{Image: "nginx:1.0", Port: 8080},
			Windows:         []schedulev2.Window{aWindow(9, 17, 5), aWindow(17, 19, 3)},
			DefaultReplicas: 2,
			TimeZone:        "UTC",
		},
	}
	for _, change := range changes {
		change(tdset)
	}
	return tdset
}

func with(windows ...schedulev2.Window) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.Windows = windows }
}

// aWindow returns a window of full hours, which is named after them: 9-17.
func aWindow(start, end, replicas int32) schedulev2.Window {
	return schedulev2.Window{
		Name:     fmt.Sprintf("%d-%d", start, end),
		Start:    fmt.Sprintf("%02d:00", start),
		End:      fmt.Sprintf("%02d:00", end),
		Replicas: replicas,
	}
}

func in(zone string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.TimeZone = zone }
}

func withService(port int32) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.Service = &schedulev2.Service{Port: port} }
}

func withInterval(minutes int32) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.IntervalMinutes = minutes }
}

// known adds the finalizer, as if the controller had seen the TDSet before.
func known(tdset *schedulev2.TDSet) { tdset.Finalizers = append(tdset.Finalizers, finalizer) }

// settled adds the finalizer and the status of a TDSet that has had everything it asks for since
// earlier.
func settled(tdset *schedulev2.TDSet) {
	known(tdset)
	tdset.Status = desiredStatus(tdset, seenAt(noon, tdset, deploymentOf(tdset, withPods(5))), earlier)
}

// beingDeleted marks the TDSet as deleted. The fake client sets the time to now.
func beingDeleted(tdset *schedulev2.TDSet) {
	known(tdset)
	tdset.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
}

func withFinalizer(name string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Finalizers = append(tdset.Finalizers, name) }
}

// invalid sets a zone that doesn't exist. An API server with our CRD would refuse it.
var invalid = in("Atlantis/Poseidonis")

// deploymentOf returns the Deployment that tdset asks for at noon, as an API server stores it: with
// a UID and with defaults.
func deploymentOf(tdset *schedulev2.TDSet, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := applied[appsv1.Deployment](desiredDeployment(tdset, 5))
	deployment.UID = types.UID("uid of Deployment " + deployment.Name)
	deployment.Generation = 1
	deployment.Spec.RevisionHistoryLimit = new(int32(10))
	deployment.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	pod := &deployment.Spec.Template.Spec
	pod.RestartPolicy = corev1.RestartPolicyAlways
	pod.Containers[0].TerminationMessagePath = corev1.TerminationMessagePathDefault
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// serviceOf returns the Service that tdset asks for, as an API server stores it.
func serviceOf(tdset *schedulev2.TDSet, changes ...func(*corev1.Service)) *corev1.Service {
	service := applied[corev1.Service](desiredService(tdset))
	service.UID = types.UID("uid of Service " + service.Name)
	service.Spec.Type = corev1.ServiceTypeClusterIP
	service.Spec.ClusterIP = "10.0.0.7"
	for _, change := range changes {
		change(service)
	}
	return service
}

// podOf returns one of tdset's Pods.
func podOf(tdset *schedulev2.TDSet) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: tdset.Namespace, Name: tdset.Name + "-x7", Labels: labelsOf(tdset)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: containerName, Image: tdset.Spec.Container.Image}}},
	}
}

func evicted(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = corev1.PodFailed
	return pod
}

// applied returns the object that an apply creates if there is none.
func applied[T any](desired any) *T {
	object := new(T)
	text, err := json.Marshal(desired)
	if err == nil {
		err = json.Unmarshal(text, object)
	}
	if err != nil {
		panic(err)
	}
	return object
}

// seenAt returns what the controller observes at an instant, if the schedule is valid.
func seenAt(instant time.Time, tdset *schedulev2.TDSet, deployment *appsv1.Deployment) observation {
	state, err := stateAt(tdset, instant)
	if err != nil {
		panic(err)
	}
	return observation{state: &state, deployment: deployment}
}

// withPods sets the status: the Deployment controller has seen the spec, and that many Pods are
// available.
func withPods(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) {
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation,
			Replicas:           replicas,
			UpdatedReplicas:    replicas,
			ReadyReplicas:      replicas,
			AvailableReplicas:  replicas,
		}
	}
}

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = &replicas }
}

func running(image string) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Template.Spec.Containers[0].Image = image }
}

// annotated adds somebody else's annotation.
func annotated[T metav1.Object](object T) { object.SetAnnotations(map[string]string{"team": "blue"}) }

// withSidecars adds somebody else's containers, before and after ours.
func withSidecars(deployment *appsv1.Deployment) {
	pod := &deployment.Spec.Template.Spec
	pod.Containers = []corev1.Container{{Name: "before", Image: "proxy"}, pod.Containers[0], {Name: "after", Image: "log"}}
}

// unowned removes the owner, as if the object was created by hand, or orphaned by --cascade=orphan.
func unowned[T metav1.Object](object T) { object.SetOwnerReferences(nil) }

// ofAnEarlierTDSet sets the owner to an earlier TDSet with the same name.
func ofAnEarlierTDSet[T metav1.Object](object T) {
	owner := slices.Clone(object.GetOwnerReferences())
	owner[0].UID = "uid of a TDSet that is gone"
	object.SetOwnerReferences(owner)
}

// ownedOnly makes the TDSet an owner, but not the controller.
func ownedOnly[T metav1.Object](object T) {
	owner := slices.Clone(object.GetOwnerReferences())
	owner[0].Controller = nil
	object.SetOwnerReferences(owner)
}

// terminating marks the Deployment as being deleted. Its finalizer keeps it for now.
func terminating[T metav1.Object](object T) {
	object.SetDeletionTimestamp(ptr.To(metav1.Unix(0, 0)))
	object.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
}

func listeningOn(port int32) func(*corev1.Service) {
	return func(service *corev1.Service) { service.Spec.Ports[0].Port = port }
}

// selecting sets a selector for other Pods.
func selecting(app string) func(*corev1.Service) {
	return func(service *corev1.Service) { service.Spec.Selector["app"] = app }
}
