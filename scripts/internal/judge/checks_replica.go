package judge

// Does the operator lead alone, and end cleanly?

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/process"
)

func replicaChecks() []Check {
	return []Check{
		{
			Name:     "frozen-leader",
			Promise:  "a leader whose connections froze writes nothing after another replica has taken over",
			Why:      "If a leader doesn't notice that its lease has expired, there are two leaders.",
			Fix:      "Use client-go's leader election, and exit as soon as it says that the lease is lost.",
			Lesson:   "03-workqueue/README.md",
			requires: "secondReplica",
			run:      frozenLeaderStops,
		},
		{
			Name:    "sigterm",
			Promise: "on SIGTERM, the operator exits with status 0 within the grace period",
			Why:     "Otherwise, the kubelet kills it in the middle of its work.",
			Fix:     "Pass a context that ends on SIGTERM to all that runs, and return from main when it has stopped.",
			Lesson:  "01-raw-watch/README.md",
			run:     endsOnSIGTERM,
		},
	}
}

// pair starts two replicas, and returns the leader first. A sample is ready.
func (s *scenario) pair() (leader, other *replica) {
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
			s.broken(began, sample, "within %v, no other replica takes over from a leader that can't "+
				"renew its lease", limit)
			return
		}
		s.pass(settled)
	}
	s.measure("hits: %d", fault.Hits())
	s.ready("afterwards")
	first := other.writes(began)[0]
	late := slices.DeleteFunc(leader.writes(first.Received), func(r audit.Request) bool { return r.Code >= 300 })
	if len(late) > 0 {
		s.found(Error, asEvidence(append([]audit.Request{first}, late...)), "a leader that can't renew its lease "+
			"still writes after its successor has begun")
	}
}

func frozenLeaderStops(s *scenario) {
	leader, other := s.pair()
	s.step("freeze the leader's connections")
	fault := leader.Proxy.Freeze()
	hang := leader.Proxy.Hang()
	began := time.Now()
	sample := s.create(s.sample("meanwhile"))
	if !s.recovers(began, sample, "no other replica takes over from a leader whose connections are frozen") {
		return
	}
	s.step("thaw them")
	thawed := time.Now()
	fault.Stop()
	hang.Stop()
	s.ready("afterwards")
	if len(other.writes(thawed)) == 0 {
		return
	}
	late := slices.DeleteFunc(leader.writes(thawed), func(r audit.Request) bool {
		// On a busy machine, the successor may lose the lease as well. Then the old leader may lead again.
		leadsAgain := leader.renewed(r.Received).After(other.renewed(r.Received))
		return r.Code >= 300 || leadsAgain
	})
	if len(late) > 0 {
		s.found(Error, asEvidence(late), "a leader whose connections froze writes after another replica has taken over")
	}
}

// renewed returns when a replica last wrote a lease before that time.
func (r *replica) renewed(before time.Time) (last time.Time) {
	for _, request := range r.Proxy.Requests() {
		isRenewal := request.IsElection() && request.IsWrite() && request.Code < 300
		if isRenewal && request.Answered.Before(before) && request.Answered.After(last) {
			last = request.Answered
		}
	}
	return last
}

func endsOnSIGTERM(s *scenario) {
	s.startWith("ended")
	r := s.replicas[0]
	s.step("send SIGTERM")
	began := time.Now()
	r.Stop()
	took := time.Since(began)
	s.measure("time to exit: %.2f s", took.Seconds())
	end := noted("%s after %v", r.State(), took.Round(time.Millisecond))
	end.Detail = process.Tail(r.Log(), 10)
	switch limit := s.config.Limits.Shutdown; {
	case took > limit:
		s.found(Error, []Evidence{end}, "the operator doesn't exit within %v of SIGTERM", limit)
	case r.State() != "exit status 0":
		s.found(Warning, []Evidence{end}, "on SIGTERM, the operator ends with %s", r.State())
	}
}
