// Refusals: what the API server refuses, overrules or words differently each time. A conflict is
// not a refusal. It means that the cache was behind, and the next attempt may succeed. A refusal
// will be repeated until somebody changes the TDSet or the cluster's rules, so users have to see it
// in the status.

package controller

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// errOverruled means that the API server accepted a write, but the object is as it was before.
var errOverruled = errors.New("the write was accepted but has changed nothing: does an admission webhook or policy revert it?")

// orOverruled returns err, the result of a write. If that succeeded but the resourceVersion is the
// same as before, the write has changed nothing.
func orOverruled(err error, before string, after *string) error {
	if err == nil && ptr.Equal(&before, after) {
		return errOverruled
	}
	return err
}

// splitErrors separates refusals, which the status quotes, from failures, which it only mentions.
func splitErrors(all ...error) (refused, failed error) {
	for _, err := range all {
		if isRefusal(err) {
			refused = errors.Join(refused, err)
		} else {
			failed = errors.Join(failed, err)
		}
	}
	return refused, failed
}

// isRefusal reports whether the API server will answer the same again, as long as nobody changes
// the TDSet or the cluster's rules.
func isRefusal(err error) bool {
	switch {
	case apierrors.IsInvalid(err):
		return !isConflict(err)
	case apierrors.IsForbidden(err):
		return !isTerminating(err)
	}
	return apierrors.IsBadRequest(err) || errors.Is(err, errOverruled)
}

// isTerminating reports whether nothing can be created, because the namespace is being deleted.
func isTerminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isConflict reports whether an assumption of a write about its object no longer holds: either its
// resourceVersion or its UID. If the UID differs, the API server answers that a UID can't be
// changed (422 Invalid). Joined errors are a conflict only if all of them are, because a conflict
// isn't logged, but the others must be.
func isConflict(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !isConflict(err) })
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return apierrors.IsConflict(err)
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Field == "metadata.uid"
	})
}

// ignoreRepeatedRefusals drops an update of a TDSet that was refused before and still is. Usually,
// that is our own write: a refusal's message may contain a time or the number of a request, so
// every retry writes another one. Its event would trigger a retry at once, without any backoff.
// Dropping it is safe, because the backoff retries within a minute anyway.
//
// It drops no other update of the status, such as the first refusal. A new status is compared with
// the cached one, which may be older than our last write. Then only that write's event can correct
// the stored status.
var ignoreRepeatedRefusals = predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
	return update.ObjectOld.GetGeneration() != update.ObjectNew.GetGeneration() ||
		!isRefused(update.ObjectOld) || !isRefused(update.ObjectNew)
}}

// isRefused reports whether a TDSet's status says that the API server refuses a write.
func isRefused(tdset client.Object) bool {
	degraded := meta.FindStatusCondition(tdset.(*schedulev2.TDSet).Status.Conditions, conditionDegraded)
	return degraded != nil && degraded.Reason == reasonRefused
}

// maxMessage is the longest note that an event can have, in bytes (events.k8s.io/v1).
const maxMessage = 1024

// shorten cuts a message to maxMessage bytes, because refusals can have any length.
func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-len("…")], "") + "…"
}
