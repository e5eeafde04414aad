package judge

// Does the operator survive what happens to every cluster?

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/faults"
)

// faultChecks are the faults of the catalogue.
func faultChecks() (checks []Check) {
	for _, fault := range faults.Survivable() {
		check := Check{
			Name: fault.Name, Promise: "the operator survives " + fault.Title,
			Why: fault.Why, Fix: fault.Fix, Lesson: fault.Lesson,
			IsFault: true, run: func(s *scenario) { survives(s, fault) },
		}
		if fault.Replicas {
			check.requires = "secondReplica"
			check.run = func(s *scenario) { leaderSuffers(s, fault) }
		}
		switch {
		case fault.Kills:
			check.run = survivesKills
		case fault.LeaderDies:
			check.run = secondReplicaTakesOver
		}
		checks = append(checks, check)
	}
	return checks
}

// begin begins a fault of a replica. From then on, the API server doesn't call the operator's webhooks,
// which may fail too, so that the judge can still change samples.
func (s *scenario) begin(fault faults.Fault, r *replica) *faultproxy.Fault {
	s.uninstall(s.installedAt)
	s.step("%s begins: %s", fault.Name, fault.Does)
	return fault.Begin(faults.Target{Proxy: r.Proxy, Kill: r.Kill, Owned: names(s.ofOwned)})
}

// end ends a fault, and returns how often it has hit. If it ends with another fault in the watches,
// it hits those of the samples first, and then those of the owned objects. In this order, only an
// operator that handles the owned objects' deletions finds out about them: a new list of samples
// would make it look at each of them again.
func (s *scenario) end(fault faults.Fault, active *faultproxy.Fault) (hits int) {
	hits = active.Hits()
	began, r := time.Now(), s.replicas[0]
	if last := fault.End(r.Proxy, faultproxy.Resource(names(s.ofSamples)...)); last != nil {
		_ = s.within(s.config.Limits.Recover, func() error { return s.watches(r, began) }) // it may not need to
		s.pass(settled)
		hits = last.Hits() + fault.End(r.Proxy, faultproxy.Resource(names(s.ofOwned)...)).Hits()
	}
	s.step("%s ends", fault.Name)
	active.Stop()
	s.measure("times that the fault hit: %d", hits)
	return hits
}

// survives lets users, and others who write to the same objects, change samples while the fault
// lasts, and then looks whether the operator has kept its promises.
func survives(s *scenario, fault faults.Fault) {
	called := []string{"drifted", "lost", "removed"}
	for i := range s.config.Mutations {
		called = append(called, fmt.Sprintf("mutated-%d", i))
	}
	all := s.startWith(called...)
	drifted, lost, removed, mutated := all[0], all[1], all[2], all[3:]
	usual := s.counts(lost)
	began := time.Now()
	active := s.begin(fault, s.replicas[0])

	created := s.create(s.sample("created"))
	for i, m := range s.config.Mutations {
		s.patch(mutated[i], asJSON(m.Patch))
	}
	shared := s.owned(drifted)
	for _, object := range shared {
		s.annotate(object, foreignKey)
	}
	reverted := s.interfereOnce(drifted)
	s.remove(metav1.DeletePropagationBackground, s.owned(lost)...)
	left := s.owned(removed)
	s.remove(metav1.DeletePropagationBackground, removed)
	lasts := cmp.Or(fault.Lasts, 3*time.Second)
	s.pass(lasts / 5)
	s.annotate(created, "judge.example.com/unrelated") // so it is reconciled again
	s.pass(lasts * 4 / 5)
	s.exhaust(active, lasts)
	if s.end(fault, active) == 0 {
		s.skip("the fault hit nothing, because the operator sends no such request")
	}

	limit := s.config.Limits.Recover
	late := time.Now().Add(limit)
	rest := func() time.Duration { return max(time.Until(late), time.Second) }
	becomes := func(cause string, sample *unstructured.Unstructured, otherwise string, check func() error) {
		if err := s.within(rest(), check); err != nil {
			s.needs(s.havePods(sample)) // otherwise, the cluster may be the cause
			s.cause = cause
			s.foundAlso(Error, s.evidence(began, sample),
				fmt.Sprintf("the operator doesn't catch up within %v of the fault", limit), otherwise+" ("+plain(err)+")")
		}
	}
	becomes("converge", created, "a new sample doesn't become ready", func() error { return s.isReady(created) })
	for i, m := range s.config.Mutations {
		becomes("mutations", mutated[i], fmt.Sprintf("the mutation %q has no effect", m.Name),
			func() error { return s.hasEffect(mutated[i], m) })
	}
	becomes("drift", shared[0], "a manual change isn't reverted", reverted)
	becomes("recreate", lost, "a deleted object isn't back", func() error { return s.isReady(lost) })
	s.cause = "foreign-fields"
	for _, object := range shared {
		if now := s.history.now(object); now != nil && now.GetAnnotations()[foreignKey] == "" {
			s.broken(began, object, "somebody else's annotation of a %s during the fault is lost", object.GetKind())
		}
	}
	s.cause = ""
	s.foundDuplicates(began, created, usual, "after "+fault.Title)
	s.foundCrashes()
	s.cause = "delete-background"
	s.leavesNothing(began, removed, left, rest())
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

// foundDuplicates is a finding for each kind of which the sample owns more objects than usual.
func (s *scenario) foundDuplicates(
	began time.Time, sample *unstructured.Unstructured, usual map[string]int, when string,
) {
	for kind, count := range s.counts(sample) {
		if count > usual[kind] {
			s.broken(began, sample, "%s, a sample has too many objects of kind %s", when, kind)
		}
	}
}

// survivesKills kills the operator after its first write for a new sample, after its second one for
// the next sample, and so on, until a sample needs fewer writes.
func survivesKills(s *scenario) {
	usual := s.counts(s.startWith("before")[0])
	r := s.replicas[0]
	kills := 0
	for killed := true; killed && kills < 6; {
		fault := r.Proxy.AfterWrite(kills+1, r.Kill)
		began := time.Now()
		sample := s.create(s.sample(fmt.Sprintf("killed-%d", kills)))
		if !s.recovers(began, sample, "after a kill between two writes, a sample doesn't become ready") {
			return
		}
		if killed = fault.Hits() > 0; killed {
			kills++
			s.step("killed after write %d", kills)
			s.foundDuplicates(began, sample, usual, "after a kill between two writes")
		}
		fault.Stop()
	}
	if kills == 0 {
		s.unable("the operator wrote nothing for a new sample")
	}
	s.measure("kills: %d", kills)
}

// pair starts two replicas, and returns the leader first. A sample is ready.
func (s *scenario) pair() (leader, other *replica) {
	if s.webhooks != nil && !s.hasPlaceholder("{webhooks}") {
		s.skip("two replicas can't serve their webhooks at the same port: tell the operator another one with {webhooks}")
	}
	args := s.config.SecondReplica.Args
	leader = s.start(args...)
	s.ready("first")
	other = s.start(args...)
	s.needs(s.soon(func() error {
		if len(other.Proxy.Requests()) == 0 {
			return errors.New("the second replica sends no requests")
		}
		return nil
	}))
	return leader, other
}

func secondReplicaTakesOver(s *scenario) {
	leader, other := s.pair()
	began := time.Now()
	s.ready("led")
	if writes := other.writes(began); len(writes) > 0 {
		s.found(Error, asEvidence(writes), "two replicas write at the same time")
		return
	}
	s.step("kill the leader")
	leader.Destroy()
	began = time.Now()
	sample := s.create(s.sample("taken-over"))
	if s.recovers(began, sample, "the second replica doesn't take over") {
		s.measure("time until the second replica has taken over: %.2f s", time.Since(began).Seconds())
	}
}

// leaderSuffers begins a fault of the leader, and gives the replicas work until the second one has
// taken over.
func leaderSuffers(s *scenario, f faults.Fault) {
	leader, other := s.pair()
	fault := s.begin(f, leader)
	began := time.Now()
	for i := 1; len(other.writes(began)) == 0; i++ {
		sample := s.create(s.sample(fmt.Sprintf("work-%d", i)))
		if limit := s.config.Limits.Recover; time.Since(began) > limit {
			s.broken(began, sample, "no other replica takes over within %v", limit)
			return
		}
		s.pass(settled)
	}
	s.measure("times that the fault hit: %d", fault.Hits())
	s.ready("afterwards")
	first := other.writes(began)[0]
	late := slices.DeleteFunc(leader.writes(first.Received), func(r audit.Request) bool { return r.Code >= 300 })
	if len(late) > 0 {
		evidence := asEvidence(append([]audit.Request{first}, late...))
		s.found(Error, evidence, "a leader that can't renew its lease still writes after its successor has begun")
	}
}
