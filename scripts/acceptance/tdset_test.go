package acceptance

// Helpers for tests about TDSets.

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// tdset is a TDSet as the API server shows it.
type tdset struct {
	metav1.ObjectMeta `json:"metadata"`

	Status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
		// The exercises' APIs don't have these.
		ActiveWindow       string       `json:"activeWindow"`
		DesiredReplicas    *int32       `json:"desiredReplicas"`
		NextTransitionTime *metav1.Time `json:"nextTransitionTime"`
	} `json:"status"`
}

// condition returns a condition about the current spec, as in True (AsScheduled), or "".
func (t *tdset) condition(kind string) string {
	condition := meta.FindStatusCondition(t.Status.Conditions, kind)
	if condition == nil || condition.ObservedGeneration != t.Generation || t.Status.ObservedGeneration != t.Generation {
		return ""
	}
	return fmt.Sprintf("%s (%s)", condition.Status, condition.Reason)
}

// window is a window of the day.
type window struct{ start, end, replicas int64 }

var (
	office = window{9, 17, 2}
	always = window{0, 24, 0} // without Pods, for tests that don't need them
)

// tdsetObject returns a TDSet that is not yet on the server.
func tdsetObject(name string, defaultReplica int64, windows ...window) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "schedule.rs/v1",
		"kind":       "TDSet",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"container":        map[string]any{"image": "example.com/app:1", "port": int64(8000)},
			"schedulingConfig": schedule(windows...),
			"defaultReplica":   defaultReplica,
		},
	}}
}

// schedule is a TDSet's schedulingConfig.
func schedule(windows ...window) []any {
	config := []any{}
	for _, w := range windows {
		config = append(config, map[string]any{"startTime": w.start, "endTime": w.end, "replica": w.replicas})
	}
	return config
}

// with sets a field of the TDSet's spec, and returns the TDSet.
func with(object *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	if err := unstructured.SetNestedField(object.Object, value, append([]string{"spec"}, path...)...); err != nil {
		panic(err)
	}
	return object
}

func (s *scenario) createTDSet(name string, defaultReplica int64, windows ...window) *tdset {
	s.Helper()
	return s.create(tdsetObject(name, defaultReplica, windows...))
}

func (s *scenario) create(object *unstructured.Unstructured) *tdset {
	s.Helper()
	created, err := s.objects().Create(s.Context(), s.inVersion(s.withTestZone(object)), metav1.CreateOptions{})
	s.must(err)
	return s.decodeTDSet(created)
}

// patchTDSet changes a TDSet by a JSON merge patch.
func (s *scenario) patchTDSet(name, patch string) *tdset {
	s.Helper()
	patched, err := s.objects().Patch(s.Context(), name, types.MergePatchType, s.patchInVersion(patch),
		metav1.PatchOptions{})
	s.must(err)
	return s.decodeTDSet(patched)
}

// getTDSet returns the TDSet of that name, or nil if there is none.
func (s *scenario) getTDSet(name string) *tdset {
	s.Helper()
	object, err := s.objects().Get(s.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	s.must(err)
	return s.decodeTDSet(object)
}

func (s *scenario) decodeTDSet(object *unstructured.Unstructured) *tdset {
	s.Helper()
	decoded := &tdset{}
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, decoded))
	return decoded
}

// deleteTDSet deletes a TDSet with that propagation policy.
func (s *scenario) deleteTDSet(name string, propagation metav1.DeletionPropagation) {
	s.Helper()
	s.must(s.objects().Delete(s.Context(), name, metav1.DeleteOptions{PropagationPolicy: &propagation}))
}

// tdsetIsGone waits until there is no TDSet of that name.
func (s *scenario) tdsetIsGone(name string) {
	s.Helper()
	s.eventually("TDSet "+name+" is gone", func() error {
		if left := s.getTDSet(name); left != nil {
			return fmt.Errorf("it is there, with the finalizers %q", left.Finalizers)
		}
		return nil
	})
}

// becomesScheduled waits until the TDSet's Deployment has that many replicas, all available and up
// to date, and the TDSet reports it.
func (s *scenario) becomesScheduled(name string, replicas int32) *tdset {
	s.Helper()
	var last *tdset
	s.eventually(fmt.Sprintf("TDSet %s has %d replicas", name, replicas), func() error {
		deployment := s.getDeployment(name)
		if err := isRolledOut(deployment, replicas); err != nil {
			return err
		}
		if last = s.getTDSet(name); last == nil {
			return errors.New("it is gone")
		}
		return s.checkScheduled(last, replicas)
	})
	return last
}

// isRolledOut returns an error unless the Deployment asks for that many replicas and has them.
func isRolledOut(deployment *appsv1.Deployment, replicas int32) error {
	if deployment == nil {
		return errors.New("there is no Deployment")
	}
	status := deployment.Status
	if *deployment.Spec.Replicas != replicas || status.ObservedGeneration != deployment.Generation ||
		status.Replicas != replicas || status.UpdatedReplicas != replicas || status.AvailableReplicas != replicas {
		return fmt.Errorf("the Deployment wants %d replicas, and has %d, %d of them up to date and %d available",
			*deployment.Spec.Replicas, status.Replicas, status.UpdatedReplicas, status.AvailableReplicas)
	}
	return nil
}

// checkScheduled returns an error unless the TDSet reports that many replicas.
func (s *scenario) checkScheduled(t *tdset, replicas int32) error {
	want := map[string]string{"Ready": "True (AsScheduled)"}
	if s.isFull() {
		want["Available"], want["Progressing"] = "True (ReplicasAvailable)", "False (RolledOut)"
		want["Degraded"] = "False (AsExpected)"
		if t.Status.DesiredReplicas == nil || *t.Status.DesiredReplicas != replicas {
			return fmt.Errorf("got window %q and desired replicas %v", t.Status.ActiveWindow, t.Status.DesiredReplicas)
		}
	} else {
		message := fmt.Sprintf("%[1]d of %[1]d replicas", replicas)
		if !strings.Contains(fmt.Sprint(t.Status.Conditions), message) {
			return fmt.Errorf("want message %q, got %v", message, t.Status.Conditions)
		}
	}
	for kind, condition := range want {
		if got := t.condition(kind); got != condition {
			return fmt.Errorf("want %s=%s for generation %d, got %v", kind, condition, t.Generation, t.Status.Conditions)
		}
	}
	return nil
}

// hasCondition waits until the condition is about the current spec, as in False (Terminating).
func (s *scenario) hasCondition(name, condition, want string) {
	s.Helper()
	s.eventually(fmt.Sprintf("TDSet %s has %s=%s", name, condition, want), func() error {
		t := s.getTDSet(name)
		if t == nil {
			return errors.New("it is gone")
		}
		if got := t.condition(condition); got != want {
			return fmt.Errorf("got %q: %v", got, t.Status.Conditions)
		}
		return nil
	})
}

// isRefused waits until the TDSet reports that the name of its Deployment or Service is taken.
func (s *scenario) isRefused(name string) {
	s.Helper()
	if s.isFull() {
		s.hasCondition(name, "Degraded", "True (ErrResourceExists)")
	}
	s.hasCondition(name, "Ready", "False (ErrResourceExists)")
}

// getService returns the Service of that name, or nil if there is none.
func (s *scenario) getService(name string) *corev1.Service {
	s.Helper()
	service, err := s.client.CoreV1().Services(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	s.must(err)
	return service
}
