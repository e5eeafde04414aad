package conversion

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// WorkerV1 is a Worker in v1, which old clients still use. It is a spoke: it has ConvertTo and
// ConvertFrom.
type WorkerV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WorkerV1Spec `json:"spec"`
}

// WorkerV1Spec is the desired state.
type WorkerV1Spec struct {
	Image string `json:"image"`
	// Replicas is the number of Pods, at all times.
	Replicas int32 `json:"replicas"`
	// DrainSeconds is how long a Pod may take to finish its work, 0 to 86400. Without it, there is no
	// limit.
	DrainSeconds *int64 `json:"drainSeconds,omitempty"`
}

// WorkerV2 is a Worker in v2, which is stored. It is the hub.
type WorkerV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WorkerV2Spec `json:"spec"`
}

// WorkerV2Spec is the desired state.
type WorkerV2Spec struct {
	Image    string `json:"image"`
	Replicas Range  `json:"replicas"`
	// Drain is how long a Pod may take to finish its work, 0s to 24h. Without it, there is no limit.
	Drain *metav1.Duration `json:"drain,omitempty"`
}

// Range is a number of Pods that depends on the load: 0 <= Min <= Max.
type Range struct {
	Min int32 `json:"min"`
	Max int32 `json:"max"`
}

// Hub marks v2 as the version that the others are converted to and from.
func (*WorkerV2) Hub() {}

// DeepCopyObject is what makes it a runtime.Object. In a project, `make generate` writes it.
func (w *WorkerV1) DeepCopyObject() runtime.Object {
	clone := *w
	w.ObjectMeta.DeepCopyInto(&clone.ObjectMeta)
	if w.Spec.DrainSeconds != nil {
		clone.Spec.DrainSeconds = new(*w.Spec.DrainSeconds)
	}
	return &clone
}

// DeepCopyObject is what makes it a runtime.Object.
func (w *WorkerV2) DeepCopyObject() runtime.Object {
	clone := *w
	w.ObjectMeta.DeepCopyInto(&clone.ObjectMeta)
	if w.Spec.Drain != nil {
		clone.Spec.Drain = new(*w.Spec.Drain)
	}
	return &clone
}
