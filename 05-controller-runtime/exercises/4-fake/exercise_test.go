//go:build check || solution

// These tests test a test: they give reconcilers to Judge. Three are right, and Judge must say so
// of each, although they work in different ways. The others each do one thing wrong, and Judge must
// find a fault. It doesn't matter which one.
//
// As given, Judge is satisfied with nearly all of them. `workshop test` checks these failures:
//
// fails: TestRight/one that does all in one call
// says: it is right, and Judge says: all is well: it returned the error foos.samplecontroller.k8s.io "example" not found
//
// fails: TestWrong/one that writes the status with the object
// says: updatesTheObject went unnoticed
//
// fails: TestWrong/one that overwrites the spec if a user was faster
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
// fails: TestWrong/one that leaves the Deployment as it was made
// says: ignoresScaling went unnoticed
//
// fails: TestWrong/one that makes the Deployment of a Foo that is being deleted
// says: ignoresDeletion went unnoticed
//
// fails: TestWrong/one to which a Foo that is gone is an error
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
			why: "after a write it does nothing more, since the event of that brings it back: so call it as long as anything changes,\n" +
				"and judge what is there in the end, not which requests it took",
		},
		"one that does all in one call": {
			build: rightAtOnce,
			why: "it also starts over by itself after a conflict, so it returns no error after one:\n" +
				"judge what is there in the end, not how it got there",
		},
		"one that comes again a second after a conflict": {
			build: rightLater,
			why: "when its write is refused it returns no error, and a RequeueAfter: that is a reason to call it again, also if nothing has\n" +
				"changed. Look at what it returns, and not at the error alone",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			crash, found := judged(t, test.build)
			switch {
			case crash != "":
				t.Error(crash)
			case found != nil && strings.Contains(found.Error(), `foos.samplecontroller.k8s.io "example" not found`):
				t.Errorf("it is right, and Judge says: %v\nIf the Foo is there, then what isn't found is its status subresource: the fake client "+
					"reads no CRD, and must be told of it", found)
			case found != nil:
				t.Errorf("it is right, and Judge says: %v\n%s", found, test.why)
			}
		})
	}
}

func TestWrong(t *testing.T) {
	faultInRight := false // Judge finds fault with a reconciler that is right
	for _, build := range []Build{right, rightAtOnce, rightLater} {
		if _, found := judged(t, build); found != nil {
			faultInRight = true
		}
	}
	for sentence, test := range map[string]struct {
		name  string // in reconcilers.go
		build Build
		why   string
	}{
		"one that writes the status with the object": {
			name: "updatesTheObject", build: updatesTheObject,
			why: "it writes the status by Update of the whole Foo, and a server with a status subresource ignores it there:\n" +
				"so its status never says anything. Does your server have that endpoint? Does Judge look at the status in the end?",
		},
		"one that overwrites the spec if a user was faster": {
			name: "overwritesTheSpec", build: overwritesTheSpec,
			why: "it writes the whole Foo as it has read it, so if a user scales it in between, that is undone.\n" +
				"Have it happen just then: a function in interceptor.Funcs may do something first (Scale), and then what it was asked for.\n" +
				"And does Judge compare the spec with what the user has asked for last?",
		},
		"one that swallows a conflict": {
			name: "swallowsConflicts", build: swallowsConflicts,
			why: "a write of its status is refused, and it returns nil. Mostly the event of the other's write brings it back; but not if\n" +
				"a predicate filters that. So refuse one write, with nothing else changed, and call it again only if there is a reason:\n" +
				"who always calls again never notices",
		},
		"one that swallows an error": {
			name: "swallowsErrors", build: swallowsErrors,
			why: "it can't create the Deployment, says so in the log, and returns nil: so nothing brings it back. Have Create fail once,\n" +
				"and call it again only if there is a reason: who always calls again never notices",
		},
		"one that writes the status each time": {
			name: "writesEachTime", build: writesEachTime,
			why: "it doesn't compare before it writes: with each resync, that is a write for every Foo. Once all is as it should be,\n" +
				"does Judge call it once more, and see whether it has written? (The resourceVersion tells.)",
		},
		"one that leaves the Deployment as it was made": {
			name: "ignoresScaling", build: ignoresScaling,
			why: "it makes the Deployment, and never looks at it again: so who scales the Foo gets no Pods, and a status that says all is well.\n" +
				"Does a user scale in any scenario once there is a Deployment? Does Judge compare the Deployment's replicas in the end?",
		},
		"one that makes the Deployment of a Foo that is being deleted": {
			name: "ignoresDeletion", build: ignoresDeletion,
			why: "the garbage collector has deleted that Deployment, and here it is again.\n" +
				"Is there a Foo with a deletionTimestamp in any scenario? Does Judge look for a Deployment there?",
		},
		"one to which a Foo that is gone is an error": {
			name: "ignoresNotFound", build: ignoresNotFound,
			why: "each deletion of a Foo ends with an event, and so with a call for a Foo that isn't there: that is an error forever.\n" +
				"Is there a scenario without a Foo?",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			switch crash, found := judged(t, test.build); {
			case crash != "":
				t.Error(crash)
			case found == nil:
				t.Errorf("%s went unnoticed: %s", test.name, test.why)
			case faultInRight:
				t.Errorf("Judge finds fault with %s, and with a right one too: so far that means nothing", test.name)
			default:
				t.Logf("of %s Judge says: %v", test.name, found)
			}
		})
	}
}

// tooMany calls of one reconciler are more than any scenario needs, so it panics with errEndless.
const tooMany = 1000

var errEndless = errors.New("it finds no end")

// judged calls Judge. If Judge panics, crash says where and why. Judge runs in a bubble of
// testing/synctest, where a sleep takes no time, and waiting forever is noticed.
func judged(t *testing.T, build Build) (crash string, found error) {
	defer func() {
		if problem := recover(); problem != nil {
			crash = fmt.Sprintf("Judge waits for something that never comes, or left something running: %v", problem)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			switch problem := recover(); problem {
			case nil:
			case errEndless:
				crash = fmt.Sprintf("Judge has called this reconciler %d times%s, and finds no end: set a limit", tooMany, place())
			default:
				crash = fmt.Sprintf("Judge panicked%s: %v", place(), problem)
			}
		}()
		calls := 0
		found = Judge(t.Context(), func(api client.Client) reconcile.Reconciler {
			r := build(api)
			return reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
				if calls++; calls > tooMany {
					panic(errEndless)
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
