//go:build check || solution

// One Website's life on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestAWebsitesLife/a Website gets a ConfigMap, a Deployment and a Service
// says: not written yet

package main

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var websites = groupVersion.WithResource("websites")

// owned are the resources of which a Website has one object each.
var owned = []schema.GroupVersionResource{configMaps, deployments, services}

func TestAWebsitesLife(t *testing.T) {
	runStages(t, "manifests/crd.yaml", []stage{
		{"a Website gets a ConfigMap, a Deployment and a Service", func(t *testing.T, w *world) {
			w.create(t, websites, "manifests/website.yaml", nil)
			w.has(t, configMaps, "hello", "<h1>Hello</h1>", "data", "index.html")
			w.has(t, deployments, "hello", 1, "spec", "replicas")
			w.has(t, deployments, "hello", "hello", "spec", "template", "spec", "volumes", "0", "configMap", "name")
			w.has(t, services, "hello", 80, "spec", "ports", "0", "port")
			for _, resource := range owned {
				w.isOwnedBy(t, resource, "hello", "Website", "hello")
			}
		}},
		{"the status says when it is ready", func(t *testing.T, w *world) {
			w.hasCondition(t, websites, "hello", "Ready", "True")
			w.has(t, websites, "hello", 1, "status", "availableReplicas")
			w.has(t, websites, "hello", 1, "status", "observedGeneration")
		}},
		{"a change of the replicas reaches the Deployment", func(t *testing.T, w *world) {
			w.patch(t, websites, "hello", `{"spec": {"replicas": 2}}`)
			w.has(t, deployments, "hello", 2, "spec", "replicas")
			w.has(t, websites, "hello", 2, "status", "availableReplicas")
		}},
		{"new content reaches the ConfigMap, and the Pods roll", func(t *testing.T, w *world) {
			before := valueOf(t, w, deployments, "spec", "template")
			w.patch(t, websites, "hello", `{"spec": {"content": "new"}}`)
			w.has(t, configMaps, "hello", "new", "data", "index.html")
			eventually(t, w, "the Pod template of the Deployment changes", func() error {
				if toJSON(valueOf(t, w, deployments, "spec", "template")) == toJSON(before) {
					return errors.New("it is the same, so the Pods stay")
				}
				return nil
			})
			w.has(t, websites, "hello", 3, "status", "observedGeneration")
			w.hasCondition(t, websites, "hello", "Ready", "True")
		}},
		{"changes to its objects are reverted", func(t *testing.T, w *world) {
			selector := valueOf(t, w, services, "spec", "selector")
			w.patch(t, configMaps, "hello", `{"data": {"index.html": "hacked"}}`)
			w.patch(t, deployments, "hello", `{"spec": {"replicas": 7}}`)
			w.patch(t, services, "hello", `{"spec": {"selector": {"app": "theirs"}}}`)
			w.has(t, configMaps, "hello", "new", "data", "index.html")
			w.has(t, deployments, "hello", 2, "spec", "replicas")
			w.has(t, services, "hello", selector, "spec", "selector")
		}},
		{"deleted objects are created again", func(t *testing.T, w *world) {
			for _, resource := range owned {
				before, err := w.get(t, resource, "hello")
				if err != nil {
					t.Fatal(err)
				}
				w.delete(t, resource, "hello")
				w.isReplaced(t, resource, "hello", before.GetUID())
			}
		}},
		{"somebody else's ConfigMap stays as it is, and the status says so", func(t *testing.T, w *world) {
			w.createConfigMap(t, "theirs", map[string]any{"index.html": "theirs"})
			w.create(t, websites, "manifests/website.yaml", func(object map[string]any) {
				object["metadata"].(map[string]any)["name"] = "theirs"
			})
			w.hasCondition(t, websites, "theirs", "Ready", "False")
			w.has(t, configMaps, "theirs", "theirs", "data", "index.html")
			w.has(t, configMaps, "theirs", nil, "metadata", "ownerReferences")
		}},
		{"when the name becomes free, the Website gets it", func(t *testing.T, w *world) {
			// The status above is a write, and its event makes the operator look at the Website again.
			// Once it has done the work for another Website, it has handled that event.
			w.create(t, websites, "manifests/website.yaml", func(object map[string]any) {
				object["metadata"].(map[string]any)["name"] = "another"
			})
			w.isOwnedBy(t, configMaps, "another", "Website", "another")
			w.delete(t, configMaps, "theirs")
			w.isOwnedBy(t, configMaps, "theirs", "Website", "theirs")
			w.hasCondition(t, websites, "theirs", "Ready", "True")
		}},
	})
}

// valueOf returns a field of an object of the Website.
func valueOf(t *testing.T, w *world, resource schema.GroupVersionResource, path ...string) any {
	t.Helper()
	object, err := w.get(t, resource, "hello")
	if err != nil {
		t.Fatal(err)
	}
	return field(object.Object, path)
}

// createConfigMap creates a ConfigMap that belongs to somebody else.
func (w *world) createConfigMap(t *testing.T, name string, data map[string]any) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data,
	}}
	if _, err := w.client.Resource(configMaps).Namespace(w.namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
