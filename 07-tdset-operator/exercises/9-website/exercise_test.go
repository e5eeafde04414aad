//go:build check || solution

// One Website's life on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestAWebsitesLife/a Website gets a ConfigMap, a Deployment and a Service
// says: not written yet

package main

import (
	"testing"

	"example.com/operators/07-tdset-operator/test/operatortest"
)

// owned are the resources of which a Website has one object each.
var owned = []string{"configmaps", "deployments", "services"}

func TestMain(m *testing.M) { operatortest.Main(m, main) }

func TestAWebsitesLife(t *testing.T) {
	stage := operatortest.Start(t, "manifests/crd.yaml")
	stage("a Website gets a ConfigMap, a Deployment and a Service", func(t *operatortest.T) {
		t.Create("websites", "manifests/website.yaml")
		t.Has("configmaps", "hello", `.data.index\.html`, "<h1>Hello</h1>")
		t.Has("deployments", "hello", ".spec.replicas", "1")
		t.Has("deployments", "hello", ".spec.template.spec.volumes[0].configMap.name", "hello")
		t.Has("services", "hello", ".spec.ports[0].port", "80")
		for _, resource := range owned {
			t.IsOwnedBy(resource, "hello", "Website hello")
		}
	})
	stage("the status says when it is ready", func(t *operatortest.T) {
		t.HasCondition("websites", "hello", "Ready", "True")
		t.Has("websites", "hello", ".status.availableReplicas", "1")
		t.Has("websites", "hello", ".status.observedGeneration", "1")
	})
	stage("a change of the replicas reaches the Deployment", func(t *operatortest.T) {
		t.Patch("websites", "hello", `{"spec": {"replicas": 2}}`)
		t.Has("deployments", "hello", ".spec.replicas", "2")
		t.Has("websites", "hello", ".status.availableReplicas", "2")
	})
	stage("new content reaches the ConfigMap, and the Pods roll", func(t *operatortest.T) {
		before := t.Get("deployments", "hello", ".spec.template")
		t.Patch("websites", "hello", `{"spec": {"content": "new"}}`)
		t.Has("configmaps", "hello", `.data.index\.html`, "new")
		t.Changes("deployments", "hello", ".spec.template", before)
		t.Has("websites", "hello", ".status.observedGeneration", "3")
		t.HasCondition("websites", "hello", "Ready", "True")
	})
	stage("changes to its objects are reverted", func(t *operatortest.T) {
		selector := t.Get("services", "hello", ".spec.selector")
		t.Patch("configmaps", "hello", `{"data": {"index.html": "hacked"}}`)
		t.Patch("deployments", "hello", `{"spec": {"replicas": 7}}`)
		t.Patch("services", "hello", `{"spec": {"selector": {"app": "theirs"}}}`)
		t.Has("configmaps", "hello", `.data.index\.html`, "new")
		t.Has("deployments", "hello", ".spec.replicas", "2")
		t.Has("services", "hello", ".spec.selector", selector)
	})
	stage("deleted objects are created again", func(t *operatortest.T) {
		for _, resource := range owned {
			before := t.Get(resource, "hello", ".metadata.uid")
			t.Delete(resource, "hello")
			t.Changes(resource, "hello", ".metadata.uid", before)
		}
	})
	stage("somebody else's ConfigMap stays as it is, and the status says so", func(t *operatortest.T) {
		t.Create("configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}, data: {index.html: theirs}}")
		t.Create("websites", "manifests/website.yaml", "metadata.name=theirs")
		t.HasCondition("websites", "theirs", "Ready", "False")
		t.Has("configmaps", "theirs", `.data.index\.html`, "theirs")
		t.Has("configmaps", "theirs", ".metadata.ownerReferences", "")
	})
	stage("when the name becomes free, the Website gets it", func(t *operatortest.T) {
		// The status above is a write, and its event makes the operator look at the Website again.
		// Once it has done the work for another Website, it has handled that event.
		t.Create("websites", "manifests/website.yaml", "metadata.name=another")
		t.IsOwnedBy("configmaps", "another", "Website another")
		t.Delete("configmaps", "theirs")
		t.IsOwnedBy("configmaps", "theirs", "Website theirs")
		t.HasCondition("websites", "theirs", "Ready", "True")
	})
}
