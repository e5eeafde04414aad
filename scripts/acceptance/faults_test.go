// The promises under faults. For each fault and chapter there is one scenario: Foos settle, users
// and accidents change them while the fault strikes, and then every promise is judged.

package acceptance

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

// faulty is a scenario whose operator uses the API server through the fault proxy.
type faulty struct {
	*scenario
	proxy  *faultproxy.Proxy
	direct *scenario // without the proxy
}

// newFaulty returns a scenario with a proxy. The operator isn't started yet.
func newFaulty(t *testing.T, env *environment, j judged) *faulty {
	t.Helper()
	return newScenario(t, env, j).throughProxy()
}

// another is the same scenario for another replica of the program, with its own proxy.
func (f *faulty) another() *faulty {
	f.Helper()
	return f.direct.throughProxy()
}

func (s *scenario) throughProxy() *faulty {
	s.Helper()
	f := *s
	f.kubeconfig = filepath.Join(s.TempDir(), "kubeconfig")
	proxy, err := faultproxy.Before(s.config, s.kubeconfig, f.kubeconfig)
	s.must(err)
	s.Cleanup(proxy.Close)
	f.env = process.Pings
	return &faulty{&f, proxy, s}
}

// settle creates the Foos for the upheaval, and waits until nothing changes.
func (s *scenario) settle() {
	s.Helper()
	s.start()
	_, err := s.deployments().Create(s.Context(), deploymentObject("refused"), metav1.CreateOptions{})
	s.must(err)
	for _, name := range []string{"scaled", "drifted", "lost", "renamed", "removed", "quiet"} {
		s.createFoo(name, name, 1)
	}
	s.createFoo("refused", "refused", 1)
	for _, name := range []string{"scaled", "drifted", "lost", "renamed", "removed", "quiet"} {
		s.becomesReady(name)
	}
	s.becomesUnready("refused", "ErrResourceExists")
	s.sentinel("settled") // by then the program has acted on all that came before
	s.writes()
}

// upheaval changes these Foos, as users and accidents do.
func (s *scenario) upheaval() {
	s.Helper()
	s.createFoo("created", "created", 1)
	s.patchFoo("scaled", `{"spec":{"replicas":2}}`)
	s.patchDeployment("drifted", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"replicas":3}}`)
	s.must(s.deployments().Delete(s.Context(), "lost", metav1.DeleteOptions{}))
	s.patchFoo("renamed", `{"spec":{"deploymentName":"renamed-now"}}`)
	s.must(s.deployments().Delete(s.Context(), "refused", metav1.DeleteOptions{}))
	s.must(s.foos().Delete(s.Context(), "removed", metav1.DeleteOptions{}))
}

// judgement checks a promise after an upheaval.
type judgement struct {
	promise string
	judge   func(s *scenario)
}

// judgements check the promises about Foos.
func judgements() []judgement {
	return []judgement{
		{"B1 create", func(s *scenario) { s.becomesReady("created") }},
		{"B2 scale", func(s *scenario) { s.hasReplicas("scaled", 2) }},
		{"B3 status", func(s *scenario) { s.becomesReady("scaled") }},
		{"B4 drift", func(s *scenario) {
			s.hasReplicas("drifted", 1)
			s.hasReplicas("lost", 1) // not its Pods, which can take minutes: see isRecreated
		}},
		{"B5 rename", func(s *scenario) {
			s.disappears("renamed")
			s.becomesReady("renamed")
		}},
		{"B6 refusal", func(s *scenario) { s.becomesReady("refused") }},
		{"B7 delete", func(s *scenario) { s.disappears("removed") }},
		{"B8 catch-up, B9 quiet", func(s *scenario) {
			s.sentinel("sentinel")
			for _, write := range s.writes() {
				if isAbout(write, "quiet") && write.Code < 400 {
					s.Errorf("unnecessary write: %s", write)
				}
			}
		}},
		{"B11 conflict", func(s *scenario) {
			if team := s.getDeployment("drifted").Annotations["team"]; team != "blue" {
				s.Errorf("got annotation team=%q, want blue", team)
			}
		}},
	}
}

// judge judges every promise in a subtest.
func (s *scenario) judge(t *testing.T, all []judgement) {
	for _, j := range all {
		t.Run(j.promise, func(t *testing.T) {
			judged := *s
			judged.TB = t
			j.judge(&judged)
		})
	}
}

// hits waits until the fault has hit that many times.
func (f *faulty) hits(fault *faultproxy.Fault, times int) {
	f.Helper()
	f.eventually("the fault strikes: "+ui.Plural(times, "hit"), func() error {
		if fault.Hits() < times {
			return errors.New(fault.String())
		}
		return nil
	})
}

// strikes make each fault happen around the upheaval, which they call. F3 and F7 have their own
// tests.
func strikes() map[string]func(f *faulty) {
	failWrites := func(code int) func(*faulty) {
		return func(f *faulty) {
			failing := f.proxy.FailWrites(5, code)
			f.upheaval()
			f.hits(failing, 5)
		}
	}
	return map[string]func(f *faulty){
		"F1": func(f *faulty) {
			if f.chapter.Number() >= "03" {
				cutting := f.proxy.KeepCutting(2)
				f.upheaval()
				f.hits(cutting, 4)
				cutting.Stop()
				return
			}
			// HTTP/2 puts all requests on one connection, so a cut ends those in flight, and 01 and
			// 02 lose failed writes. So watches are cut while there is nothing to do.
			f.cutThrice()
			f.upheaval()
		},
		"F2": func(f *faulty) {
			f.watching()
			f.hits(f.proxy.GoneAsResponse(), 2)
			f.upheaval()
			f.goneAsEvent()
		},
		"F4a": failWrites(http.StatusInternalServerError),
		"F4b": failWrites(http.StatusTooManyRequests),
		"F4c": failWrites(http.StatusConflict),
		"F5": func(f *faulty) {
			first := f.proxy.AfterWrite(2, func(audit.Request) { f.operator.Kill() })
			f.upheaval()
			f.hits(first, 1)
			f.hits(f.proxy.AfterWrite(2, func(audit.Request) { f.operator.Kill() }), 1)
		},
		"F6a": func(f *faulty) {
			f.hits(f.proxy.Freeze(), 1)
			f.upheaval()
		},
		"F8": func(f *faulty) {
			forbidding := f.proxy.Forbid(faultproxy.Resource("deployments"), faultproxy.Verb("create", "update", "patch", "delete"))
			f.upheaval()
			f.hits(forbidding, 3)
			forbidding.Stop()
		},
		"F9": func(f *faulty) {
			behind := f.proxy.Delay(cacheLag)
			f.upheaval()
			// While the cache is behind, these Foos change again, and so does what they own.
			f.patchFoo("scaled", `{"spec":{"replicas":3}}`)
			f.hits(behind, 3)
			f.patchFoo("scaled", `{"spec":{"replicas":2}}`)
			f.patchDeployment("drifted", `{"spec":{"replicas":4}}`)
			f.patchFoo("created", `{"metadata":{"labels":{"team":"blue"}}}`)
			f.becomesReady("created")
			f.createdOnce("created")
			behind.Stop()
		},
	}
}

// cacheLag is how far the cache is behind in F9. That is longer than the work on a Foo takes, so
// each write is followed by work on an old state.
const cacheLag = time.Second

// createdOnce checks that the operator has created the Deployment of that name, and not twice.
func (f *faulty) createdOnce(name string) {
	f.Helper()
	created := 0
	for _, write := range f.proxy.Writes() {
		if write.Resource == "deployments" && write.Name == name && write.Code == http.StatusCreated {
			created++
		}
	}
	if created != 1 {
		f.Errorf("Deployment %s was created %d times, want once", name, created)
	}
}

// watching waits until both kinds are watched, because these faults only strike open watches.
func (f *faulty) watching() {
	f.Helper()
	f.eventually("both kinds are watched", func() error {
		if open := f.proxy.Watches(); open < 2 {
			return fmt.Errorf("open watches: %d", open)
		}
		return nil
	})
}

// cutThrice cuts all watches, and twice those that follow.
func (f *faulty) cutThrice() {
	f.Helper()
	for range 3 {
		f.eventually("watches are open, and cut", func() error {
			if f.proxy.CutWatches().Hits() == 0 {
				return errors.New("none is open")
			}
			return nil
		})
	}
}

// goneAsEvent sends open watches a 410, and waits until at least one got it.
func (f *faulty) goneAsEvent() {
	f.Helper()
	f.eventually("a watch is open again, and gets the event", func() error {
		if f.proxy.GoneAsEvent().Hits() == 0 {
			return errors.New("none is")
		}
		return nil
	})
}

func TestFaults(t *testing.T) {
	forChaptersAtOnce(t, chapters.Foo, nil, func(t *testing.T, env *environment, j judged) {
		testFaults(t, env, j, strikes(), (*scenario).settle, judgements())
	})
}

// testFaults tests each fault that the program survives, in parallel, each in its own scenario.
func testFaults(t *testing.T, env *environment, j judged, strikes map[string]func(*faulty), settle func(*scenario), judgements []judgement) {
	if inCluster() {
		testFaultsInCluster(t, env, j, settle, judgements)
		return
	}
	for _, fault := range contract.Faults() {
		strike, here := strikes[fault.Name]
		if !here || !j.holds(fault.Name) {
			continue // see faults_alone_test.go and not_held_test.go
		}
		t.Run(j.faultName(fault), func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, env, j)
			if fault.Name == "F1" || fault.Name == "F5" { // and F7: the operator restarts or reconnects while it works
				f.detectRaces()
			}
			settle(f.scenario)
			strike(f)
			f.judge(t, judgements)
		})
	}
}

// faultName names a fault's tests. A chapter may have two programs, so those for TDSets say so.
func (j judged) faultName(fault contract.Named) string {
	name := fault.Name + " " + fault.What
	if j.Kind == chapters.TDSet {
		name += ": TDSets"
	}
	return name
}
