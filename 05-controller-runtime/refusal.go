// Refusals: writes that the API server refuses until somebody changes the Foo or the cluster's
// rules, such as a quota or an admission policy. Users can't read the controller's log, so the
// status has to say why nothing happens.

package main

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// errOverruled means that the API server accepted a write but stored other values.
var errOverruled = errors.New("the API server stored other values than it was sent: does a webhook or policy change them?")

// isRefusal reports whether every retry will fail in the same way, until somebody changes the Foo
// or the cluster's rules.
func isRefusal(err error) bool {
	return apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) ||
		errors.Is(err, errOverruled)
}
