//go:build check || solution

// One Pool's life on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestAPoolsLife/a Pool gets as many Pods as it asks for
// says: not written yet

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var pools = groupVersion.WithResource("pools")

func TestAPoolsLife(t *testing.T) {
	runStages(t, "manifests/crd.yaml", []stage{
		{"a Pool gets as many Pods as it asks for", func(t *testing.T, w *world) {
			w.create(t, pools, "manifests/pool.yaml", nil)
			for _, name := range []string{"workers-0", "workers-1"} {
				w.isOwnedBy(t, pods, name, "Pool", "workers")
				w.has(t, pods, name, "nginx:1.28", "spec", "containers", "0", "image")
			}
		}},
		{"the status says when they are ready", func(t *testing.T, w *world) {
			w.hasCondition(t, pools, "workers", "Ready", "True")
			w.has(t, pools, "workers", 2, "status", "readyPods")
			w.has(t, pools, "workers", 1, "status", "observedGeneration")
		}},
		{"it grows, and keeps the Pods that it has", func(t *testing.T, w *world) {
			before := w.uid(t, "workers-0")
			w.patch(t, pools, "workers", `{"spec": {"size": 3}}`)
			w.isOwnedBy(t, pods, "workers-2", "Pool", "workers")
			w.has(t, pools, "workers", 3, "status", "readyPods")
			w.has(t, pods, "workers-0", before, "metadata", "uid")
		}},
		{"it shrinks, from the highest number down", func(t *testing.T, w *world) {
			before := w.uid(t, "workers-0")
			w.patch(t, pools, "workers", `{"spec": {"size": 1}}`)
			w.isGone(t, pods, "workers-2")
			w.isGone(t, pods, "workers-1")
			w.has(t, pools, "workers", 1, "status", "readyPods")
			w.hasCondition(t, pools, "workers", "Ready", "True")
			w.has(t, pods, "workers-0", before, "metadata", "uid")
		}},
		{"a deleted Pod is created again", func(t *testing.T, w *world) {
			before := w.uid(t, "workers-0")
			w.delete(t, pods, "workers-0")
			w.isReplaced(t, pods, "workers-0", before)
		}},
		{"a Pod that has failed is replaced", func(t *testing.T, w *world) {
			before := w.uid(t, "workers-0")
			w.fail(t, "workers-0")
			w.isReplaced(t, pods, "workers-0", before)
		}},
		{"a Pod with another image is replaced", func(t *testing.T, w *world) {
			before := w.uid(t, "workers-0")
			w.patch(t, pools, "workers", `{"spec": {"image": "nginx:1.29"}}`)
			w.isReplaced(t, pods, "workers-0", before)
			w.has(t, pods, "workers-0", "nginx:1.29", "spec", "containers", "0", "image")
		}},
		{"somebody else's Pod stays as it is, and the status says so", func(t *testing.T, w *world) {
			// It has another image, and a number that the Pool doesn't ask for yet.
			w.create(t, pods, "testdata/pod.yaml", nil)
			before := w.uid(t, "workers-1")
			w.patch(t, pools, "workers", `{"spec": {"size": 2}}`)
			w.hasCondition(t, pools, "workers", "Ready", "False")
			w.has(t, pools, "workers", 5, "status", "observedGeneration")
			w.hasCondition(t, pools, "workers", "Ready", "False")
			w.has(t, pods, "workers-1", before, "metadata", "uid")
			w.has(t, pods, "workers-1", nil, "metadata", "ownerReferences")
			w.has(t, pods, "workers-1", nil, "metadata", "deletionTimestamp")
		}},
		{"when the name becomes free, the Pool gets it", func(t *testing.T, w *world) {
			w.delete(t, pods, "workers-1")
			w.isOwnedBy(t, pods, "workers-1", "Pool", "workers")
			w.hasCondition(t, pools, "workers", "Ready", "True")
		}},
	})
}

// uid waits until a Pod is Ready, and returns its UID, which says whether it is still the same Pod.
func (w *world) uid(t *testing.T, name string) types.UID {
	t.Helper()
	w.hasCondition(t, pods, name, "Ready", "True")
	pod, err := w.get(t, pods, name)
	if err != nil {
		t.Fatal(err)
	}
	return pod.GetUID()
}

// fail sets a Pod's phase to Failed, as the kubelet does when a Pod is evicted.
func (w *world) fail(t *testing.T, name string) {
	t.Helper()
	_, err := w.client.Resource(pods).Namespace(w.namespace).Patch(t.Context(), name, types.MergePatchType,
		[]byte(`{"status": {"phase": "Failed", "reason": "Evicted"}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}
