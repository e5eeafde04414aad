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

func TestNotReworded(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*schedulev2.TDSet)
		want   bool
	}{
		"nothing has changed: a resync":                                {func(*schedulev2.TDSet) {}, true},
		"a refusal has another message":                                {newly(withRefusal("no, request 2")), false},
		"it is no longer refused":                                      {newly(func(tdset *schedulev2.TDSet) { degradedOf(tdset).Status = metav1.ConditionFalse }), true},
		"it is refused for another reason":                             {newly(func(tdset *schedulev2.TDSet) { degradedOf(tdset).Reason = reasonReplicaFailure }), true},
		"a refusal has another message, and the image has changed":     {newly(withRefusal("no, request 2"), func(tdset *schedulev2.TDSet) { tdset.Generation++ }), true},
		"a refusal has another message, and there is a new annotation": {newly(withRefusal("no, request 2"), annotated[*schedulev2.TDSet]), true},
		"somebody has removed the finalizer":                           {newly(func(tdset *schedulev2.TDSet) { tdset.Finalizers = nil }), true},
		"somebody has changed another part of the status":              {newly(func(tdset *schedulev2.TDSet) { tdset.Status.ActiveWindow = "" }), true},
		"somebody has removed the status":                              {newly(func(tdset *schedulev2.TDSet) { tdset.Status = schedulev2.TDSetStatus{} }), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := aTDSet(settled, withRefusal("no, request 1"))
			before.ResourceVersion = "1"
			after := before.DeepCopy()
			test.change(after)

			if got := ignoreMessages.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
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

// newly applies changes, with a new resourceVersion.
func newly(changes ...func(*schedulev2.TDSet)) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) {
		tdset.ResourceVersion = "2"
		for _, change := range changes {
			change(tdset)
		}
	}
}

func degradedOf(tdset *schedulev2.TDSet) *metav1.Condition {
	return meta.FindStatusCondition(tdset.Status.Conditions, conditionDegraded)
}
