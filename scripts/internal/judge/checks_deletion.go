package judge

// Does the operator clean up?

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		for _, object := range append(owned, sample) {
			if now := b.now(object); now != nil {
				return fmt.Errorf("%s is still there", title(now))
			}
		}
		return nil
	}
	if err := b.within(b.config.Limits.Converge.Duration, gone); err != nil {
		var left []Evidence
		for _, object := range append(owned, sample) {
			if now := b.now(object); now != nil {
				left = append(left, Evidence{At: time.Now(), Text: title(now) + " is left", Detail: text(now)})
			}
		}
		b.find(Error, append(left, b.evidence(began, sample)...), "after the deletion, %s", b.plain(err))
	}
	b.pass(settled)
	for _, v := range b.history.since(began) {
		if v.event == watch.Added && b.isOwnedKind(v.object) && metav1.GetControllerOf(v.object) != nil && metav1.GetControllerOf(v.object).UID == sample.GetUID() {
			b.find(Error, []Evidence{{At: v.at, Text: title(v.object) + " is created", Detail: text(v.object)}}, "a %s is created for a sample that is being deleted", v.object.GetKind())
		}
	}
	b.foundLateFinalizers(began)
	b.foundCrashes()
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
	err := b.within(b.config.Limits.Converge.Duration, func() error {
		for _, sample := range samples {
			if b.now(sample) != nil {
				return fmt.Errorf("%s is still there", title(sample))
			}
		}
		return nil
	})
	if err != nil {
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
