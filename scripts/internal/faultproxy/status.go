// Answers that are given in the server's stead, in its own words, so that no client can tell the difference.

package faultproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failure is the answer to a write that fails with this HTTP status code.
func failure(x *exchange, code int) error {
	switch code {
	case http.StatusConflict:
		return apierrors.NewConflict(x.groupResource(), x.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests("Too many requests, please try again later.", 1)
	case http.StatusInternalServerError:
		return apierrors.NewInternalError(errors.New("made by the fault proxy"))
	}
	return apierrors.NewGenericServerResponse(code, x.Verb, x.groupResource(), x.Name, "made by the fault proxy", 0, true)
}

// forbidden is the answer to a request that RBAC doesn't allow.
func forbidden(x *exchange) error {
	name, where := x.Name, "at the cluster scope"
	if x.Verb == "create" {
		name = "" // nobody has read the body yet
	}
	if x.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", x.Namespace)
	}
	reason := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", x.user, x.Verb, x.Resource, x.Group, where)
	return apierrors.NewForbidden(x.groupResource(), name, errors.New(reason))
}

// expired is the answer to a watch from a resourceVersion that is older than what the server remembers.
func expired(x *exchange) error {
	return apierrors.NewResourceExpired("too old resource version: " + resourceVersion(x.Request))
}

func statusOf(err error) *metav1.Status {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// writeStatus sends an answer. 429 looks as API Priority and Fairness makes it: a header that says when to come back, and
// plain text.
func writeStatus(w http.ResponseWriter, status *metav1.Status) {
	if status.Code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
		http.Error(w, status.Message, int(status.Code))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	json.NewEncoder(w).Encode(status)
}
