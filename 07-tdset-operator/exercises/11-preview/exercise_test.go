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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var previews = groupVersion.WithResource("previews")

func TestPreviews(t *testing.T) {
	runStages(t, "manifests/crd.yaml", []stage{
		{"a Preview gets a Deployment with one Pod", func(t *testing.T, w *world) {
			w.create(t, previews, "manifests/preview.yaml", nil)
			w.has(t, deployments, "pr-42", 1, "spec", "replicas")
			w.has(t, deployments, "pr-42", "nginx:1.28", "spec", "template", "spec", "containers", "0", "image")
			w.isOwnedBy(t, deployments, "pr-42", "Preview", "pr-42")
		}},
		{"the status says when it is ready, and when it expires", func(t *testing.T, w *world) {
			w.hasCondition(t, previews, "pr-42", "Ready", "True")
			w.hasCondition(t, previews, "pr-42", "Expired", "False")
			w.has(t, previews, "pr-42", 1, "status", "observedGeneration")
			preview, err := w.get(t, previews, "pr-42")
			if err != nil {
				t.Fatal(err)
			}
			expires := preview.GetCreationTimestamp().Add(time.Hour).UTC().Format(time.RFC3339)
			w.has(t, previews, "pr-42", expires, "status", "expiresAt")
		}},
		{"another image reaches the Deployment", func(t *testing.T, w *world) {
			w.patch(t, previews, "pr-42", `{"spec": {"image": "nginx:1.29"}}`)
			w.has(t, deployments, "pr-42", "nginx:1.29", "spec", "template", "spec", "containers", "0", "image")
			w.has(t, previews, "pr-42", 2, "status", "observedGeneration")
		}},
		{"a change to the Deployment is reverted, and a deleted one is created again", func(t *testing.T, w *world) {
			w.patch(t, deployments, "pr-42", `{"spec": {"replicas": 7}}`)
			w.has(t, deployments, "pr-42", 1, "spec", "replicas")
			before, err := w.get(t, deployments, "pr-42")
			if err != nil {
				t.Fatal(err)
			}
			w.delete(t, deployments, "pr-42")
			w.isReplaced(t, deployments, "pr-42", before.GetUID())
		}},
		{"time alone ends a Preview, without any event", func(t *testing.T, w *world) {
			w.create(t, previews, "manifests/preview.yaml", named("short", 3))
			w.hasCondition(t, previews, "short", "Ready", "True")
			w.has(t, deployments, "short", 0, "spec", "replicas")
			w.hasCondition(t, previews, "short", "Expired", "True")
			w.has(t, deployments, "pr-42", 1, "spec", "replicas")
		}},
		{"an expired Preview is Ready when its Pods are gone", func(t *testing.T, w *world) {
			w.has(t, deployments, "short", nil, "status", "replicas")
			// A new spec, for which it has expired too, so that the status is about what is there
			// now.
			w.patch(t, previews, "short", `{"spec": {"ttlSeconds": 2}}`)
			w.has(t, previews, "short", 2, "status", "observedGeneration")
			w.isReadyBecause(t, "short", "Expired")
		}},
		{"a longer life brings it back", func(t *testing.T, w *world) {
			w.patch(t, previews, "short", `{"spec": {"ttlSeconds": 3600}}`)
			w.has(t, deployments, "short", 1, "spec", "replicas")
			w.hasCondition(t, previews, "short", "Expired", "False")
			w.hasCondition(t, previews, "short", "Ready", "True")
		}},
		{"a shorter life ends it at once", func(t *testing.T, w *world) {
			w.patch(t, previews, "short", `{"spec": {"ttlSeconds": 1}}`)
			w.has(t, deployments, "short", 0, "spec", "replicas")
			w.hasCondition(t, previews, "short", "Expired", "True")
			w.hasCondition(t, previews, "short", "Ready", "True")
		}},
		{"somebody else's Deployment stays as it is, and the status says so", func(t *testing.T, w *world) {
			w.create(t, deployments, "testdata/deployment.yaml", nil)
			w.create(t, previews, "manifests/preview.yaml", named("theirs", 3600))
			w.hasCondition(t, previews, "theirs", "Ready", "False")
			w.has(t, deployments, "theirs", 3, "spec", "replicas")
			w.has(t, deployments, "theirs", nil, "metadata", "ownerReferences")
		}},
		{"when the name becomes free, the Preview gets it", func(t *testing.T, w *world) {
			w.delete(t, deployments, "theirs")
			w.isOwnedBy(t, deployments, "theirs", "Preview", "theirs")
			w.hasCondition(t, previews, "theirs", "Ready", "True")
		}},
		{"a shorter life that isn't over yet counts from the creation, too", func(t *testing.T, w *world) {
			preview, err := w.get(t, previews, "pr-42")
			if err != nil {
				t.Fatal(err)
			}
			created := preview.GetCreationTimestamp()
			age := func() time.Duration { return time.Since(created.Time) }
			// An operator that counts from anything later is late by at least this much.
			const late = 8 * time.Second
			eventually(t, w, fmt.Sprintf("the Preview is %v old", late), func() error {
				if age() < late {
					return fmt.Errorf("it is %v old", age())
				}
				return nil
			})
			ttl := int(age().Seconds()) + 3
			w.patch(t, previews, "pr-42", fmt.Sprintf(`{"spec": {"ttlSeconds": %d}}`, ttl))
			w.has(t, deployments, "pr-42", 0, "spec", "replicas")
			if took := w.scaledAt(t, "pr-42").Sub(created.Time); took >= time.Duration(ttl)*time.Second+late {
				t.Errorf("its Deployment was scaled to 0 when it was %v old, want %ds: "+
					"does each call compute the time that is left from the creation?", took, ttl)
			}
		}},
	})
}

// isReadyBecause waits until a Preview has the condition Ready=True with that reason.
func (w *world) isReadyBecause(t *testing.T, name, reason string) {
	t.Helper()
	eventually(t, w, fmt.Sprintf("previews %q has the condition Ready=True with the reason %s", name, reason), func() error {
		preview, err := w.get(t, previews, name)
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(preview.Object, "status", "conditions")
		for _, one := range conditions {
			if c, _ := one.(map[string]any); c["type"] == "Ready" && c["status"] == "True" && c["reason"] == reason {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %s", toJSON(conditions))
	})
}

// scaledAt returns when the API server stored the replicas that a Deployment asks for.
func (w *world) scaledAt(t *testing.T, name string) time.Time {
	t.Helper()
	deployment, err := w.get(t, deployments, name)
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

// named gives a Preview another name, and another life in seconds.
func named(name string, ttl int) func(object map[string]any) {
	return func(object map[string]any) {
		object["metadata"].(map[string]any)["name"] = name
		object["spec"].(map[string]any)["ttlSeconds"] = float64(ttl)
	}
}
