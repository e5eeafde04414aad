//go:build check || solution

// These tests measure what is left after some thousand calls of Reconcile: goroutines, and bytes on
// the heap after a garbage collection. The limits are far above what one Foo needs.
//
// fails: TestGoroutines/a deleted Foo's goroutine ends
// says: 200 goroutines are left
//
// fails: TestMemory/deleted Foos leave nothing behind
// says: after 2000 Foos that were created and deleted
//
// fails: TestMemory/a Foo that changes often has one report
// says: after 2000 changes of one Foo
//
// fails: TestMemory/the history is short, however long the program runs
// says: after 20000 calls for one Foo that didn't change
//
// fails: TestProbes/a deleted Foo isn't probed any more
// says: it was probed 10 times in the ten minutes after its deletion, want 0

package leak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// kept keeps what the tests have made, so that -memprofile, which is written at the end, shows it.
var kept []*Prober

func TestGoroutines(t *testing.T) {
	t.Run("a deleted Foo's goroutine ends", func(t *testing.T) {
		before := runtime.NumGoroutine()
		f := newFoos(t)
		for i := range 200 {
			name := fmt.Sprint(i)
			f.put(name, 1)
			f.remove(name)
		}
		left := 0
		for range 100 { // a goroutine needs a moment to end
			if left = runtime.NumGoroutine() - before; left <= 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		var profile bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfterN(profile.String(), "\n", 6)
		t.Errorf("%d goroutines are left; the goroutine profile begins with\n%s", left, strings.Join(lines[:len(lines)-1], ""))
	})
}

func TestMemory(t *testing.T) {
	t.Run("deleted Foos leave nothing behind", func(t *testing.T) {
		f := newFoos(t)
		f.retains(500_000, "2000 Foos that were created and deleted", func() {
			for i := range 2000 {
				name := fmt.Sprint(i)
				f.put(name, 1)
				f.remove(name)
			}
		})
	})
	t.Run("a Foo that changes often has one report", func(t *testing.T) {
		f := newFoos(t)
		f.retains(500_000, "2000 changes of one Foo", func() {
			for i := range 2000 {
				f.put("a", int64(i+1))
			}
		})
		if f.prober.Report(key("a"), 2000) == "" {
			t.Error("there is no report about its last generation")
		}
	})
	t.Run("the history is short, however long the program runs", func(t *testing.T) {
		f := newFoos(t)
		f.retains(500_000, "20000 calls for one Foo that didn't change", func() {
			for range 20_000 {
				f.put("a", 1)
			}
		})
		if got := len(f.prober.History()); got != 100 {
			t.Errorf("the history has %d lines, want the last 100", got)
		}
	})
}

func TestProbes(t *testing.T) {
	t.Run("a Foo is probed once a minute, however often it is reconciled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFoos(t)
			for range 5 {
				f.put("a", 1)
			}
			time.Sleep(10*time.Minute + time.Second)
			if f.probes != 10 {
				t.Errorf("it was probed %d times in ten minutes, want 10", f.probes)
			}
		})
	})
	t.Run("a deleted Foo isn't probed any more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFoos(t)
			f.put("a", 1)
			f.remove("a")
			time.Sleep(10*time.Minute + time.Second)
			if f.probes != 0 {
				t.Errorf("it was probed %d times in the ten minutes after its deletion, want 0", f.probes)
			}
		})
	})
	t.Run("a Foo that is created again is probed again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFoos(t)
			f.put("a", 1)
			f.remove("a")
			f.put("a", 1)
			time.Sleep(10*time.Minute + time.Second)
			if f.probes != 10 {
				t.Errorf("it was probed %d times in ten minutes, want 10", f.probes)
			}
			if f.prober.Report(key("a"), 1) == "" {
				t.Error("there is no report about it")
			}
		})
	})
}

// The API server doesn't answer for a moment. That says nothing about the Foo.
func TestAFailedRead(t *testing.T) {
	t.Run("Reconcile returns the error, so it is called again", func(t *testing.T) {
		f := newFoos(t)
		f.fails = errors.New("the API server doesn't answer")
		if _, err := f.prober.Reconcile(f.ctx, ctrl.Request{NamespacedName: key("a")}); !errors.Is(err, f.fails) {
			t.Errorf("it returned the error %v, want %q", err, f.fails)
		}
	})
	t.Run("the Foo is still probed, and keeps its report", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFoos(t)
			f.put("a", 1)
			f.fails = errors.New("the API server doesn't answer")
			_, _ = f.prober.Reconcile(f.ctx, ctrl.Request{NamespacedName: key("a")})
			time.Sleep(10*time.Minute + time.Second)
			if f.probes != 10 {
				t.Errorf("it was probed %d times in ten minutes, want 10: the error wasn't NotFound", f.probes)
			}
			if f.prober.Report(key("a"), 1) == "" {
				t.Error("there is no report about it any more: the error wasn't NotFound")
			}
		})
	})
}

// foos is a cluster with Foos, and a prober that is told about each change.
type foos struct {
	client.Reader
	t      *testing.T
	ctx    context.Context // the manager's
	prober *Prober
	stored map[types.NamespacedName]*samplecontrollerv1alpha1.Foo
	fails  error // the answer to each Get, unless it is nil
	probes int
}

func newFoos(t *testing.T) *foos {
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	f := &foos{t: t, ctx: ctx, stored: map[types.NamespacedName]*samplecontrollerv1alpha1.Foo{}}
	f.prober = &Prober{Client: f, Probe: func(context.Context, types.NamespacedName) { f.probes++ }}
	kept = append(kept, f.prober)
	return f
}

func (f *foos) Get(_ context.Context, name types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	if f.fails != nil {
		return f.fails
	}
	foo, found := f.stored[name]
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "foos"}, name.Name)
	}
	foo.DeepCopyInto(into.(*samplecontrollerv1alpha1.Foo))
	return nil
}

// put creates or changes a Foo.
func (f *foos) put(name string, generation int64) {
	f.stored[key(name)] = &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Generation: generation},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: name},
	}
	f.reconcile(name)
}

func (f *foos) remove(name string) {
	delete(f.stored, key(name))
	f.reconcile(name)
}

func (f *foos) reconcile(name string) {
	f.t.Helper()
	if _, err := f.prober.Reconcile(f.ctx, ctrl.Request{NamespacedName: key(name)}); err != nil {
		f.t.Fatal(err)
	}
}

// retains runs work, and fails if more than that many bytes are still in use afterwards.
func (f *foos) retains(most int64, what string, work func()) {
	f.t.Helper()
	before := inUse()
	work()
	if left := inUse() - before; left > most {
		f.t.Errorf("after %s, %d kB more are in use than before, want at most %d kB: what keeps them?", what, left/1000, most/1000)
	}
}

// inUse returns the bytes of all reachable objects.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // the second one frees what finalizers and pools had kept
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}
