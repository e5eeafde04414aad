package judge

// Does the operator clean up?

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/operator"
)

func deletionChecks() []Check {
	return []Check{
		{
			Name:    "delete-background",
			Promise: "after a sample is deleted in the background, which is kubectl's default, nothing is left",
			Why:     "Objects that an operator leaves behind keep running, and keep costing money, until somebody finds them.",
			Lesson:  "01-raw-watch/README.md",
			judge:   func(s *scenario) { deletesEverything(s, metav1.DeletePropagationBackground) },
		},
		{
			Name:    "delete-foreground",
			Promise: "after a sample is deleted in the foreground, nothing is left",
			Why: "In a foreground deletion, the sample stays until the objects that it owns are gone. If the " +
				"operator recreates them in the meantime, or adds a finalizer to an object that is being deleted, that " +
				"may never happen.",
			Lesson: "07-tdset-operator/more/deletion.md",
			judge:  func(s *scenario) { deletesEverything(s, metav1.DeletePropagationForeground) },
		},
		{
			Name:    "delete-held",
			Promise: "nothing is created for a sample that is being deleted",
			Why: "With a finalizer, another controller can hold up a deletion for hours. If the operator keeps " +
				"working for the sample in that time, it recreates what is being cleaned up.",
			Lesson: "07-tdset-operator/more/deletion.md",
			judge:  nothingWhileDeleting,
		},
		{
			Name:    "delete-namespace",
			Promise: "deleting a namespace causes no storm of writes",
			Why: "In a namespace that is being deleted, the API server refuses every create. An operator that " +
				"treats this as an ordinary error retries until the namespace is gone, and delays the deletion.",
			Lesson: "07-tdset-operator/more/deletion.md",
			judge:  namespaceIsDeleted,
		},
	}
}

func deletesEverything(s *scenario, how metav1.DeletionPropagation) {
	sample := s.settles("deleted")[0]
	owned := s.owned(sample)
	began := time.Now()
	s.remove(sample, how)
	s.leavesNothing(began, sample, owned, s.config.Limits.Converge.Duration)
	s.pass(settled)
	s.foundLateFinalizers(began)
	s.foundCrashes()
}

// leavesNothing waits until a deleted sample and what it owned are gone.
func (s *scenario) leavesNothing(began time.Time, sample *unstructured.Unstructured, owned []*unstructured.Unstructured, limit time.Duration) {
	everything := func() []*unstructured.Unstructured {
		return slices.Concat(owned, s.owned(sample), []*unstructured.Unstructured{sample})
	}
	err := s.within(limit, func() error { return s.areGone(everything()...) })
	if err == nil {
		return
	}
	s.foundLeft(began, everything(), func(now *unstructured.Unstructured) bool {
		isOld := slices.ContainsFunc(owned, func(o *unstructured.Unstructured) bool { return o.GetUID() == now.GetUID() })
		return !isOld || !refersTo(now, sample) // otherwise, the garbage collector is about to delete it
	}, "after the deletion, "+s.plain(err))
}

// nothingWhileDeleting keeps a sample in deletion by a finalizer. Without one, it would be gone too
// soon: an operator whose cache is behind may create an object once more, which is no bug, because
// the garbage collector deletes that too.
func nothingWhileDeleting(s *scenario) {
	sample := s.settles("held")[0]
	owned := s.owned(sample)
	sample = s.patch(sample, fmt.Sprintf(`{"metadata":{"finalizers":%s}}`, asJSON(append(sample.GetFinalizers(), foreignFinalizer))))
	deleted := time.Now()
	s.remove(sample, metav1.DeletePropagationBackground)
	if err := s.catchesUp("meanwhile"); err != nil {
		s.unable("while the deletion of %s is held up, %v", title(sample), err)
	}
	began := time.Now()
	for _, object := range owned {
		s.remove(object, metav1.DeletePropagationBackground)
	}
	if err := s.catchesUp("afterwards"); err != nil {
		s.unable("while the deletion of %s is held up, %v", title(sample), err)
	}
	for _, v := range s.history.since(began) {
		if owner := metav1.GetControllerOf(v.object); v.event == watch.Added && s.isOwnedKind(v.object) && owner != nil && owner.UID == sample.GetUID() {
			s.find(Error, []Evidence{{At: v.at, Text: title(v.object) + " is created", Detail: text(v.object)}}, "a %s is created for a sample that is being deleted", v.object.GetKind())
		}
	}
	s.foundLateFinalizers(deleted)
	s.foundCrashes()
	if now := s.now(sample); now != nil {
		kept := slices.DeleteFunc(now.GetFinalizers(), func(finalizer string) bool { return finalizer == foreignFinalizer })
		s.step("let the deletion of %s go on", title(sample))
		_, err := s.api(now).Patch(s.Context(), now.GetName(), types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, asJSON(kept)), metav1.PatchOptions{})
		s.must(ignoreNotFound(err))
	}
	if err := s.within(s.config.Limits.Converge.Duration, func() error { return s.areGone(sample) }); err != nil {
		s.find(Error, s.evidence(deleted, sample), "a sample isn't gone after its deletion is no longer held up: %s", s.plain(err))
	}
}

// foundLateFinalizers is a finding for each finalizer that the operator adds, or tries to, to an
// object that is being deleted.
func (s *scenario) foundLateFinalizers(began time.Time) {
	before := map[string][]string{}
	for _, v := range s.history.since(time.Time{}) {
		uid := string(v.object.GetUID())
		known, seen := before[uid]
		if seen && v.object.GetDeletionTimestamp() != nil && v.at.After(began) {
			for _, finalizer := range v.object.GetFinalizers() {
				// The API server adds foregroundDeletion and orphan itself.
				if !slices.Contains(known, finalizer) && finalizer != metav1.FinalizerDeleteDependents && finalizer != metav1.FinalizerOrphanDependents {
					s.find(Error, []Evidence{{At: v.at, Text: title(v.object), Detail: text(v.object)}}, "the finalizer %s is added to a %s that is being deleted", finalizer, v.object.GetKind())
				}
			}
		}
		before[uid] = v.object.GetFinalizers()
	}
	refused := s.since(began, func(r audit.Request) bool {
		return changesObjects(r) && (r.Code == http.StatusUnprocessableEntity || r.Code == http.StatusForbidden) && mentionsFinalizers(r.Body)
	})
	if len(refused) > 0 {
		s.find(Error, seen(refused), "the operator tries to add a finalizer to an object that is being deleted, and "+
			"the API server refuses it")
	}
}

// foundLeft is a finding about objects that are still there, if that is the operator's doing: one of
// its finalizers holds an object, or nobody was going to delete it. Otherwise, the cluster's own
// controllers are slow, and nothing can be judged.
func (s *scenario) foundLeft(began time.Time, objects []*unstructured.Unstructured, stays func(*unstructured.Unstructured) bool, what string) {
	var left []Evidence
	for _, object := range objects {
		now := s.now(object)
		if now == nil {
			continue
		}
		holds := slices.ContainsFunc(now.GetFinalizers(), func(f string) bool {
			return f != metav1.FinalizerDeleteDependents && f != metav1.FinalizerOrphanDependents // the garbage collector's
		})
		if isDeleted := now.GetDeletionTimestamp() != nil; isDeleted && holds || !isDeleted && stays(now) {
			left = append(left, Evidence{At: time.Now(), Text: title(now) + " is left", Detail: text(now)})
		}
	}
	if len(left) == 0 {
		s.unable("%s, because the cluster's own controllers haven't deleted it yet", what)
	}
	s.find(Error, append(left, s.evidence(began, objects[len(objects)-1])...), "%s", what)
}

// holdAccount gives the operator's account these finalizers, in JSON.
func (s *scenario) holdAccount(ctx context.Context, finalizers string) error {
	patch := fmt.Appendf(nil, `{"metadata": {"finalizers": %s}}`, finalizers)
	_, err := s.client.CoreV1().ServiceAccounts(s.namespace).Patch(ctx, operator.ServiceAccount, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func namespaceIsDeleted(s *scenario) {
	samples := s.settles("storm-1", "storm-2", "storm-3")
	// Elsewhere, an operator's account isn't in the namespace that is deleted. So this one must stay
	// until the operator has finished. Its token is valid for a minute after the deletion.
	s.must(s.holdAccount(s.Context(), `["operators.example.com/judge"]`))
	defer func() {
		if err := s.holdAccount(context.WithoutCancel(s.Context()), "null"); err != nil && !apierrors.IsNotFound(err) {
			s.step("remove the finalizer of the operator's account, without which namespace %s stays: %v", s.namespace, err)
		}
	}()
	began := time.Now()
	s.step("delete namespace %s", s.namespace)
	s.must(s.client.CoreV1().Namespaces().Delete(s.Context(), s.namespace, metav1.DeleteOptions{}))
	if err := s.within(s.config.Limits.Converge.Duration, func() error { return s.areGone(samples...) }); err != nil {
		lost := func(r audit.Request) bool {
			return r.Code == http.StatusUnauthorized || r.Code == http.StatusForbidden && r.Verb != "create"
		}
		if len(s.since(began, lost)) > 0 {
			s.unable("the namespace took the operator's account and permissions with it, before the operator had "+
				"finished: %s", s.plain(err))
		}
		s.foundLeft(began, samples, func(*unstructured.Unstructured) bool { return false }, "the deletion of the namespace doesn't finish: "+s.plain(err))
	}
	s.pass(settled)
	refused := s.since(began, func(r audit.Request) bool { return r.IsWrite() && r.Verb == "create" && r.Code == http.StatusForbidden })
	s.measure("refused creates during the deletion of a namespace", float64(len(refused)), "")
	// A first try is how an operator finds out, and a few more are what rate limiting lets through.
	if most := 5 * len(samples) * len(s.config.Owns); len(refused) > most {
		s.find(Warning, seen(refused), "while the namespace is being deleted, the operator tries to create objects "+
			"more than %d times for %d samples", most, len(samples))
	}
}
