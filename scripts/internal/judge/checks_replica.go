package judge

// Does the operator lead alone, and end cleanly?

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/process"
)

func replicaChecks() (checks []Check) {
	for _, fault := range faults.Survivable() {
		if !fault.Replicas {
			continue
		}
		check := survival(fault, func(s *scenario) { leaderSuffers(s, fault) })
		if fault.IsLeadersDeath() {
			check.judge = secondReplicaTakesOver
		}
		check.requires = hasSecondReplica
		checks = append(checks, check)
	}
	return append(checks, []Check{
		{
			Name:     "frozen-leader",
			Promise:  "a leader whose connections froze writes nothing after another replica has taken over",
			Why:      "If a leader doesn't notice that its lease has expired, there are two leaders.",
			Lesson:   "03-workqueue/README.md",
			requires: hasSecondReplica,
			judge:    frozenLeaderStops,
		},
		{
			Name:    "sigterm",
			Promise: "on SIGTERM, the operator exits with status 0 within the grace period",
			Why:     "Otherwise, the kubelet kills it in the middle of its work.",
			Lesson:  "01-raw-watch/README.md",
			judge:   endsOnSIGTERM,
		},
	}...)
}

func hasSecondReplica(config *Config) string {
	if config.SecondReplica == nil {
		return "judge.yaml has no secondReplica"
	}
	return ""
}

// pair starts two replicas, and returns the leader first. A sample is ready.
func (s *scenario) pair() (leader, other *running, sample *unstructured.Unstructured) {
	args := s.config.SecondReplica.Args
	first := s.start(args...)
	sample = s.create(s.sample("first"))
	s.awaits(sample)
	second := s.start(args...)
	if err := s.within(s.config.Limits.Converge.Duration, func() error {
		if len(second.Proxy.Requests()) == 0 {
			return fmt.Errorf("the second replica sends no requests")
		}
		return nil
	}); err != nil {
		s.unable("%v", err)
	}
	return first, second, sample
}

func secondReplicaTakesOver(s *scenario) {
	leader, other, _ := s.pair()
	began := time.Now()
	sample := s.create(s.sample("led"))
	s.awaits(sample)
	if writes := s.writesOf(other, began); len(writes) > 0 {
		s.find(Error, seen(writes), "two replicas write at the same time")
		return
	}
	s.step("kill the leader")
	leader.Destroy()
	began = time.Now()
	sample = s.create(s.sample("taken-over"))
	if err := s.within(s.config.Limits.Recover.Duration, func() error { return s.isReady(sample) }); err != nil {
		s.find(Error, s.evidence(began, sample), "the second replica doesn't take over within %v: %s", s.config.Limits.Recover.Duration, s.plain(err))
		return
	}
	s.measure("time until the second replica has taken over", time.Since(began).Seconds(), "s")
}

// leaderSuffers begins a fault of the leader, and gives the replicas work until the second one has
// taken over.
func leaderSuffers(s *scenario, f faults.Fault) {
	leader, other, _ := s.pair()
	s.step("%s begins: %s", f.Name, f.Does)
	fault := f.Begin(faults.Target{Proxy: leader.Proxy, Kill: leader.Kill, Owned: s.resources(false)})
	began := time.Now()
	for i := 1; len(s.writesOf(other, began)) == 0; i++ {
		sample := s.create(s.sample(fmt.Sprintf("work-%d", i)))
		if limit := s.config.Limits.Recover.Duration; time.Since(began) > limit {
			s.find(Error, s.evidence(began, sample), "within %v, no other replica takes over from a leader that can't "+
				"renew its lease", limit)
			return
		}
		s.pass(settled)
	}
	s.measure("hits", float64(fault.Hits()), "")
	s.awaits(s.create(s.sample("afterwards")))
	first := s.writesOf(other, began)[0]
	late := slices.DeleteFunc(s.writesOf(leader, first.Received), func(r audit.Request) bool { return r.Code >= 300 })
	if len(late) > 0 {
		s.find(Error, append(seen([]audit.Request{first}), seen(late)...), "a leader that can't renew its lease "+
			"still writes after its successor has begun")
	}
}

func frozenLeaderStops(s *scenario) {
	leader, other, _ := s.pair()
	s.step("freeze the leader's connections")
	fault := leader.Proxy.Freeze()
	hang := leader.Proxy.Hang()
	began := time.Now()
	sample := s.create(s.sample("meanwhile"))
	if err := s.within(s.config.Limits.Recover.Duration, func() error { return s.isReady(sample) }); err != nil {
		s.find(Error, s.evidence(began, sample), "within %v, no other replica takes over from a leader whose "+
			"connections are frozen", s.config.Limits.Recover.Duration)
		return
	}
	s.step("thaw them")
	thawed := time.Now()
	fault.Stop()
	hang.Stop()
	sample = s.create(s.sample("afterwards"))
	s.awaits(sample)
	var late []audit.Request
	for _, write := range s.writesOf(leader, thawed) {
		// On a busy machine, the successor may lose the lease as well. Then the old leader may lead again.
		leadsAgain := s.renewed(leader, write.Received).After(s.renewed(other, write.Received))
		if write.Code < 300 && len(s.writesOf(other, thawed)) > 0 && !leadsAgain {
			late = append(late, write)
		}
	}
	if len(late) > 0 {
		s.find(Error, seen(late), "a leader whose connections froze writes after another replica has taken over")
	}
}

// renewed returns when a replica last wrote a lease before that time.
func (s *scenario) renewed(r *running, before time.Time) (last time.Time) {
	for _, request := range r.Proxy.Requests() {
		if request.Resource == "leases" && request.IsWrite() && request.Code < 300 && request.Answered.Before(before) && request.Answered.After(last) {
			last = request.Answered
		}
	}
	return last
}

// writesOf returns the writes of one replica after that time.
func (s *scenario) writesOf(r *running, after time.Time) (writes []audit.Request) {
	for _, request := range r.Proxy.Requests() {
		if request.Answered.After(after) && changesObjects(request) {
			writes = append(writes, request)
		}
	}
	return writes
}

func endsOnSIGTERM(s *scenario) {
	s.settles("ended")
	r := s.replicas[0]
	s.step("send SIGTERM")
	began := time.Now()
	r.Stop()
	took := time.Since(began)
	s.measure("time to exit", took.Seconds(), "s")
	evidence := []Evidence{{At: time.Now(), Text: fmt.Sprintf("%s after %v", r.State(), took.Round(time.Millisecond)), Detail: process.Tail(r.Log(), 10)}}
	switch limit := s.config.Limits.Shutdown.Duration; {
	case took > limit:
		s.find(Error, evidence, "the operator doesn't exit within %v of SIGTERM", limit)
	case r.State() != "exit status 0":
		s.find(Warning, evidence, "on SIGTERM, the operator ends with %s", r.State())
	}
}
