package lens

// The buttons that change objects.

import (
	"bytes"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"example.com/operators/scripts/internal/chapters"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

// change is a button that writes an object.
type change struct {
	Button
	write func(on target) write
}

// target is the managed object that a button is for, as it is now. One that has yet to be created has
// no spec.
type target struct {
	name, deployment string
	spec             map[string]any
}

func targetOf(now *unstructured.Unstructured) target {
	on := target{name: now.GetName(), deployment: now.GetName()}
	on.spec, _, _ = unstructured.NestedMap(now.Object, "spec")
	if name, found, _ := unstructured.NestedString(on.spec, "deploymentName"); found {
		on.deployment = name
	}
	return on
}

// replicas returns the field with the number of replicas. Its name differs between Foo and the
// versions of TDSet.
func (on target) replicas() (field string, replicas int64) {
	for _, field = range []string{"defaultReplicas", "defaultReplica", "replicas"} {
		if replicas, found, _ := unstructured.NestedInt64(on.spec, field); found {
			return field, replicas
		}
	}
	return field, 0
}

// write creates an object, or patches it, or deletes it if there is neither.
type write struct {
	resource schema.GroupVersionResource
	name     string
	create   *unstructured.Unstructured
	patch    string
	note     string // for the item's label
}

// send sends a write. It also returns the command that does the same.
func (w write) send(ctx context.Context, client dynamic.Interface, namespace string) (
	command string, changed *unstructured.Unstructured, err error) {
	objects := client.Resource(w.resource).Namespace(namespace)
	switch {
	case w.create != nil:
		content, err := w.create.MarshalJSON()
		if err != nil {
			return "", nil, err
		}
		command = fmt.Sprintf("kubectl create --namespace %s --filename - <<< '%s'", namespace, bytes.TrimSpace(content))
		changed, err = objects.Create(ctx, w.create, metav1.CreateOptions{})
		return command, changed, err
	case w.patch != "":
		command = fmt.Sprintf("kubectl patch --namespace %s %s %s --type merge --patch '%s'",
			namespace, w.resource.Resource, w.name, w.patch)
		changed, err = objects.Patch(ctx, w.name, types.MergePatchType, []byte(w.patch), metav1.PatchOptions{})
		return command, changed, err
	default:
		command = fmt.Sprintf("kubectl delete --namespace %s %s %s", namespace, w.resource.Resource, w.name)
		background := metav1.DeletePropagationBackground
		return command, nil, objects.Delete(ctx, w.name, metav1.DeleteOptions{PropagationPolicy: &background})
	}
}

// changes are the buttons for the sample's kind.
func (s *Session) changes() []change {
	kind, bad := s.sample.GetKind(), `{"spec":{"deploymentName":"Not_A_Name"}}`
	if kind == chapters.TDSet {
		bad = `{"spec":{"timeZone":"Mars/Olympus_Mons"}}`
	}
	button := func(action, label, help string) Button {
		return Button{Action: action, Label: label, Help: help, Group: "objects", Object: action != "create"}
	}
	all := []change{{
		button("create", "Create", "Create another "+kind+"."),
		func(on target) write { return s.create(on.name, on.name) },
	}, {
		button("scale", "Scale", "Ask for one more replica. After three, it starts again at one."),
		func(on target) write {
			field, replicas := on.replicas()
			replicas = replicas%3 + 1
			patch := fmt.Sprintf(`{"spec":{%q:%d}}`, field, replicas)
			return write{resource: s.resource, name: on.name, patch: patch, note: fmt.Sprintf("to %d", replicas)}
		},
	}, {
		button("interfere", "Interfere", "Change the Deployment's replicas, a field that belongs to the operator."),
		func(on target) write {
			return write{resource: deployments, name: on.deployment, patch: `{"spec":{"replicas":9}}`}
		},
	}, {
		button("label", "Label", "Add a label to the Deployment. The operator doesn't manage this label."),
		func(on target) write {
			patch := fmt.Sprintf(`{"metadata":{"labels":{"seen":"%d"}}}`, time.Now().Unix())
			return write{resource: deployments, name: on.deployment, patch: patch}
		},
	}, {
		button("remove", "Delete the Deployment", "Delete the Deployment that the operator created."),
		func(on target) write { return write{resource: deployments, name: on.deployment} },
	}, {
		button("delete", "Delete", "Delete the "+kind+"."),
		func(on target) write { return write{resource: s.resource, name: on.name} },
	}, {
		button("bad", "Bad input", "Set a field to an invalid value."),
		func(on target) write { return write{resource: s.resource, name: on.name, patch: bad} },
	}}
	if kind == chapters.Foo {
		all = append(all, change{
			button("double", "Duplicate", "Create another Foo that asks for the same Deployment."),
			func(on target) write { return s.create(on.name+"-double", on.deployment) },
		})
	}
	return all
}

// create returns a write that creates the sample with another name, and with another Deployment if it
// can name one.
func (s *Session) create(name, deployment string) write {
	sample := s.sample.DeepCopy()
	sample.SetName(name)
	sample.SetNamespace("")
	if _, found, _ := unstructured.NestedString(sample.Object, "spec", "deploymentName"); found {
		_ = unstructured.SetNestedField(sample.Object, deployment, "spec", "deploymentName") // spec is a map
	}
	return write{resource: s.resource, name: name, create: sample}
}
