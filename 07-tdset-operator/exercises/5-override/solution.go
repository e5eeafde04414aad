//go:build solution

// Package override is about a schedule that doesn't count for a while.
package override

import (
	"context"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// Parse returns the override in tdset's annotation, be it in force or expired; nil if there is no such annotation. What isn't one is a
// *field.Error, which names the field (annotationPath) and its value, and says what is expected (format).
func Parse(tdset *schedulev1.TDSet) (*Override, error) {
	text, found := tdset.Annotations[Annotation]
	if !found {
		return nil, nil
	}
	count, end, _ := strings.Cut(text, " until ")
	replicas, errCount := strconv.ParseInt(count, 10, 32) // 32 bits: a number that doesn't fit becomes no other one
	until, errEnd := time.Parse(time.RFC3339, end)
	if errCount != nil || errEnd != nil || replicas < 0 || replicas > maxReplicas {
		return nil, field.Invalid(annotationPath, text, format)
	}
	return &Override{Replicas: int32(replicas), Until: until}, nil
}

// At returns what spec asks for at an instant, where override may be nil. An override is in force before its end, and no longer. The
// error is schedule.At's.
func At(spec *schedulev1.TDSetSpec, override *Override, instant time.Time) (State, error) {
	scheduled, err := schedule.At(spec, instant)
	state := State{State: scheduled}
	if err != nil || override == nil || !instant.Before(override.Until) {
		return state, err
	}
	state.Replicas, state.Overridden = override.Replicas, true
	if state.Next.IsZero() || override.Until.Before(state.Next) {
		state.Next = override.Until
	}
	return state, nil
}

// Reconciler looks after TDSets with overrides. What becomes of the replicas in the status is left to the chapter.
type Reconciler struct {
	client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

// Reconcile writes into the TDSet's status what it wants at this time, and says when to come again.
//
// It is requeued for exactly the time when the desired state changes, by the clock when it returns, which goes on while it writes.
// If that time has passed meanwhile, it is requeued for as soon as possible. (RequeueAfter: 0, or less, is never.)
//
// An annotation that is no override doesn't count, and nothing is retried, because only its author can fix it. The condition
// Overridden (desiredStatus) and an event report it.
//
// Events:
//   - OverrideBegan, Normal: an override has come into force.
//   - OverrideEnded, Normal: none is in force any more, because it is over, was removed, or is no
//     override any more.
//   - OverrideInvalid, Warning: the annotation is no override. It says what Parse says. Another text that isn't one is another event.
//
// Each is recorded once, however often Reconcile is called, and whether this program was running when it happened or not: it may
// have been restarted, or been down. What began and ended while it was down has no event. A longer or higher override is neither an
// end nor a beginning. What isn't in the status yet hasn't been reported: the event is recorded when the status is written, and not
// before.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	tdset := &schedulev1.TDSet{}
	if err := r.Get(ctx, key.NamespacedName, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	now := r.Clock.Now()
	override, invalid := Parse(tdset) // without an override, the schedule counts
	state, err := At(&tdset.Spec, override, now)
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err) // the chapter's controller writes it into the status
	}
	status := desiredStatus(tdset, state, override, invalid, now)
	if err := r.writeStatus(ctx, tdset, status); err != nil {
		return ctrl.Result{}, err
	}
	r.recordEvents(tdset, status, override)
	if state.Next.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(-r.Clock.Since(state.Next), time.Millisecond)}, nil
}

// recordEvents tells what status, which has just been written, says otherwise than tdset's. The status is the memory: it outlives
// this program, and was written by nobody else in between, or the write had failed.
func (r *Reconciler) recordEvents(tdset *schedulev1.TDSet, status schedulev1.TDSetStatus, override *Override) {
	before := meta.FindStatusCondition(tdset.Status.Conditions, conditionOverridden)
	now := meta.FindStatusCondition(status.Conditions, conditionOverridden)
	if before == nil {
		before = &metav1.Condition{Status: metav1.ConditionFalse}
	}
	was, is := before.Status == metav1.ConditionTrue, now.Status == metav1.ConditionTrue
	switch {
	case is && !was:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "OverrideBegan", "Override",
			"%d replicas until %s, whatever the schedule says",
			override.Replicas, override.Until.Format(time.RFC3339))
	case was && !is:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "OverrideEnded", "Override",
			"%d replicas, as scheduled", *status.DesiredReplicas)
	}
	if now.Reason == reasonInvalid && now.Message != before.Message {
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeWarning, "OverrideInvalid", "Override", "%s", now.Message)
	}
}
