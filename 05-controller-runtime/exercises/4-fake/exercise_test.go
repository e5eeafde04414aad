//go:build check || solution

// These tests test a test: they give reconcilers to Judge. Three are right, and Judge must say so
// of each, although they work in different ways. The others each do one thing wrong, and Judge must
// find a fault. It doesn't matter which one.
//
// As given, Judge is satisfied with nearly all of them. `workshop test` checks these failures:
//
// fails: TestRight/one that does everything in one call
// says: it is right, but Judge returned: all is well: Reconcile returned the error foos.samplecontroller.k8s.io "example" not found
//
// fails: TestWrong/one that writes the status by updating the whole Foo
// says: updatesTheObject went unnoticed
//
// fails: TestWrong/one that overwrites a user's change to the spec
// says: overwritesTheSpec went unnoticed
//
// fails: TestWrong/one that swallows a conflict
// says: swallowsConflicts went unnoticed
//
// fails: TestWrong/one that swallows an error
// says: swallowsErrors went unnoticed
//
// fails: TestWrong/one that writes the status each time
// says: writesEachTime went unnoticed
//
// fails: TestWrong/one that never updates the Deployment
// says: ignoresScaling went unnoticed
//
// fails: TestWrong/one that creates a Deployment for a Foo that is being deleted
// says: ignoresDeletion went unnoticed
//
// fails: TestWrong/one that returns an error for a Foo that is gone
// says: ignoresNotFound went unnoticed

package judge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

func TestRight(t *testing.T) {
	for sentence, test := range map[string]struct {
		build Build
		why   string
	}{
		"one that returns after a write, and waits for the event": {
			build: right,
			why: "after a write it returns, because the event of the write enqueues the Foo again. So call it as long as anything changes,\n" +
				"and judge the objects in the end, not the requests",
		},
		"one that does everything in one call": {
			build: rightAtOnce,
			why: "it also retries by itself after a conflict, so it returns no error then.\n" +
				"Judge the objects in the end, not how they got there",
		},
		"one that is requeued a second after a conflict": {
			build: rightLater,
			why: "when its write is refused, it returns a RequeueAfter and no error. So call it again even if nothing has changed:\n" +
				"look at the whole result, not only at the error",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			crash, found := judged(t, test.build)
			switch {
			case crash != "":
				t.Error(crash)
			case found != nil && strings.Contains(found.Error(), `foos.samplecontroller.k8s.io "example" not found`):
				t.Errorf("it is right, but Judge returned: %v\nThe Foo exists, so its status subresource wasn't found: the fake client reads no CRD, "+
					"so the test must set WithStatusSubresource", found)
			case found != nil:
				t.Errorf("it is right, but Judge returned: %v\n%s", found, test.why)
			}
		})
	}
}

func TestWrong(t *testing.T) {
	rejectsRight := false // Judge finds fault with a reconciler that is right
	for _, build := range []Build{right, rightAtOnce, rightLater} {
		if _, found := judged(t, build); found != nil {
			rejectsRight = true
		}
	}
	for sentence, test := range map[string]struct {
		name  string // in reconcilers.go
		build Build
		why   string
	}{
		"one that writes the status by updating the whole Foo": {
			name: "updatesTheObject", build: updatesTheObject,
			why: "it writes the status with an Update of the whole Foo, and a server with a status subresource ignores that status.\n" +
				"Does your server have the subresource? Does Judge look at the status in the end?",
		},
		"one that overwrites a user's change to the spec": {
			name: "overwritesTheSpec", build: overwritesTheSpec,
			why: "it writes the whole Foo as it has read it, so if a user scales the Foo in between, that is lost.\n" +
				"To scale at that moment, let a function in interceptor.Funcs call Scale first, and then pass on the request.\n" +
				"And does Judge compare the spec with the number that the user asked for last?",
		},
		"one that swallows a conflict": {
			name: "swallowsConflicts", build: swallowsConflicts,
			why: "if its status write is refused, it returns nil. Usually the event of the other write enqueues the Foo again, but not if\n" +
				"a predicate drops it. So refuse one write, change nothing else, and call it again only if there is a reason:\n" +
				"a test that always calls it again never notices",
		},
		"one that swallows an error": {
			name: "swallowsErrors", build: swallowsErrors,
			why: "if it can't create the Deployment, it logs that and returns nil, so nothing retries it. Let Create fail once,\n" +
				"and call it again only if there is a reason: a test that always calls it again never notices",
		},
		"one that writes the status each time": {
			name: "writesEachTime", build: writesEachTime,
			why: "it doesn't compare before it writes, so each call causes a write, and each write another call. Once everything is up to date,\n" +
				"does Judge call it once more, and check that it writes nothing? (Compare the resourceVersions.)",
		},
		"one that never updates the Deployment": {
			name: "ignoresScaling", build: ignoresScaling,
			why: "it creates the Deployment, and never updates it. If you scale the Foo, you get no Pods, but the status looks fine.\n" +
				"Is there a scenario in which a user scales when the Deployment exists? Does Judge check the Deployment's replicas in the end?",
		},
		"one that creates a Deployment for a Foo that is being deleted": {
			name: "ignoresDeletion", build: ignoresDeletion,
			why: "the garbage collector has deleted that Deployment, and this reconciler creates it again.\n" +
				"Is there a scenario with a deletionTimestamp? Does Judge check that there is no Deployment?",
		},
		"one that returns an error for a Foo that is gone": {
			name: "ignoresNotFound", build: ignoresNotFound,
			why: "each deletion of a Foo causes an event, and so a call for a Foo that is gone. This reconciler then fails forever.\n" +
				"Is there a scenario without a Foo?",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			switch crash, found := judged(t, test.build); {
			case crash != "":
				t.Error(crash)
			case found == nil:
				t.Errorf("%s went unnoticed: %s", test.name, test.why)
			case rejectsRight:
				t.Errorf("Judge finds fault with %s, but also with a reconciler that is right, so this proves nothing yet", test.name)
			default:
				t.Logf("Judge returned about %s: %v", test.name, found)
			}
		})
	}
}

// tooMany calls of one reconciler are more than any scenario needs, so it panics with errTooManyCalls.
const tooMany = 1000

var errTooManyCalls = errors.New("too many calls")

// judged calls Judge. If Judge panics, crash says where and why. Judge runs in a bubble of
// testing/synctest, where a sleep takes no time, and waiting forever is noticed.
func judged(t *testing.T, build Build) (crash string, found error) {
	defer func() {
		if problem := recover(); problem != nil {
			crash = fmt.Sprintf("Judge waits forever, or has left a goroutine running: %v", problem)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			switch problem := recover(); problem {
			case nil:
			case errTooManyCalls:
				crash = fmt.Sprintf("Judge has called this reconciler %d times%s: set a limit", tooMany, place())
			default:
				crash = fmt.Sprintf("Judge panicked%s: %v", place(), problem)
			}
		}()
		calls := 0
		found = Judge(t.Context(), func(api client.Client) reconcile.Reconciler {
			r := build(api)
			return reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
				if calls++; calls > tooMany {
					panic(errTooManyCalls)
				}
				return r.Reconcile(ctx, key)
			})
		})
	})
	return crash, found
}

// place returns the line of exercise.go that panicked. It is called during the panic.
func place() string {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.File, "/exercise.go") {
			return fmt.Sprintf(" at exercise.go:%d", frame.Line)
		}
		if !more {
			return ""
		}
	}
}
