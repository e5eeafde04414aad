package judge

// Does the operator lead alone, and end cleanly?

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/process"
)

func replicaChecks() []Check {
	return []Check{
		{
			Name:     "F7",
			Promise:  "only one of two replicas is active, and the other one takes over when the leader is killed",
			Why:      "Without leader election, two replicas undo each other's work during every rollout of the operator's own Deployment.",
			Lesson:   "03-workqueue/README.md",
			requires: hasSecondReplica,
			judge:    secondReplicaTakesOver,
		},
		{
			Name:     "F6c",
			Promise:  "a leader that can't renew its lease stops writing before its successor begins",
			Why:      "In this check, only the leader's requests about the lease hang, so nothing else tells it to stop. If it doesn't watch its own clock, there are two leaders.",
			Lesson:   "03-workqueue/README.md",
			requires: hasSecondReplica,
			judge:    frozenLeaseStops,
		},
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
	}
}

func hasSecondReplica(j *Judge) string {
	if j.config.SecondReplica == nil {
		return "judge.yaml has no secondReplica"
	}
	return ""
}

// pair starts two replicas, and returns the leader first. A sample is ready.
func (b *Bench) pair() (leader, other *running, sample *unstructured.Unstructured) {
	args := b.config.SecondReplica.Args
	first := b.start(args...)
	sample = b.create(b.sample("first"))
	b.awaits(sample)
	second := b.start(args...)
	if err := b.within(b.config.Limits.Converge.Duration, func() error {
		if len(second.proxy.Requests()) == 0 {
			return fmt.Errorf("the second replica sends no requests")
		}
		return nil
	}); err != nil {
		b.unable("%v", err)
	}
	return first, second, sample
}

func secondReplicaTakesOver(b *Bench) {
	leader, other, _ := b.pair()
	began := time.Now()
	sample := b.create(b.sample("led"))
	b.awaits(sample)
	if writes := b.writesOf(other, began); len(writes) > 0 {
		b.find(Error, seen(writes), "two replicas write at the same time")
		return
	}
	b.step("kill the leader")
	leader.Destroy()
	began = time.Now()
	sample = b.create(b.sample("taken-over"))
	if err := b.within(b.config.Limits.Recover.Duration, func() error { return b.isReady(sample) }); err != nil {
		b.find(Error, b.evidence(began, sample), "the second replica doesn't take over within %v: %s", b.config.Limits.Recover.Duration, b.plain(err))
		return
	}
	b.measure("time until the second replica has taken over", time.Since(began).Seconds(), "s")
}

// frozenLeaseStops gives the replicas work until the second one has taken over.
func frozenLeaseStops(b *Bench) {
	leader, other, _ := b.pair()
	b.step("the leader's requests about leases hang")
	fault := leader.proxy.Hang(faultproxy.Resource("leases"))
	began := time.Now()
	for i := 1; len(b.writesOf(other, began)) == 0; i++ {
		sample := b.create(b.sample(fmt.Sprintf("work-%d", i)))
		if limit := b.config.Limits.Recover.Duration; time.Since(began) > limit {
			b.find(Error, b.evidence(began, sample), "within %v, no other replica takes over from a leader that can't renew its lease", limit)
			return
		}
		b.pass(settled)
	}
	b.measure("hits", float64(fault.Hits()), "")
	b.awaits(b.create(b.sample("afterwards")))
	first := b.writesOf(other, began)[0]
	late := slices.DeleteFunc(b.writesOf(leader, first.Received), func(r audit.Request) bool { return r.Code >= 300 })
	if len(late) > 0 {
		b.find(Error, append(seen([]audit.Request{first}), seen(late)...), "a leader that can't renew its lease still writes after its successor has begun")
	}
}

func frozenLeaderStops(b *Bench) {
	leader, other, _ := b.pair()
	b.step("freeze the leader's connections")
	fault := leader.proxy.Freeze()
	hang := leader.proxy.Hang()
	began := time.Now()
	sample := b.create(b.sample("meanwhile"))
	if err := b.within(b.config.Limits.Recover.Duration, func() error { return b.isReady(sample) }); err != nil {
		b.find(Error, b.evidence(began, sample), "within %v, no other replica takes over from a leader whose connections are frozen", b.config.Limits.Recover.Duration)
		return
	}
	b.step("thaw them")
	thawed := time.Now()
	fault.Stop()
	hang.Stop()
	sample = b.create(b.sample("afterwards"))
	b.awaits(sample)
	var late []audit.Request
	for _, write := range b.writesOf(leader, thawed) {
		// On a busy machine, the successor may lose the lease as well. Then the old leader may lead again.
		leadsAgain := b.renewed(leader, write.Received).After(b.renewed(other, write.Received))
		if write.Code < 300 && len(b.writesOf(other, thawed)) > 0 && !leadsAgain {
			late = append(late, write)
		}
	}
	if len(late) > 0 {
		b.find(Error, seen(late), "a leader whose connections froze writes after another replica has taken over")
	}
}

// renewed returns when a replica last wrote a lease before that time.
func (b *Bench) renewed(r *running, before time.Time) (last time.Time) {
	for _, request := range r.proxy.Requests() {
		if request.Resource == "leases" && request.IsWrite() && request.Code < 300 && request.Answered.Before(before) && request.Answered.After(last) {
			last = request.Answered
		}
	}
	return last
}

// writesOf returns the writes of one replica after that time.
func (b *Bench) writesOf(r *running, after time.Time) (writes []audit.Request) {
	for _, request := range r.proxy.Requests() {
		if request.Answered.After(after) && changesObjects(request) {
			writes = append(writes, request)
		}
	}
	return writes
}

func endsOnSIGTERM(b *Bench) {
	b.settles("ended")
	r := b.replicas[0]
	b.step("send SIGTERM")
	began := time.Now()
	r.Stop()
	took := time.Since(began)
	b.measure("time to exit", took.Seconds(), "s")
	evidence := []Evidence{{At: time.Now(), Text: fmt.Sprintf("%s after %v", r.State(), took.Round(time.Millisecond)), Detail: process.Tail(r.Log(), 10)}}
	switch limit := b.config.Limits.Shutdown.Duration; {
	case took > limit:
		b.find(Error, evidence, "the operator doesn't exit within %v of SIGTERM", limit)
	case r.State() != "exit status 0":
		b.find(Warning, evidence, "on SIGTERM, the operator ends with %s", r.State())
	}
}
