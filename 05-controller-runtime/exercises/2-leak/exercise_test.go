//go:build check || solution

// These tests measure what is left after some thousand calls of Reconcile: goroutines, and bytes on
// the heap after a garbage collection. The limits are far above what one Foo needs.
//
// fails: TestGoroutines
// says: 200 goroutines are left
//
// fails: TestMemory/2000 Foos that were created and deleted
// says: kB more are in use than before
//
// fails: TestMemory/2000 changes of one Foo
// says: kB more are in use than before
//
// fails: TestMemory/20000 calls for one Foo that didn't change
// says: kB more are in use than before
//
// fails: TestProbes/a deleted Foo isn't probed any more
// says: it was probed 10 times in ten minutes, want 0

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
	before := runtime.NumGoroutine()
	createAndDelete(newFoos(t), 200)
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
}

func TestMemory(t *testing.T) {
	for sentence, work := range map[string]func(*foos){
		"2000 Foos that were created and deleted": func(f *foos) { createAndDelete(f, 2000) },
		"2000 changes of one Foo": func(f *foos) {
			for i := range 2000 {
				f.put("a", int64(i+1))
			}
		},
		"20000 calls for one Foo that didn't change": func(f *foos) {
			for range 20_000 {
				f.put("a", 1)
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			const most = 500_000 // bytes
			f := newFoos(t)
			before := inUse()
			work(f)
			if left := inUse() - before; left > most {
				t.Errorf("after %s, %d kB more are in use than before, want at most %d kB: what keeps them?", sentence, left/1000, most/1000)
			}
			if got := len(f.prober.History()); got != 100 {
				t.Errorf("the history has %d lines, want the last 100", got)
			}
		})
	}
}

func TestProbes(t *testing.T) {
	for sentence, happens := range map[string]func(*foos){
		"a Foo is probed once a minute, however often it changes": func(f *foos) { f.put("a", 1); f.put("a", 2) },
		"a deleted Foo isn't probed any more":                     func(f *foos) { f.put("a", 1); f.remove("a") },
		"a Foo that is created again is probed again":             func(f *foos) { f.put("a", 1); f.remove("a"); f.put("a", 1) },
		"a failed read says nothing about the Foo":                func(f *foos) { f.put("a", 1); f.failToRead("a") },
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, want := newFoos(t), 0
				happens(f)
				time.Sleep(10*time.Minute + time.Second)
				if foo, exists := f.stored[key("a")]; exists {
					want = 10
					if f.prober.Report(key("a"), foo.Generation) == "" {
						t.Errorf("there is no report about generation %d of the Foo", foo.Generation)
					}
				}
				if f.probes != want {
					t.Errorf("it was probed %d times in ten minutes, want %d", f.probes, want)
				}
			})
		})
	}
}

func createAndDelete(f *foos, count int) {
	for i := range count {
		f.put(fmt.Sprint(i), 1)
		f.remove(fmt.Sprint(i))
	}
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

// failToRead calls Reconcile while the API server doesn't answer.
func (f *foos) failToRead(name string) {
	f.t.Helper()
	f.fails = errors.New("the API server doesn't answer")
	if _, err := f.prober.Reconcile(f.ctx, ctrl.Request{NamespacedName: key(name)}); !errors.Is(err, f.fails) {
		f.t.Errorf("Reconcile returned the error %v, want %q, so that it is called again", err, f.fails)
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
