package acceptance

// Helpers for tests about Foos.

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// foo is a Foo as the API server shows it.
type foo struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		DeploymentName string `json:"deploymentName"`
		Replicas       int32  `json:"replicas"`
	} `json:"spec"`
	Status struct {
		AvailableReplicas  int32              `json:"availableReplicas"`
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func (f *foo) ready() *metav1.Condition {
	return meta.FindStatusCondition(f.Status.Conditions, "Ready")
}

// report describes the Foo's status in an error.
func (f *foo) report() error {
	says := "nothing about Ready"
	if ready := f.ready(); ready != nil {
		says = fmt.Sprintf("Ready=%s (%s)", ready.Status, ready.Reason)
	}
	return fmt.Errorf("its status says %s, %d of %d replicas available, for generation %d of %d",
		says, f.Status.AvailableReplicas, f.Spec.Replicas, f.Status.ObservedGeneration, f.Generation)
}

func (s *scenario) foos() dynamic.ResourceInterface {
	return s.objects()
}

// fooObject returns a Foo that is not yet on the server.
func fooObject(name, deploymentName string, replicas any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "samplecontroller.k8s.io/v1alpha1",
		"kind":       "Foo",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"deploymentName": deploymentName, "replicas": replicas},
	}}
}

func (s *scenario) createFoo(name, deploymentName string, replicas int64) *foo {
	s.Helper()
	created, err := s.foos().Create(s.Context(), fooObject(name, deploymentName, replicas), metav1.CreateOptions{})
	s.must(err)
	return s.decode(created)
}

// patchFoo changes a Foo by a JSON merge patch.
func (s *scenario) patchFoo(name, patch string) *foo {
	s.Helper()
	patched, err := s.foos().Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
	return s.decode(patched)
}

func (s *scenario) getFoo(name string) *foo {
	s.Helper()
	object, err := s.foos().Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return s.decode(object)
}

func (s *scenario) decode(object *unstructured.Unstructured) *foo {
	s.Helper()
	decoded := &foo{}
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, decoded))
	return decoded
}

// becomesReady waits until the Foo is Ready for its current spec, with all its replicas.
func (s *scenario) becomesReady(name string) *foo {
	s.Helper()
	var last *foo
	s.eventually("Foo "+name+" becomes ready", func() error {
		last = s.getFoo(name)
		ready := last.ready()
		if ready == nil || ready.Status != metav1.ConditionTrue || last.Status.ObservedGeneration != last.Generation ||
			last.Status.AvailableReplicas != last.Spec.Replicas {
			return last.report()
		}
		return nil
	})
	return last
}

// becomesUnready waits until the Foo isn't Ready for its current spec, for that reason.
func (s *scenario) becomesUnready(name, reason string) {
	s.Helper()
	s.eventually("Foo "+name+" has reason "+reason, func() error {
		foo := s.getFoo(name)
		ready := foo.ready()
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != reason ||
			foo.Status.ObservedGeneration != foo.Generation {
			return foo.report()
		}
		return nil
	})
}
