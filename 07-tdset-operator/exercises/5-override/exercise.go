//go:build !solution

// Package override replaces a schedule's number of replicas for a while.
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

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// Parse returns the override in tdset's annotation, even if it has expired, or nil if there is no
// such annotation. If the annotation isn't a valid override, the error is a *field.Error. It has
// the field (annotationPath), the value, and what is expected (format).
func Parse(tdset *schedulev2.TDSet) (*Override, error) {
	// YOUR WORK: refuse everything that isn't a valid override. This accepts anything.
	var override Override
	var until string
	_, _ = fmt.Sscanf(tdset.Annotations[Annotation], "%d until %s", &override.Replicas, &until)
	override.Until, _ = time.Parse(time.RFC3339, until)
	return &override, nil
}

// At returns what spec asks for at an instant. override may be nil. It is in force before its end,
// but not at its end. The error is schedule.At's.
func At(spec *schedulev2.TDSetSpec, override *Override, instant time.Time) (State, error) {
	scheduled, err := schedule.At(spec, instant)
	state := State{State: scheduled}
	// YOUR WORK: the override lasts too long, and Next ignores its end.
	if override != nil && !instant.After(override.Until) {
		state.Replicas, state.Overridden = override.Replicas, true
	}
	return state, err
}

// Reconciler writes the status of TDSets with overrides. Unlike the chapter's, it scales nothing.
type Reconciler struct {
	client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

// Reconcile writes into the TDSet's status how many replicas it asks for now, and returns when to
// requeue it.
//
// It is requeued for exactly the instant State.Next. A write takes time, so compute the pause when
// you return. If Next has passed by then, requeue as soon as possible. (RequeueAfter: 0, or less,
// means never.)
//
// If the annotation is invalid, the schedule applies. Nothing is retried, because only the author
// of the annotation can fix it. The condition Overridden (desiredStatus) and an Event report it.
//
// Events:
//   - OverrideBegan, Normal: an override has come into force.
//   - OverrideEnded, Normal: no override is in force any more, because it has expired, was removed,
//     or is now invalid.
//   - OverrideInvalid, Warning: the annotation is invalid. The note has the error of Parse. If the
//     annotation changes and is still invalid, that is another Event.
//
// Record each of these once, no matter how often Reconcile is called, and even if this program was
// down when it happened. An override that both began and ended while it was down has no Event. A
// change of its end or of its replicas is neither an end nor a beginning. Record an Event only
// after the status is written. If the write fails, the next call records it.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	tdset := &schedulev2.TDSet{}
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
