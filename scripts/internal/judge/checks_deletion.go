package judge

// Does the operator clean up?

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/operator"
)

func deletionChecks() []Check {
	return []Check{
		{
			Name:    "delete-background",
			Promise: "after a sample is deleted in the background, which is kubectl's default, nothing is left",
			Why:     "Objects that an operator leaves behind keep running, and costing money, until somebody finds them.",
			Fix:     "Set a controller reference on each object that you create, or delete it in a finalizer.",
			Lesson:  "01-raw-watch/README.md",
			run:     func(s *scenario) { deletesEverything(s, metav1.DeletePropagationBackground) },
		},
		{
			Name:    "delete-foreground",
			Promise: "after a sample is deleted in the foreground, nothing is left",
			Why:     "The sample stays until its objects are gone. If the operator recreates them, that may never happen.",
			Fix:     "If the sample has a deletionTimestamp, create and change nothing for it.",
			Lesson:  "07-tdset-operator/more/deletion.md",
			run:     func(s *scenario) { deletesEverything(s, metav1.DeletePropagationForeground) },
		},
		{
			Name:    "delete-held",
			Promise: "nothing is created for a sample that is being deleted",
			Why:     "A finalizer can hold up a deletion for hours. Meanwhile, nothing may recreate what is being cleaned up.",
			Fix:     "If the sample has a deletionTimestamp, only clean up. Add finalizers only while it has none.",
			Lesson:  "07-tdset-operator/more/deletion.md",
			run:     nothingWhileDeleting,
		},
		{
			Name:    "delete-namespace",
			Promise: "deleting a namespace causes no storm of writes",
			Why:     "The API server refuses every create there. An operator that keeps retrying delays the deletion.",
			Fix:     "Stop if the sample has a deletionTimestamp, or if a create fails because the namespace is terminating.",
			Lesson:  "07-tdset-operator/more/deletion.md",
			run:     namespaceIsDeleted,
		},
	}
}

func deletesEverything(s *scenario, how metav1.DeletionPropagation) {
	sample := s.startWith("deleted")[0]
	owned := s.owned(sample)
	began := time.Now()
	s.remove(how, sample)
	if s.leavesNothing(began, sample, owned, s.config.Limits.Converge) {
		s.pass(settled)
		s.leavesNothing(began, sample, owned, s.config.Limits.Converge) // and nothing comes back
	}
	s.foundLateFinalizers(began)
	s.foundCrashes()
}

// leavesNothing waits until a deleted sample and what it owned are gone. If they stay, that is a
// finding.
func (s *scenario) leavesNothing(
	began time.Time, sample *unstructured.Unstructured, owned []*unstructured.Unstructured, limit time.Duration,
) bool {
	everything := func() []*unstructured.Unstructured {
		return slices.Concat(owned, s.owned(sample), []*unstructured.Unstructured{sample})
	}
	err := s.within(limit, func() error { return s.areGone(everything()...) })
	if err == nil {
		return true
	}
	s.foundLeft(began, everything(), func(now *unstructured.Unstructured) bool {
		isOld := slices.ContainsFunc(owned, func(o *unstructured.Unstructured) bool { return o.GetUID() == now.GetUID() })
		return !isOld || !refersTo(now, sample) // otherwise, the garbage collector is about to delete it
	}, "after the deletion, "+plain(err))
	return false
}

// nothingWhileDeleting keeps a sample in deletion by a finalizer. Without one, it would be gone too
// soon: an operator whose cache is behind may create an object once more, which is no bug, because
// the garbage collector deletes that too.
func nothingWhileDeleting(s *scenario) {
	sample := s.startWith("held")[0]
	owned := s.owned(sample)
	s.hold(sample)
	deleted := time.Now()
	s.remove(metav1.DeletePropagationBackground, sample)
	s.needs(s.catchesUp("meanwhile"))
	began := time.Now()
	s.remove(metav1.DeletePropagationBackground, owned...)
	s.needs(s.catchesUp("afterwards"))
	for _, v := range s.created(began, sample) {
		s.foundAlso(Error, []Evidence{v.evidence()}, "objects are created for a sample that is being deleted", v.object.GetKind())
	}
	s.foundLateFinalizers(deleted)
	s.foundCrashes()
	s.release(sample)
	s.promise(deleted, s.config.Limits.Converge, sample, func() error { return s.areGone(sample) },
		"a sample isn't gone after its deletion is no longer held up")
}

// serversFinalizers are the finalizers that the API server adds itself, for the garbage collector.
var serversFinalizers = []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents}

// foundLateFinalizers is a finding if the operator tries to add a finalizer to an object that is being
// deleted, which the API server refuses.
func (s *scenario) foundLateFinalizers(began time.Time) {
	refused := s.since(began, func(r audit.Request) bool {
		var sent metav1.PartialObjectMetadata
		isRefused := r.Code == http.StatusUnprocessableEntity || r.Code == http.StatusForbidden
		if !isRefused || json.Unmarshal([]byte(audit.Readable(r.Body)), &sent) != nil {
			return false
		}
		return slices.ContainsFunc(s.history.since(began), func(v snapshot) bool {
			hasMore := len(sent.Finalizers) > len(v.object.GetFinalizers())
			return hasMore && v.object.GetName() == r.Name && v.object.GetDeletionTimestamp() != nil
		})
	})
	s.cause = "delete-held"
	defer func() { s.cause = "" }()
	if len(refused) > 0 {
		s.found(Error, asEvidence(refused), "the operator tries to add a finalizer to an object that is being deleted")
	}
}

// foundLeft is a finding about objects that are still there, if that is the operator's doing: one of
// its finalizers holds an object, or nobody was going to delete it. Otherwise, the cluster's own
// controllers are slow, and nothing can be judged.
func (s *scenario) foundLeft(
	began time.Time, objects []*unstructured.Unstructured, stays func(*unstructured.Unstructured) bool, what string,
) {
	var left []Evidence
	for _, object := range objects {
		now := s.history.now(object)
		if now == nil {
			continue
		}
		isHeld := slices.ContainsFunc(now.GetFinalizers(), func(finalizer string) bool {
			return !slices.Contains(serversFinalizers, finalizer)
		})
		if isDeleted := now.GetDeletionTimestamp() != nil; isDeleted && isHeld || !isDeleted && stays(now) {
			left = append(left, s.present(now)...)
		}
	}
	if len(left) == 0 {
		s.unable("%s, because the cluster's own controllers haven't deleted it yet", what)
	}
	s.found(Error, append(left, s.evidence(began, objects[len(objects)-1])...), "%s", what)
}

func namespaceIsDeleted(s *scenario) {
	if s.isClusterScoped {
		s.skip("%s has no namespace", title(s.samples[0]))
	}
	samples := s.startWith("storm-1", "storm-2", "storm-3")
	// Elsewhere, an operator's account isn't in the namespace that is deleted. So this one must stay
	// until the operator has finished. Its token is valid for a minute after the deletion.
	for _, resource := range accountResources {
		granted := metav1.ListOptions{LabelSelector: operator.GrantedIn}
		list, err := s.dynamic.Resource(resource).Namespace(s.namespace).List(s.ctx, granted)
		s.must(err)
		for _, object := range list.Items {
			s.setFinalizers(&object, []string{foreignFinalizer}) // until tidy
		}
	}
	began := time.Now()
	s.step("delete namespace %s", s.namespace)
	s.must(s.client.CoreV1().Namespaces().Delete(s.ctx, s.namespace, metav1.DeleteOptions{}))
	if err := s.soon(func() error { return s.areGone(samples...) }); err != nil {
		lost := func(r audit.Request) bool { return r.Code == http.StatusUnauthorized }
		if len(s.since(began, lost)) > 0 {
			s.unable("the operator's token has expired before the operator had finished: %s", plain(err))
		}
		stays := func(*unstructured.Unstructured) bool { return false }
		s.foundLeft(began, samples, stays, "the deletion of the namespace doesn't finish: "+plain(err))
	}
	s.pass(settled)
	refused := s.since(began, func(r audit.Request) bool { return r.Verb == "create" && r.Code == http.StatusForbidden })
	s.measure("refused creates during the deletion of a namespace: %d", len(refused))
	// A first try is how an operator finds out, and a few more are what rate limiting lets through.
	if most := 5 * len(samples) * len(s.config.Owns); len(refused) > most {
		s.found(Warning, asEvidence(refused), "while the namespace is being deleted, the operator tries to create objects "+
			"more than %d times for %d samples", most, len(samples))
	}
}
