//go:build !solution

// Package conversion has a kind in two versions, and converts between them.
package conversion

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// keptV2 is an annotation with what v1 can't express, in a format of your own.
const keptV2 = "workers.example.com/v2"

// ConvertTo makes hub the same Worker in v2. It only fails if hub is no *WorkerV2.
//
// In v2, both ends of the range are the number in v1, and drain is drainSeconds. But if the Worker
// has the annotation that ConvertFrom writes, each of the two fields is as it was in v2, unless its
// value in v1 has been edited since. Then the edit wins, for this field only.
//
// The annotation never reaches v2, whose other annotations are those of v1. If there are none, v2
// has nil and no empty map. An annotation that isn't in the format of ConvertFrom is ignored, and
// so is one with a range or a drain that no Worker may have. This Worker itself stays as it is.
//
// YOUR WORK: this knows nothing of the annotation.
func (w *WorkerV1) ConvertTo(hub conversion.Hub) error {
	dst, isWorker := hub.(*WorkerV2)
	if !isWorker {
		return fmt.Errorf("convert Worker %s/%s to %T: the hub is *WorkerV2", w.Namespace, w.Name, hub)
	}
	dst.ObjectMeta = w.ObjectMeta
	delete(dst.Annotations, keptV2)
	dst.Spec = WorkerV2Spec{
		Image:    w.Spec.Image,
		Replicas: Range{w.Spec.Replicas, w.Spec.Replicas},
		Drain:    &metav1.Duration{},
	}
	if w.Spec.DrainSeconds != nil {
		dst.Spec.Drain.Duration = time.Duration(*w.Spec.DrainSeconds) * time.Second
	}
	return nil
}

// ConvertFrom makes this Worker the v1 view of hub. It only fails if hub is no *WorkerV2.
//
// In v1, the number of replicas is the upper end of the range, and drainSeconds is drain, rounded up
// to full seconds. If v1 can't express one of the two, an annotation keeps both. Otherwise there is
// none. hub stays as it is.
//
// YOUR WORK: this keeps nothing.
func (w *WorkerV1) ConvertFrom(hub conversion.Hub) error {
	src, isWorker := hub.(*WorkerV2)
	if !isWorker {
		return fmt.Errorf("convert %T to a Worker of v1: the hub is *WorkerV2", hub)
	}
	w.ObjectMeta = src.ObjectMeta
	w.Spec = WorkerV1Spec{Image: src.Spec.Image, Replicas: src.Spec.Replicas.Max}
	if src.Spec.Drain != nil {
		w.Spec.DrainSeconds = new(int64(src.Spec.Drain.Seconds()))
	}
	return nil
}
