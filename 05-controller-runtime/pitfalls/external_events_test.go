// Something outside of the cluster should trigger a reconcile: a registry has a new image, and calls
// a webhook of your program. source.Channel turns what you send to a Go channel into requests for
// Reconcile. But nobody reads the channel until the controller runs, so on a replica that doesn't
// lead, the send blocks. And while no program runs, nobody sends, and nothing is repeated later.
//
// So let each send end with its caller's context. Treat an event as a hint that says which object to
// look at, and let Reconcile ask the registry. At every start, it is called for every object.

package pitfalls

import (
	"context"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/05-controller-runtime/test/testenv"
)

// notify is right: it returns an error when the caller of the webhook has hung up, or when the
// caller's time is over. A registry then calls again.
func notify(ctx context.Context, events chan<- event.GenericEvent, foo *samplecontrollerv1alpha1.Foo) error {
	select {
	case events <- event.GenericEvent{Object: foo}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watchRegistry calls reconcileFoo with the name of each Foo that is new, has changed, or is sent to
// events.
func watchRegistry(t *testing.T, mgr ctrl.Manager, events <-chan event.GenericEvent, reconcileFoo func(name string)) {
	t.Helper()
	reconciler := func(_ context.Context, req ctrl.Request) (ctrl.Result, error) {
		reconcileFoo(req.Name)
		return ctrl.Result{}, nil
	}
	must(t, ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}).
		WatchesRawSource(source.Channel(events, &handler.EnqueueRequestForObject{})).
		Complete(reconcile.Func(reconciler)))
}

func TestExternalEvents(t *testing.T) {
	t.Run("wrong: send while nobody reads", func(t *testing.T) {
		c := testenv.New(t)
		mgr := c.NewManager(t)
		events := make(chan event.GenericEvent, 2)
		calls := make(chan string, 10)
		watchRegistry(t, mgr, events, func(name string) { calls <- name })

		sent := 0
		hungUp, hangUp := context.WithCancel(t.Context())
		for len(events) < cap(events) {
			must(t, notify(t.Context(), events, aFoo(c.Meta("a"))))
			sent++
		}
		hangUp() // without this, the next send would block until the controller starts
		err := notify(hungUp, events, aFoo(c.Meta("a")))
		t.Logf("before the controller runs: sent %d, and then: %v", sent, err)
		if err == nil {
			t.Error("a full channel took another event")
		}

		start(t, mgr)
		must(t, notify(t.Context(), events, aFoo(c.Meta("a"))))
		t.Logf("when it runs: Reconcile is called for %s", <-calls)
	})

	for _, test := range []struct {
		sentence string
		// tagOf returns what Reconcile knows about a Foo's newest image.
		tagOf func(registry, received map[string]string, name string) string
		want  string
	}{
		{
			sentence: "wrong: remember what events said",
			tagOf:    func(_, received map[string]string, name string) string { return received[name] },
			want:     "",
		},
		{
			sentence: "right: ask when an event arrives, and at the start",
			tagOf:    func(registry, _ map[string]string, name string) string { return registry[name] },
			want:     "v2",
		},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := testenv.New(t)
			must(t, c.Create(t.Context(), aFoo(c.Meta("a"))))
			// The registry got v2 while the program was down, so nobody received the event.
			registry, received := map[string]string{"a": "v2"}, map[string]string{}
			tags := make(chan string, 10)
			mgr := c.NewManager(t)
			watchRegistry(t, mgr, make(chan event.GenericEvent), func(name string) {
				tags <- test.tagOf(registry, received, name)
			})
			start(t, mgr)

			got := <-tags
			t.Logf("after a restart, Reconcile knows the tag %q", got)
			if got != test.want {
				t.Errorf("got the tag %q, want %q", got, test.want)
			}
		})
	}
}
