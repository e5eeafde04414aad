//go:build check || solution

// The lives of some Previews on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestPreviews/a Preview gets a Deployment with one Pod
// says: not written yet

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/07-tdset-operator/test/operatortest"
)

func TestMain(m *testing.M) { operatortest.Main(m, main) }

func TestPreviews(t *testing.T) {
	stage := operatortest.Start(t, "manifests/crd.yaml")
	stage("a Preview gets a Deployment with one Pod", func(t *operatortest.T) {
		t.Create("previews", "manifests/preview.yaml")
		t.Has("deployments", "pr-42", ".spec.replicas", "1")
		t.Has("deployments", "pr-42", ".spec.template.spec.containers[0].image", "nginx:1.28")
		t.IsOwnedBy("deployments", "pr-42", "Preview pr-42")
	})
	stage("the status says when it is ready, and when it expires", func(t *operatortest.T) {
		t.HasCondition("previews", "pr-42", "Ready", "True")
		t.HasCondition("previews", "pr-42", "Expired", "False")
		t.Has("previews", "pr-42", ".status.observedGeneration", "1")
		expires := created(t).Add(time.Hour).UTC().Format(time.RFC3339)
		t.Has("previews", "pr-42", ".status.expiresAt", expires)
	})
	stage("another image reaches the Deployment", func(t *operatortest.T) {
		t.Patch("previews", "pr-42", `{"spec": {"image": "nginx:1.29"}}`)
		t.Has("deployments", "pr-42", ".spec.template.spec.containers[0].image", "nginx:1.29")
		t.Has("previews", "pr-42", ".status.observedGeneration", "2")
	})
	stage("a change to the Deployment is reverted, and a deleted one is created again", func(t *operatortest.T) {
		t.Patch("deployments", "pr-42", `{"spec": {"replicas": 7}}`)
		t.Has("deployments", "pr-42", ".spec.replicas", "1")
		before := t.Get("deployments", "pr-42", ".metadata.uid")
		t.Delete("deployments", "pr-42")
		t.Changes("deployments", "pr-42", ".metadata.uid", before)
	})
	stage("time alone ends a Preview, without any event", func(t *operatortest.T) {
		t.Create("previews", "manifests/preview.yaml", "metadata.name=short", "spec.ttlSeconds=3")
		t.HasCondition("previews", "short", "Ready", "True")
		t.Has("deployments", "short", ".spec.replicas", "0")
		t.HasCondition("previews", "short", "Expired", "True")
		t.Has("deployments", "pr-42", ".spec.replicas", "1")
	})
	stage("an expired Preview is Ready when its Pods are gone", func(t *operatortest.T) {
		t.Has("deployments", "short", ".status.replicas", "")
		// A new spec, for which it has expired too, so that the status is about what is there
		// now.
		t.Patch("previews", "short", `{"spec": {"ttlSeconds": 2}}`)
		t.Has("previews", "short", ".status.observedGeneration", "2")
		t.HasCondition("previews", "short", "Ready", "True Expired")
	})
	stage("a longer life brings it back", func(t *operatortest.T) {
		t.Patch("previews", "short", `{"spec": {"ttlSeconds": 3600}}`)
		t.Has("deployments", "short", ".spec.replicas", "1")
		t.HasCondition("previews", "short", "Expired", "False")
		t.HasCondition("previews", "short", "Ready", "True")
	})
	stage("a shorter life ends it at once", func(t *operatortest.T) {
		t.Patch("previews", "short", `{"spec": {"ttlSeconds": 1}}`)
		t.Has("deployments", "short", ".spec.replicas", "0")
		t.HasCondition("previews", "short", "Expired", "True")
		t.HasCondition("previews", "short", "Ready", "True")
	})
	stage("somebody else's Deployment stays as it is, and the status says so", func(t *operatortest.T) {
		t.Create("deployments", "testdata/deployment.yaml")
		t.Create("previews", "manifests/preview.yaml", "metadata.name=theirs", "spec.ttlSeconds=3600")
		t.HasCondition("previews", "theirs", "Ready", "False")
		t.Has("deployments", "theirs", ".spec.replicas", "3")
		t.Has("deployments", "theirs", ".metadata.ownerReferences", "")
	})
	stage("when the name becomes free, the Preview gets it", func(t *operatortest.T) {
		t.Delete("deployments", "theirs")
		t.IsOwnedBy("deployments", "theirs", "Preview theirs")
		t.HasCondition("previews", "theirs", "Ready", "True")
	})
	stage("a shorter life that isn't over yet counts from the creation, too", func(t *operatortest.T) {
		created := created(t)
		age := func() time.Duration { return time.Since(created) }
		// An operator that counts from anything later is late by at least this much.
		const late = 8 * time.Second
		t.Eventually(fmt.Sprintf("the Preview is %v old", late), func() error {
			if age() < late {
				return fmt.Errorf("it is %v old", age())
			}
			return nil
		})
		ttl := int(age().Seconds()) + 3
		t.Patch("previews", "pr-42", fmt.Sprintf(`{"spec": {"ttlSeconds": %d}}`, ttl))
		t.Has("deployments", "pr-42", ".spec.replicas", "0")
		if took := scaledAt(t).Sub(created); took >= time.Duration(ttl)*time.Second+late {
			t.Errorf("its Deployment was scaled to 0 when it was %v old, want %ds: "+
				"does each call compute the time that is left from the creation?", took, ttl)
		}
	})
}

// created returns when the Preview was created.
func created(t *operatortest.T) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, t.Get("previews", "pr-42", ".metadata.creationTimestamp"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// scaledAt returns when the API server stored the replicas that its Deployment asks for.
func scaledAt(t *operatortest.T) time.Time {
	t.Helper()
	deployment, err := t.Resource("deployments").Get(t.Context(), "pr-42", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var at time.Time
	for _, entry := range deployment.GetManagedFields() {
		isSpec := entry.Subresource != "status" && strings.Contains(string(entry.FieldsV1.GetRawBytes()), `"f:replicas"`)
		if isSpec && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}
