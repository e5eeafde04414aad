package judge

// Does the operator clean up?

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/operators/scripts/internal/audit"
)

func deletionChecks() []Check {
	return []Check{
		{
			Name:    "delete-background",
			Promise: "after a background deletion of a sample, nothing is left",
			Why:     "Objects that an operator leaves behind keep running, and keep costing, until somebody finds them.",
			Lesson:  "01-raw-watch/README.md",
			judge:   func(b *Bench) { deletesEverything(b, metav1.DeletePropagationBackground) },
		},
		{
			Name:    "delete-foreground",
			Promise: "after a foreground deletion of a sample, nothing is left",
			Why:     "The sample stays until its dependents are gone. If the operator recreates them meanwhile, or adds a finalizer to an object that is being deleted, that may never happen.",
			Lesson:  "07-tdset-operator/more/deletion.md",
			judge:   func(b *Bench) { deletesEverything(b, metav1.DeletePropagationForeground) },
		},
		{
			Name:    "delete-held",
			Promise: "nothing is created for a sample that is being deleted",
			Why:     "Another controller's finalizer can hold up a deletion for hours. An operator that goes on working then recreates what is being cleaned up.",
			Lesson:  "07-tdset-operator/more/deletion.md",
			judge:   nothingWhileDeleting,
		},
		{
			Name:    "delete-namespace",
			Promise: "deleting the namespace causes no storm of writes",
			Why:     "In a namespace that is being deleted, every create is refused. An operator that treats this as an ordinary error retries until the namespace is gone, and delays the deletion.",
			Lesson:  "07-tdset-operator/more/deletion.md",
			judge:   namespaceIsDeleted,
		},
	}
}

func deletesEverything(b *Bench, how metav1.DeletionPropagation) {
	sample := b.settles("deleted")[0]
	owned := b.owned(sample)
	began := time.Now()
	b.remove(sample, how)
	gone := func() error {
		return b.areGone(slices.Concat(owned, b.owned(sample), []*unstructured.Unstructured{sample})...)
	}
	if err := b.within(b.config.Limits.Converge.Duration, gone); err != nil {
		var left []Evidence
		for _, object := range slices.Concat(owned, b.owned(sample), []*unstructured.Unstructured{sample}) {
			if now := b.now(object); now != nil {
				left = append(left, Evidence{At: time.Now(), Text: title(now) + " is left", Detail: text(now)})
			}
		}
		b.find(Error, append(left, b.evidence(began, sample)...), "after the deletion, %s", b.plain(err))
	}
	b.pass(settled)
	b.foundLateFinalizers(began)
	b.foundCrashes()
}

// nothingWhileDeleting keeps a sample in deletion by a finalizer. Without one, it would be gone too
// soon: an operator whose cache is behind may create an object once more, which is no bug, because
// the garbage collector deletes that too.
func nothingWhileDeleting(b *Bench) {
	sample := b.settles("held")[0]
	owned := b.owned(sample)
	sample = b.patch(sample, fmt.Sprintf(`{"metadata":{"finalizers":%s}}`, asJSON(append(sample.GetFinalizers(), foreignFinalizer))))
	deleted := time.Now()
	b.remove(sample, metav1.DeletePropagationBackground)
	if err := b.catchesUp("meanwhile"); err != nil {
		b.unable("while the deletion of %s is held up, %v", title(sample), err)
	}
	began := time.Now()
	for _, object := range owned {
		b.remove(object, metav1.DeletePropagationBackground)
	}
	if err := b.catchesUp("afterwards"); err != nil {
		b.unable("while the deletion of %s is held up, %v", title(sample), err)
	}
	for _, v := range b.history.since(began) {
		if owner := metav1.GetControllerOf(v.object); v.event == watch.Added && b.isOwnedKind(v.object) && owner != nil && owner.UID == sample.GetUID() {
			b.find(Error, []Evidence{{At: v.at, Text: title(v.object) + " is created", Detail: text(v.object)}}, "a %s is created for a sample that is being deleted", v.object.GetKind())
		}
	}
	b.foundLateFinalizers(deleted)
	b.foundCrashes()
	if now := b.now(sample); now != nil {
		kept := slices.DeleteFunc(now.GetFinalizers(), func(finalizer string) bool { return finalizer == foreignFinalizer })
		b.step("let the deletion of %s go on", title(sample))
		_, err := b.api(now).Patch(b.Context(), now.GetName(), types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, asJSON(kept)), metav1.PatchOptions{})
		b.must(ignoreNotFound(err))
	}
	if err := b.within(b.config.Limits.Converge.Duration, func() error { return b.areGone(sample) }); err != nil {
		b.find(Error, b.evidence(deleted, sample), "a sample whose deletion was held up isn't gone afterwards: %s", b.plain(err))
	}
}

// foundLateFinalizers is a finding for each finalizer that the operator adds, or tries to, to an
// object that is being deleted.
func (b *Bench) foundLateFinalizers(began time.Time) {
	before := map[string][]string{}
	for _, v := range b.history.since(time.Time{}) {
		uid := string(v.object.GetUID())
		known, seen := before[uid]
		if seen && v.object.GetDeletionTimestamp() != nil && v.at.After(began) {
			for _, finalizer := range v.object.GetFinalizers() {
				// The API server adds foregroundDeletion and orphan itself.
				if !slices.Contains(known, finalizer) && finalizer != metav1.FinalizerDeleteDependents && finalizer != metav1.FinalizerOrphanDependents {
					b.find(Error, []Evidence{{At: v.at, Text: title(v.object), Detail: text(v.object)}}, "the finalizer %s is added to a %s that is being deleted", finalizer, v.object.GetKind())
				}
			}
		}
		before[uid] = v.object.GetFinalizers()
	}
	refused := b.since(began, func(r audit.Request) bool {
		return changesObjects(r) && (r.Code == http.StatusUnprocessableEntity || r.Code == http.StatusForbidden) && mentionsFinalizers(r.Body)
	})
	if len(refused) > 0 {
		b.find(Error, seen(refused), "the operator tries to add a finalizer to an object that is being deleted, and the API server refuses it")
	}
}

func namespaceIsDeleted(b *Bench) {
	samples := b.settles("storm-1", "storm-2", "storm-3")
	began := time.Now()
	b.step("delete namespace %s", b.namespace)
	b.must(b.client.CoreV1().Namespaces().Delete(b.Context(), b.namespace, metav1.DeleteOptions{}))
	if err := b.within(b.config.Limits.Converge.Duration, func() error { return b.areGone(samples...) }); err != nil {
		b.find(Error, b.evidence(began, samples[0]), "the deletion of the namespace doesn't end: %s", b.plain(err))
	}
	b.pass(settled)
	refused := b.since(began, func(r audit.Request) bool { return r.IsWrite() && r.Verb == "create" && r.Code == http.StatusForbidden })
	b.measure("refused creates during the deletion of a namespace", float64(len(refused)), "")
	// A first try is how an operator finds out, and a few more are what rate limiting lets through.
	if most := 5 * len(samples) * len(b.config.Owns); len(refused) > most {
		b.find(Warning, seen(refused), "while the namespace is deleted, the operator tries more than %d creates for %d samples", most, len(samples))
	}
}
