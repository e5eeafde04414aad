// A reconciler writes a status once, and you expect one call. There are two, because its own write
// changes the Foo, and each change of the Foo causes an event. If every call writes something new,
// such as the time, the reconciler triggers itself forever.
//
// Compare before you write. A GenerationChangedPredicate drops these events too, but also others:
// changes of labels and annotations, resyncs, and a status that someone else has overwritten.

package pitfalls

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/05-controller-runtime/test/testenv"
)

// writeTime is wrong: it changes the status in every call.
func writeTime(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo) error {
	meta.SetStatusCondition(&foo.Status.Conditions, metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Checked",
		Message: time.Now().Format(time.RFC3339Nano),
	})
	return c.Status().Update(ctx, foo)
}

// compareFirst is right: it writes nothing if the status is up to date.
func compareFirst(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo) error {
	if foo.Status.ObservedGeneration == foo.Generation {
		return nil
	}
	foo.Status.ObservedGeneration = foo.Generation
	return c.Status().Update(ctx, foo)
}

func TestWhoWokeMe(t *testing.T) {
	onlyNewSpecs := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	for _, test := range []struct {
		sentence string
		sync     func(context.Context, client.Client, *samplecontrollerv1alpha1.Foo) error
		filter   []builder.ForOption
		want     int
	}{
		{"wrong: write the time", writeTime, nil, 10}, // where the test stops it
		{"right: compare first", compareFirst, nil, 2},
		{"right: only new specs", compareFirst, []builder.ForOption{onlyNewSpecs}, 1},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := testenv.New(t)
			mgr := c.NewManager(t)
			calls, enough, later := 0, make(chan struct{}), make(chan struct{})
			reconciler := func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				if req.Name == "later" {
					close(later)
					return ctrl.Result{}, nil
				}
				if calls++; calls == test.want {
					defer close(enough)
				}
				foo := &samplecontrollerv1alpha1.Foo{}
				if err := c.Get(ctx, req.NamespacedName, foo); err != nil || calls == 10 {
					return ctrl.Result{}, err
				}
				return ctrl.Result{}, test.sync(ctx, c, foo)
			}
			foos := ctrl.NewControllerManagedBy(mgr).For(&samplecontrollerv1alpha1.Foo{}, test.filter...)
			must(t, foos.Complete(reconcile.Func(reconciler)))
			start(t, mgr)

			must(t, c.Create(t.Context(), aFoo(c.Meta("first"))))
			select {
			case <-enough:
			case <-time.After(time.Minute):
				t.Fatalf("Reconcile was called fewer than %d times", test.want)
			}
			// There is one worker, so it gets to this Foo after all events of the first one.
			must(t, c.Create(t.Context(), aFoo(c.Meta("later"))))
			<-later
			t.Logf("one Foo was created; calls of Reconcile: %d", calls)
			if calls != test.want {
				t.Errorf("got %d calls, want %d", calls, test.want)
			}
		})
	}
}
