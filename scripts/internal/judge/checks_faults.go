package judge

// Does the operator survive what happens to every cluster?

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/faults"
)

// faultChecks are the faults of the catalogue, except for those that need several replicas.
func faultChecks() (checks []Check) {
	for _, fault := range faults.Survivable() {
		if fault.Replicas {
			continue
		}
		check := survival(fault, func(s *scenario) { survives(s, fault) })
		if fault.Kills {
			check.judge = survivesKills
		}
		checks = append(checks, check)
	}
	return checks
}

// survival is the check that an operator survives a fault.
func survival(fault faults.Fault, judge func(*scenario)) Check {
	return Check{Name: fault.Name, Promise: "the operator survives " + fault.Title, Why: fault.Why, Lesson: fault.Lesson, judge: judge}
}

// endFault ends a fault, and returns how often it has hit. If it ends with another fault in the
// watches, it hits those of the samples first, and then those of the owned objects. In this order,
// only an operator that handles the owned objects' deletions finds out about them: a new list of
// samples would make it look at each of them again.
func endFault(s *scenario, fault faults.Fault, active *faultproxy.Fault) (hits int) {
	hits = active.Hits()
	began, proxy := time.Now(), s.replicas[0].Proxy
	if last := fault.End(proxy, faultproxy.Resource(s.resources(true)...)); last != nil {
		_ = s.within(s.config.Limits.Recover.Duration, func() error { return s.watchesAgain(began) }) // it may not need to
		s.pass(settled)
		hits = last.Hits() + fault.End(proxy, faultproxy.Resource(s.resources(false)...)).Hits()
	}
	s.step("%s ends", fault.Name)
	active.Stop()
	s.measure("hits", float64(hits), "")
	return hits
}

// watchesAgain returns an error unless the operator has sent a new watch of samples after that time.
func (s *scenario) watchesAgain(when time.Time) error {
	for _, request := range s.requests() {
		if request.Verb == "watch" && request.Received.After(when) && slices.Contains(s.resources(true), request.Resource) {
			return nil
		}
	}
	return errors.New("the operator doesn't watch samples again")
}

// resources returns the resources of the samples, or those of the owned objects.
func (s *scenario) resources(ofSamples bool) (resources []string) {
	for _, resource := range s.watched {
		if s.first[resource] == ofSamples {
			resources = append(resources, resource.Resource)
		}
	}
	return resources
}

// survives lets users, and others who write to the same objects, change samples while the fault
// lasts, and then looks whether the operator has kept its promises.
func survives(s *scenario, fault faults.Fault) {
	names := []string{"drifted", "lost", "removed"}
	for i := range s.mutations {
		names = append(names, fmt.Sprintf("mutated-%d", i))
	}
	all := s.settles(names...)
	drifted, lost, removed, mutated := all[0], all[1], all[2], all[3:]
	usual := s.counts(lost)
	began := time.Now()
	s.step("%s begins: the operator survives %s", fault.Name, fault.Title)
	r := s.replicas[0]
	active := fault.Begin(faults.Target{Proxy: r.Proxy, Kill: r.Kill, Owned: s.resources(false)})

	created := s.create(s.sample("created"))
	for i, m := range s.mutations {
		s.patch(mutated[i], string(m.Patch))
	}
	shared := s.annotate(s.owned(drifted))
	undone := s.driftOne(drifted)
	for _, object := range s.owned(lost) {
		s.remove(object, metav1.DeletePropagationBackground)
	}
	left := s.owned(removed)
	s.remove(removed, metav1.DeletePropagationBackground)
	s.pass(fault.Lasts / 5)
	s.patch(created, `{"metadata":{"annotations":{"judge.example.com/unrelated":"yes"}}}`) // it is reconciled again
	s.pass(fault.Lasts * 4 / 5)
	s.exhaust(active, fault.Lasts)
	if endFault(s, fault, active) == 0 {
		s.skip("the fault hit nothing, because the operator sends no such request")
	}

	limit := s.config.Limits.Recover.Duration
	late := time.Now().Add(limit)
	becomes := func(sample *unstructured.Unstructured, otherwise string, holds func() error) {
		if err := s.within(max(time.Until(late), time.Second), holds); err != nil {
			s.find(Error, s.evidence(began, sample), "%s within %v: %s", otherwise, limit, s.plain(err))
		}
	}
	becomes(created, "a sample that was created during the fault doesn't become ready", func() error { return s.isReady(created) })
	for i, m := range s.mutations {
		becomes(mutated[i], fmt.Sprintf("the mutation %q during the fault has no effect", m.Name), func() error { return s.hasEffect(mutated[i], m) })
	}
	becomes(drifted, "a manual change during the fault isn't reverted", undone)
	becomes(lost, "an owned object that was deleted during the fault isn't back", func() error { return s.isReady(lost) })
	for _, object := range shared {
		if now := s.now(object); now != nil && now.GetAnnotations()[foreignKey] == "" {
			s.find(Error, s.evidence(began, object), "an annotation that somebody else added to a %s during the fault "+
				"is lost", object.GetKind())
		}
	}
	s.foundDuplicates(began, created, usual, "after "+fault.Title)
	s.foundCrashes()
	s.leavesNothing(began, removed, left, max(time.Until(late), time.Second))
}

// annotate adds somebody else's annotation to the objects.
func (s *scenario) annotate(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, object := range objects {
		s.patch(object, fmt.Sprintf(`{"metadata":{"annotations":{%q:"yes"}}}`, foreignKey))
	}
	return objects
}

// exhaust lets the fault last until it has hit nothing for some time, but not longer than limit. An
// operator that lags behind could otherwise do after the fault what it should have done during it,
// and seem to have survived.
func (s *scenario) exhaust(fault *faultproxy.Fault, limit time.Duration) {
	end := time.Now().Add(limit)
	for hits := -1; hits != fault.Hits() && time.Now().Before(end); {
		hits = fault.Hits()
		s.pass(settled)
	}
}

// counts returns how many objects of each kind a sample owns.
func (s *scenario) counts(sample *unstructured.Unstructured) map[string]int {
	counts := map[string]int{}
	for _, object := range s.owned(sample) {
		counts[object.GetKind()]++
	}
	return counts
}

// foundDuplicates is a finding for each kind of which the sample owns more objects than usual.
func (s *scenario) foundDuplicates(began time.Time, sample *unstructured.Unstructured, usual map[string]int, when string) {
	for kind, count := range s.counts(sample) {
		if count > usual[kind] {
			s.find(Error, s.evidence(began, sample), "%s, a sample has too many objects of kind %s", when, kind)
		}
	}
}

// driftOne changes one field that the operator owns. The function that it returns returns nil when
// that is undone.
func (s *scenario) driftOne(sample *unstructured.Unstructured) (undone func() error) {
	for _, object := range s.owned(sample) {
		for _, leaf := range s.drifts(object) {
			s.step("change %s of %s by hand", leaf.path, title(object))
			if _, err := s.tryPatch(object, leaf.patchType, leaf.patch); err != nil {
				continue // the operator has just deleted or changed it
			}
			return func() error {
				for _, now := range s.owned(sample) {
					if now.GetKind() == object.GetKind() && now.GetName() == object.GetName() {
						if value := leaf.valueIn(now); fmt.Sprint(value) != fmt.Sprint(leaf.was) {
							return fmt.Errorf("%s of %s is %v", leaf.path, title(now), value)
						}
					}
				}
				return nil
			}
		}
	}
	return func() error { return nil }
}

// survivesKills kills the operator after its first write for a new sample, after its second one for
// the next sample, and so on, until a sample needs fewer writes.
func survivesKills(s *scenario) {
	usual := s.counts(s.settles("before")[0])
	const most = 6
	for k := 1; k <= most; k++ {
		r := s.replicas[0]
		name := fmt.Sprintf("killed-%d", k)
		fault := r.Proxy.AfterWrite(k, r.Kill, changesObjects)
		began := time.Now()
		sample := s.create(s.sample(name))
		if err := s.within(s.config.Limits.Recover.Duration, func() error { return s.isReady(sample) }); err != nil {
			s.find(Error, s.evidence(began, sample), "after a kill between two writes, a sample doesn't become ready: %s", s.plain(err))
			return
		}
		hits := fault.Hits()
		fault.Stop()
		if hits == 0 {
			s.measure("kills", float64(k-1), "")
			if k == 1 {
				s.unable("the operator wrote nothing for a new sample")
			}
			return
		}
		s.step("killed after write %d", k)
		s.foundDuplicates(began, sample, usual, "after a kill between two writes")
	}
	s.measure("kills", most, "")
}
