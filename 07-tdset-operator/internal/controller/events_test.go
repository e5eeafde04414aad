// Which events enqueue which TDSets. life_test.go shows that the events arrive.

package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The other updates of a status are enqueued: see TestTheCacheIsOlderThanTheStatus.
func TestRepeatedRefusalsAreIgnored(t *testing.T) {
	refused, refusedAgain := withRefusal("no, request 1"), withRefusal("no, request 2")
	for sentence, test := range map[string]struct {
		before, after *schedulev2.TDSet
		want          bool
	}{
		"a write is refused":                    {aTDSet(settled), aTDSet(settled, refused), true},
		"it is refused again":                   {aTDSet(settled, refused), aTDSet(settled, refusedAgain), false},
		"it is no longer refused":               {aTDSet(settled, refused), aTDSet(settled), true},
		"it is refused again for a new spec":    {aTDSet(settled, refused), aTDSet(settled, refusedAgain, edited), true},
		"somebody has removed the finalizer":    {aTDSet(settled), aTDSet(), true},
		"somebody has removed the whole status": {aTDSet(settled, refused), aTDSet(known), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := ignoreRepeatedRefusals.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
				t.Errorf("enqueued: %v, want %v", got, test.want)
			}
		})
	}
}

// A Deployment or a Service concerns the TDSet of its name, no matter whose it is. Most of a
// cluster's have nothing to do with a TDSet.
func TestEventsOfOtherObjects(t *testing.T) {
	cache := newFake().WithObjects(aTDSet(withService(80))).Build()
	db := aTDSet(named("db"), withService(80))
	for sentence, test := range map[string]struct {
		happens func(queue)
		want    string
	}{
		"a Deployment of a TDSet's name is deleted": {func(q queue) {
			enqueueTDSetOfName(cache).Delete(t.Context(), event.DeleteEvent{Object: deploymentOf(aTDSet(), unowned)}, q)
		}, "default/web"},
		"a Service of a TDSet's name is created": {func(q queue) {
			enqueueTDSetOfName(cache).Create(t.Context(), event.CreateEvent{Object: serviceOf(aTDSet(withService(80)))}, q)
		}, "default/web"},
		"a Deployment of another name is created": {func(q queue) {
			enqueueTDSetOfName(cache).Create(t.Context(), event.CreateEvent{Object: deploymentOf(db)}, q)
		}, ""},
		"a TDSet's Pod is deleted": {func(q queue) {
			enqueueTDSetOfPod(t.Context(), event.DeleteEvent{Object: podOf(aTDSet())}, q)
		}, "default/web"},
	} {
		t.Run(sentence, func(t *testing.T) {
			q := workqueue.NewTypedRateLimitingQueue(controllerOptions().RateLimiter)
			defer q.ShutDown()

			test.happens(q)

			got := ""
			if q.Len() > 0 {
				request, _ := q.Get()
				got = request.String()
			}
			if got != test.want {
				t.Errorf("enqueued %q, want %q", got, test.want)
			}
		})
	}
}

// withRefusal marks the TDSet as refused, with this message.
func withRefusal(words string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) {
		refused := condition(conditionDegraded, true, reasonRefused, "%s", words)
		refused.LastTransitionTime = earlier
		meta.SetStatusCondition(&tdset.Status.Conditions, refused)
	}
}

// edited makes it a newer spec.
func edited(tdset *schedulev2.TDSet) { tdset.Generation++ }

func degradedOf(tdset *schedulev2.TDSet) *metav1.Condition {
	return meta.FindStatusCondition(tdset.Status.Conditions, conditionDegraded)
}
