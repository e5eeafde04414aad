// The promises about TDSets under faults. For each fault and program there is one scenario: TDSets
// settle, users and accidents change them while the fault strikes and the hour begins at which they
// must be scaled, and then every promise is judged.

package acceptance

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faultproxy"
)

// nine is the hour at which all TDSets with the window night are scaled, from 0 to 1 replicas. So
// few Pods are needed.
var (
	nine  = at(9, 0)
	night = window{22, 9, 0}
)

// settleTDSets creates the TDSets for the upheaval, at eight, and waits until nothing changes.
func (s *scenario) settleTDSets() {
	s.Helper()
	s.startAt(at(8, 0))
	_, err := s.deployments().Create(s.Context(), deploymentObject("refused"), metav1.CreateOptions{})
	s.must(err)
	names := []string{"crossing", "edited", "drifted", "lost", "removed"}
	for _, name := range append(names, "refused") {
		s.createTDSet(name, 1, night)
	}
	s.createTDSet("quiet", 1, always)
	s.create(with(tdsetObject("served", 1, night), map[string]any{"port": int64(80)}, "service"))
	for _, name := range append(names, "served", "quiet") {
		s.becomesScheduled(name, 0)
	}
	s.isRefused("refused")
	s.sentinel("settled") // by then the program has acted on all that came before
	s.writes()
}

// comeToNine restarts the operator shortly before the boundary, and waits until it watches.
func (f *faulty) comeToNine() {
	f.Helper()
	f.comeTo(nine)
}

func (f *faulty) comeTo(instant time.Time) {
	f.Helper()
	before := len(f.proxy.Requests())
	f.approach(instant)
	f.eventually("TDSets and Deployments are watched", func() error {
		watched := map[string]bool{}
		for _, request := range f.proxy.Requests()[before:] {
			if request.Verb == "watch" && request.Code == http.StatusOK {
				watched[request.Resource] = true
			}
		}
		if !watched["tdsets"] || !watched["deployments"] {
			return fmt.Errorf("got watches of %v", watched)
		}
		return nil
	})
}

// upheavalOfTDSets changes these TDSets, as users and accidents do.
func (s *scenario) upheavalOfTDSets() {
	s.Helper()
	s.createTDSet("created", 1, night)
	s.patchTDSet("edited", `{"spec":{"container":{"image":"example.com/app:2"}}}`)
	s.patchDeployment("drifted", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"replicas":3}}`)
	s.must(s.deployments().Delete(s.Context(), "lost", metav1.DeleteOptions{}))
	s.must(s.deployments().Delete(s.Context(), "refused", metav1.DeleteOptions{}))
	s.deleteTDSet("removed", metav1.DeletePropagationBackground)
	s.patchTDSet("served", `{"spec":{"service":{"port":81}}}`)
}

// judgementsOfTDSets check each promise after the upheaval, and after nine.
func judgementsOfTDSets() []judgement {
	return []judgement{
		{"T1 create", func(s *scenario) { s.becomesScheduled("created", 1) }},
		{"T2 boundary, T11 restart", func(s *scenario) { s.becomesScheduled("crossing", 1) }},
		{"T5 image", func(s *scenario) {
			s.becomesScheduled("edited", 1)
			if image := s.getDeployment("edited").Spec.Template.Spec.Containers[0].Image; image != "example.com/app:2" {
				s.Errorf("got image %s", image)
			}
		}},
		{"T6 service", func(s *scenario) {
			s.hasService("served", 81, 8000)
			s.becomesScheduled("served", 1)
		}},
		{"T7 drift", func(s *scenario) {
			s.hasReplicas("lost", 1) // not its Pods, which can take minutes: see isRecreated
			s.becomesScheduled("drifted", 1)
			if team := s.getDeployment("drifted").Annotations["team"]; team != "blue" {
				s.Errorf("got annotation team=%q, want blue", team)
			}
		}},
		{"T8 refusal", func(s *scenario) { s.becomesScheduled("refused", 1) }},
		{"T9 delete", func(s *scenario) {
			s.tdsetIsGone("removed")
			s.disappears("removed")
		}},
		{"T10 quiet", func(s *scenario) {
			s.sentinel("sentinel")
			for _, write := range s.writes() {
				if write.Name == "quiet" && write.Code < 400 {
					s.Errorf("unnecessary write: %s", write)
				}
			}
		}},
	}
}

// named matches requests about the object of that name.
func named(name string) faultproxy.Match {
	return func(r audit.Request) bool { return r.Name == name }
}

// scaling matches the write by which the Deployment crosses the boundary.
func scaling() []faultproxy.Match {
	return []faultproxy.Match{faultproxy.Resource("deployments"), named("crossing"), faultproxy.Verb("update", "patch")}
}

// strikesTDSets make each fault happen around nine and the upheaval, both of which they call.
// Faults of the write that is due at nine start before it. F3 and F7 have their own tests.
func strikesTDSets() map[string]func(f *faulty) {
	failWrites := func(code int) func(*faulty) {
		return func(f *faulty) {
			crossing := f.proxy.FailWrites(2, code, scaling()...)
			f.comeToNine()
			failing := f.proxy.FailWrites(5, code)
			f.upheavalOfTDSets()
			f.hits(failing, 5)
			f.hits(crossing, 2)
		}
	}
	return map[string]func(f *faulty){
		"F1": func(f *faulty) {
			f.comeToNine()
			cutting := f.proxy.KeepCutting(2)
			f.upheavalOfTDSets()
			f.hits(cutting, 4)
			f.becomesScheduled("crossing", 1)
			cutting.Stop()
		},
		"F2": func(f *faulty) {
			f.comeToNine()
			f.sentinel("event") // client-go doesn't resume a watch that ends at once without one
			f.watching()
			f.hits(f.proxy.GoneAsResponse(), 2)
			f.upheavalOfTDSets()
			f.goneAsEvent()
		},
		"F4a": failWrites(http.StatusInternalServerError),
		"F4b": failWrites(http.StatusTooManyRequests),
		"F4c": failWrites(http.StatusConflict),
		"F5": func(f *faulty) {
			f.killAfterWrite(scaling(), func() {
				f.comeToNine()
				f.upheavalOfTDSets()
			})
			f.killAfterWrite(nil, func() { f.patchDeployment("drifted", `{"spec":{"replicas":4}}`) })
		},
		"F6a": func(f *faulty) {
			f.comeToNine()
			f.hits(f.proxy.Freeze(), 1)
			f.upheavalOfTDSets()
		},
		"F8": func(f *faulty) {
			writes := faultproxy.Verb("create", "update", "patch", "delete")
			crossing := f.proxy.Forbid(scaling()...)
			f.comeToNine()
			others := f.proxy.Forbid(faultproxy.Resource("deployments"), writes)
			f.upheavalOfTDSets()
			f.hits(others, 3)
			f.hits(crossing, 2)
			crossing.Stop()
			others.Stop()
		},
		"F9": func(f *faulty) {
			f.comeToNine()
			behind := f.proxy.Delay(cacheLag)
			f.upheavalOfTDSets()
			f.hits(behind, 3)
			f.patchDeployment("drifted", `{"spec":{"replicas":4}}`)
			f.patchTDSet("created", `{"metadata":{"labels":{"team":"blue"}}}`)
			f.becomesScheduled("created", 1)
			f.createdOnce("created")
			behind.Stop()
		},
	}
}

// killAfterWrite kills the operator after a matching write that caused brings about, before it can
// do another. A new one continues at the same time of day.
func (f *faulty) killAfterWrite(matches []faultproxy.Match, caused func()) {
	f.Helper()
	written, killed := make(chan struct{}), make(chan struct{})
	defer close(killed)
	f.proxy.AfterWrite(1, func(audit.Request) {
		close(written)
		<-killed
	}, matches...)
	caused()
	f.eventually("the write is done", func() error {
		select {
		case <-written:
			return nil
		default:
			return errors.New("not yet")
		}
	})
	f.operator.Destroy()
	f.startAgain()
}

// TestFaultsOfTDSets tests chapter 07's program. What the other chapters' layers survive is shown
// by their own programs.
func TestFaultsOfTDSets(t *testing.T) {
	forChaptersAtOnce(t, chapters.TDSet, judged.isFull, func(t *testing.T, env *environment, j judged) {
		testFaults(t, env, j, strikesTDSets(), (*scenario).settleTDSets, judgementsOfTDSets())
	})
}

// TestAPIServerRestartAtTheBoundary is F3: the API server is down when the hour begins.
func TestAPIServerRestartAtTheBoundary(t *testing.T) {
	name, holds := heldFault(t, chapters.TDSet, "F3")
	alone(t, chapters.TDSet, name, holds, func(t *testing.T, s *scenario) {
		if inCluster() {
			s.settleTDSets()
			s.comeToNineInCluster()
			s.itIs(nine.Add(-time.Second))
			s.restartAPIServer(func() { s.itIs(nine.Add(time.Second)) })
			s.upheavalOfTDSets()
			s.judge(t, judgementsOfTDSets())
			return
		}
		f := s.throughProxy()
		f.settleTDSets()
		f.comeToNine()
		f.itIs(nine.Add(-time.Second))
		f.restartAPIServer(func() { f.itIs(nine.Add(time.Second)) })
		f.upheavalOfTDSets()
		f.judge(t, judgementsOfTDSets())
	})
}

// itIs waits until it is that time for the operator.
func (s *scenario) itIs(instant time.Time) {
	s.Helper()
	s.eventually("it is "+instant.Format(time.TimeOnly), func() error {
		if now := s.now(); now.Before(instant) {
			return errors.New(now.Format(time.TimeOnly))
		}
		return nil
	})
}

// TestFrozenLeaseAtTheBoundary is F6c: see TestFrozenLease.
func TestFrozenLeaseAtTheBoundary(t *testing.T) {
	name, holds := heldFault(t, chapters.TDSet, "F6c")
	sideBySide(t, chapters.TDSet, name, holds, func(t *testing.T, s *scenario) {
		f := s.throughProxy()
		f.flags = f.elects()
		f.settleTDSets()
		f.comeToNine()
		f.leaseFreezes(func(second *faulty) { second.startAtTimeOf(f.scenario) }, f.upheavalOfTDSets)
		f.judge(t, judgementsOfTDSets())
	})
}

// TestTwoReplicasAtTheBoundary is F7: the leader is killed, and not started again.
func TestTwoReplicasAtTheBoundary(t *testing.T) {
	name, holds := heldFault(t, chapters.TDSet, "F7")
	sideBySide(t, chapters.TDSet, name, holds, func(t *testing.T, s *scenario) {
		if inCluster() {
			s.electTwo()
			s.settleTDSets()
			s.comeToNineInCluster()
			s.losesLeader(s.upheavalOfTDSets)
			s.judge(t, judgementsOfTDSets())
			return
		}
		s.detectRaces()
		f := s.throughProxy()
		f.flags = f.elects()
		f.settleTDSets()
		f.comeToNine()
		second := f.secondReplica(func(second *faulty) { second.startAtTimeOf(f.scenario) })
		f.operator.Destroy()
		f.upheavalOfTDSets()
		f.judge(t, judgementsOfTDSets())
		if len(second.proxy.Writes()) == 0 {
			t.Error("the second replica has written nothing")
		}
	})
}
