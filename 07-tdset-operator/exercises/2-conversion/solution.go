//go:build solution

// Package conversion has a kind in two versions, and converts between them.
package conversion

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// keptV2 is an annotation with what v1 can't express, as JSON.
const keptV2 = "workers.example.com/v2"

// kept is what the annotation has.
type kept struct {
	Replicas *Range           `json:"replicas"`
	Drain    *metav1.Duration `json:"drain,omitempty"`
}

// isValid reports whether a Worker may have this range and this drain. The API server checks them
// in a Worker's fields, but not in an annotation.
func (k kept) isValid() bool {
	return k.Replicas != nil && 0 <= k.Replicas.Min && k.Replicas.Min <= k.Replicas.Max &&
		(k.Drain == nil || k.Drain.Duration >= 0)
}

// ConvertTo makes hub the same Worker in v2. It only fails if hub is no *WorkerV2.
//
// In v2, both ends of the range are the number in v1, and drain is drainSeconds. But if the Worker
// has the annotation that ConvertFrom writes, each of the two fields is as it was in v2, unless its
// value in v1 has been edited since. Then the edit wins, for this field only.
//
// The annotation never reaches v2, whose other annotations are those of v1. If there are none, v2
// has nil and no empty map. An annotation that isn't in the format of ConvertFrom is ignored, and
// so is one with a range or a drain that no Worker may have. This Worker itself stays as it is.
func (w *WorkerV1) ConvertTo(hub conversion.Hub) error {
	dst, isWorker := hub.(*WorkerV2)
	if !isWorker {
		return fmt.Errorf("convert Worker %s/%s to %T: the hub is *WorkerV2", w.Namespace, w.Name, hub)
	}
	dst.ObjectMeta = w.ObjectMeta
	dst.Spec = WorkerV2Spec{Image: w.Spec.Image, Replicas: Range{w.Spec.Replicas, w.Spec.Replicas}}
	if w.Spec.DrainSeconds != nil {
		dst.Spec.Drain = &metav1.Duration{Duration: time.Duration(*w.Spec.DrainSeconds) * time.Second}
	}
	text, found := w.Annotations[keptV2]
	if !found {
		return nil
	}
	dst.Annotations = maps.Clone(w.Annotations) // w has the same map
	delete(dst.Annotations, keptV2)
	if len(dst.Annotations) == 0 {
		dst.Annotations = nil
	}
	var before kept
	if err := json.Unmarshal([]byte(text), &before); err != nil || !before.isValid() {
		return nil
	}
	if before.Replicas.Max == w.Spec.Replicas {
		dst.Spec.Replicas = *before.Replicas
	}
	if sameSeconds(seconds(before.Drain), w.Spec.DrainSeconds) {
		dst.Spec.Drain = before.Drain
	}
	return nil
}

// ConvertFrom makes this Worker the v1 view of hub. It only fails if hub is no *WorkerV2.
//
// In v1, the number of replicas is the upper end of the range, and drainSeconds is drain, rounded up
// to full seconds. If v1 can't express one of the two, an annotation keeps both. Otherwise there is
// none. hub stays as it is.
func (w *WorkerV1) ConvertFrom(hub conversion.Hub) error {
	src, isWorker := hub.(*WorkerV2)
	if !isWorker {
		return fmt.Errorf("convert %T to a Worker of v1: the hub is *WorkerV2", hub)
	}
	w.ObjectMeta = src.ObjectMeta
	w.Spec = WorkerV1Spec{Image: src.Spec.Image, Replicas: src.Spec.Replicas.Max, DrainSeconds: seconds(src.Spec.Drain)}

	isWhole := src.Spec.Drain == nil || src.Spec.Drain.Duration%time.Second == 0
	if src.Spec.Replicas.Min == src.Spec.Replicas.Max && isWhole {
		return nil
	}
	text, err := json.Marshal(kept{&src.Spec.Replicas, src.Spec.Drain})
	if err != nil {
		return fmt.Errorf("convert Worker %s/%s to v1: %w", src.Namespace, src.Name, err)
	}
	w.Annotations = maps.Clone(src.Annotations) // src has the same map
	metav1.SetMetaDataAnnotation(&w.ObjectMeta, keptV2, string(text))
	return nil
}

// seconds rounds up to full seconds.
func seconds(drain *metav1.Duration) *int64 {
	if drain == nil {
		return nil
	}
	return new(int64((drain.Duration + time.Second - 1) / time.Second))
}

func sameSeconds(a, b *int64) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
