package lens

// What the buttons do to objects, and kubectl commands that do the same.

import (
	"bytes"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

// target is the managed object that a button is for, as it is now.
type target struct {
	name, deployment string
	replicasField    string // which differs between Foo and the versions of TDSet
	replicas         int64
}

func targetOf(now *unstructured.Unstructured) target {
	on := target{name: now.GetName(), deployment: now.GetName()}
	if name, found, _ := unstructured.NestedString(now.Object, "spec", "deploymentName"); found {
		on.deployment = name
	}
	for _, field := range []string{"replicas", "defaultReplica", "defaultReplicas"} {
		replicas, found, _ := unstructured.NestedInt64(now.Object, "spec", field)
		if found || on.replicasField == "" {
			on.replicasField, on.replicas = field, replicas
		}
	}
	return on
}

// write creates an object, or patches it, or deletes it if there is neither.
type write struct {
	resource schema.GroupVersionResource
	name     string
	create   *unstructured.Unstructured
	patch    string
}

// send sends a write.
func (s *Session) send(ctx context.Context, namespace, label string, w write) (done, error) {
	objects := s.dynamic.Resource(w.resource).Namespace(namespace)
	did := done{label: label, wrote: object{w.resource.Resource, namespace, w.name}}
	var changed *unstructured.Unstructured
	var err error
	switch {
	case w.create != nil:
		content, _ := w.create.MarshalJSON() // it was YAML
		did.command = fmt.Sprintf("kubectl create --namespace %s --filename - <<< '%s'", namespace, bytes.TrimSpace(content))
		changed, err = objects.Create(ctx, w.create, metav1.CreateOptions{})
	case w.patch != "":
		did.command = fmt.Sprintf("kubectl patch --namespace %s %s %s --type merge --patch '%s'",
			namespace, w.resource.Resource, w.name, w.patch)
		changed, err = objects.Patch(ctx, w.name, types.MergePatchType, []byte(w.patch), metav1.PatchOptions{})
	default:
		did.command = fmt.Sprintf("kubectl delete --namespace %s %s %s", namespace, w.resource.Resource, w.name)
		background := metav1.DeletePropagationBackground
		err = objects.Delete(ctx, w.name, metav1.DeleteOptions{PropagationPolicy: &background})
	}
	if err == nil && changed != nil {
		did.resourceVersion = changed.GetResourceVersion()
	}
	return did, err
}

// sampleFor returns the sample with another name, and with another Deployment if it can name one.
func (s *Session) sampleFor(name, deployment string) *unstructured.Unstructured {
	sample := s.sample.DeepCopy()
	sample.SetName(name)
	sample.SetNamespace("")
	if _, found, _ := unstructured.NestedString(sample.Object, "spec", "deploymentName"); found {
		_ = unstructured.SetNestedField(sample.Object, deployment, "spec", "deploymentName") // spec is a map
	}
	return sample
}
