//go:build !solution

// Package override is about a schedule that doesn't count for a while.
package override

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	// YOUR WORK: refuse everything that is no override. This accepts anything.
	var override Override
	var until string
	_, _ = fmt.Sscanf(tdset.Annotations[Annotation], "%d until %s", &override.Replicas, &until)
	override.Until, _ = time.Parse(time.RFC3339, until)
	return &override, nil
}

// At returns what spec asks for at an instant, where override may be nil. An override is in force before its end, and no longer. The
// error is schedule.At's.
func At(spec *schedulev1.TDSetSpec, override *Override, instant time.Time) (State, error) {
	scheduled, err := schedule.At(spec, instant)
	state := State{State: scheduled}
	// YOUR WORK: it lasts too long, and Next ignores its end.
	if override != nil && !instant.After(override.Until) {
		state.Replicas, state.Overridden = override.Replicas, true
	}
	return state, err
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
	override, invalid := Parse(tdset)
	// YOUR WORK: fix everything from here on.
	if invalid != nil {
		return ctrl.Result{}, invalid
	}
	state, err := At(&tdset.Spec, override, now)
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err) // the chapter's controller writes it into the status
	}
	if state.Overridden {
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "OverrideBegan", "Override",
			"%d replicas until %v", override.Replicas, override.Until)
	}
	if err := r.writeStatus(ctx, tdset, desiredStatus(tdset, state, override, invalid, now)); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: state.Next.Sub(now)}, nil
}
