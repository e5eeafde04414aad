// While somebody repairs a Foo's Deployment by hand, the controller must leave it alone. An
// annotation on the Foo asks for that. It is tempting to check it first and return.
//
// A paused controller still has two jobs. It removes its finalizer from a deleted Foo. Otherwise, the
// Foo and its namespace stay until somebody remembers the annotation. And it reports that it is
// paused, because otherwise the last status looks like the current one.

package pitfalls

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/05-controller-runtime/test/testenv"
)

const (
	pausedAnnotation = "operators.example.com/paused"
	cleanupFinalizer = "operators.example.com/cleanup"
)

func isPaused(foo *samplecontrollerv1alpha1.Foo) bool {
	return foo.Annotations[pausedAnnotation] == "true"
}

// pauseEverything is wrong: nothing happens to a paused Foo, not even when it is deleted.
func pauseEverything(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo) error {
	if isPaused(foo) {
		return nil
	}
	if !foo.DeletionTimestamp.IsZero() {
		return cleanUp(ctx, c, foo)
	}
	return nil // a real controller would now write the Deployment and the status
}

// pauseChanges is right: deletion comes first, and a paused Foo says so.
func pauseChanges(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo) error {
	if !foo.DeletionTimestamp.IsZero() {
		return cleanUp(ctx, c, foo)
	}
	if isPaused(foo) {
		return reportPaused(ctx, c, foo)
	}
	return nil // a real controller would now write the Deployment and the status
}

// cleanUp removes the finalizer.
func cleanUp(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo) error {
	if !controllerutil.RemoveFinalizer(foo, cleanupFinalizer) {
		return nil
	}
	return c.Update(ctx, foo)
}

// reportPaused sets Ready to Unknown, because nobody checks the Foo's Deployment. It doesn't change
// status.observedGeneration, because the controller hasn't acted on the new spec. The condition's
// own ObservedGeneration says which spec was skipped.
func reportPaused(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo) error {
	before := foo.DeepCopy()
	meta.SetStatusCondition(&foo.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionUnknown,
		Reason:             "Paused",
		Message:            "Remove the annotation " + pausedAnnotation + " to continue",
		ObservedGeneration: foo.Generation,
	})
	if equality.Semantic.DeepEqual(before.Status, foo.Status) {
		return nil
	}
	return c.Status().Update(ctx, foo)
}

func TestPause(t *testing.T) {
	for _, test := range []struct {
		sentence   string
		sync       func(context.Context, client.Client, *samplecontrollerv1alpha1.Foo) error
		wantReason string
		wantGone   bool
	}{
		{"wrong: return first", pauseEverything, "", false},
		{"right: deletion first, then report", pauseChanges, "Paused", true},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := testenv.New(t)
			foo := aFoo(c.Meta("web"))
			foo.Annotations = map[string]string{pausedAnnotation: "true"}
			foo.Finalizers = []string{cleanupFinalizer}
			must(t, c.Create(t.Context(), foo))

			must(t, test.sync(t.Context(), c, foo))
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))
			reason := ""
			if ready := meta.FindStatusCondition(foo.Status.Conditions, "Ready"); ready != nil {
				reason = ready.Reason
			}

			must(t, c.Delete(t.Context(), foo))
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))
			must(t, test.sync(t.Context(), c, foo))
			gone := apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))

			t.Logf("the reason of Ready is %q; after its deletion, the Foo is gone: %t", reason, gone)
			if reason != test.wantReason || gone != test.wantGone {
				t.Errorf("want the reason %q and gone %t", test.wantReason, test.wantGone)
			}
			if !gone {
				controllerutil.RemoveFinalizer(foo, cleanupFinalizer)
				must(t, c.Update(t.Context(), foo)) // or the Foo would stay
			}
		})
	}
}
