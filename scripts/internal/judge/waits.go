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

// settle waits until the operator has written nothing for some time.
func (b *Bench) settle(limit time.Time) error {
	for {
		writes := b.writes(time.Now().Add(-settled))
		if len(writes) == 0 {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("the operator still writes: %s", writes[len(writes)-1])
		}
		b.pass(time.Until(writes[len(writes)-1].Answered.Add(settled)))
	}
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
