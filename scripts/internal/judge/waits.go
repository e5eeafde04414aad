package judge

// Waiting until something has happened, and until the operator has settled.

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// settled is how long an operator has written nothing when it counts as settled.
const settled = time.Second

// within waits until check returns no error, for at most that time, and returns check's last error.
// It looks again whenever an object has changed or the operator has got an answer.
func (b *Bench) within(limit time.Duration, check func() error) error {
	late := time.After(limit)
	for {
		changes := b.history.changes()
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-changes:
		case <-late:
			return fmt.Errorf("%w (after %v)", err, limit)
		case <-b.Context().Done():
			b.Fatalf("%v", context.Cause(b.Context()))
		}
	}
}

// pass lets that much time pass.
func (b *Bench) pass(time_ time.Duration) {
	select {
	case <-time.After(time_):
	case <-b.Context().Done():
		b.Fatalf("%v", context.Cause(b.Context()))
	}
}

// isReady returns nil if the sample is ready.
func (b *Bench) isReady(sample *unstructured.Unstructured) error {
	now := b.now(sample)
	if now == nil {
		return fmt.Errorf("%s is gone", title(sample))
	}
	if err := b.ready.holds(now, now); err != nil {
		return fmt.Errorf("%s isn't ready: %w", title(sample), err)
	}
	if len(b.owned(now)) == 0 {
		return fmt.Errorf("%s is ready, but has no object of the kinds that it owns", title(sample))
	}
	return nil
}

// becomes waits until the samples are ready and the operator has settled.
func (b *Bench) becomes(samples ...*unstructured.Unstructured) error {
	limit := time.Now().Add(b.config.Limits.Converge.Duration)
	for _, sample := range samples {
		if err := b.within(time.Until(limit), func() error { return b.isReady(sample) }); err != nil {
			return err
		}
	}
	return b.settle(limit)
}

// settle waits until the operator has written nothing for some time, and no object has changed, which
// could make it write.
func (b *Bench) settle(limit time.Time) error {
	for {
		last, writing := b.lastActivity()
		rest := time.Until(last.Add(settled))
		if rest <= 0 && writing == 0 {
			return nil
		}
		if time.Now().After(limit) {
			break
		}
		b.pass(max(rest, settled/10))
	}
	if writes := b.writes(time.Now().Add(-settled)); len(writes) > 0 {
		return fmt.Errorf("the operator is still writing: %s", writes[len(writes)-1])
	}
	return nil
}

// lastActivity returns when the operator last wrote or an object last changed, and how many of the
// operator's writes have no answer yet.
func (b *Bench) lastActivity() (last time.Time, writing int) {
	last = b.history.last()
	if writes := b.writes(last); len(writes) > 0 {
		last = writes[len(writes)-1].Answered
	}
	for _, r := range b.replicas {
		writing += r.proxy.Writing()
	}
	return last, writing
}

// catchesUp creates another sample, and waits until it is ready. Watches and queues keep the order of
// events, so by then the operator has dealt with all that happened before.
func (b *Bench) catchesUp(name string) error {
	sample := b.create(b.sample(name))
	err := b.within(b.config.Limits.Converge.Duration, func() error {
		now := b.now(sample)
		if now == nil {
			return fmt.Errorf("%s is gone", title(sample))
		}
		return b.ready.holds(now, now)
	})
	if err != nil {
		return fmt.Errorf("%s isn't ready: %w", title(sample), err)
	}
	return b.settle(time.Now().Add(b.config.Limits.Converge.Duration))
}

// settles starts the operator, creates a sample of that name, and waits until it is ready. If that
// fails, the check can't be judged.
func (b *Bench) settles(names ...string) (samples []*unstructured.Unstructured) {
	b.start()
	for _, name := range names {
		samples = append(samples, b.create(b.sample(name)))
	}
	b.awaits(samples...)
	return samples
}

// awaits waits until the samples are ready. If that fails, the check can't be judged.
func (b *Bench) awaits(samples ...*unstructured.Unstructured) {
	if err := b.becomes(samples...); err != nil {
		b.unable("%v: see the check converge", err)
	}
}
