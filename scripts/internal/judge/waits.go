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
func (s *scenario) within(limit time.Duration, check func() error) error {
	late := time.After(limit)
	for {
		changes := s.history.changes()
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-changes:
		case <-late:
			return fmt.Errorf("%w (after %v)", err, limit)
		case <-s.Context().Done():
			s.Fatalf("%v", context.Cause(s.Context()))
		}
	}
}

// pass lets that much time pass.
func (s *scenario) pass(duration time.Duration) {
	select {
	case <-time.After(duration):
	case <-s.Context().Done():
		s.Fatalf("%v", context.Cause(s.Context()))
	}
}

// isReady returns nil if the sample is ready.
func (s *scenario) isReady(sample *unstructured.Unstructured) error {
	now := s.now(sample)
	if now == nil {
		return fmt.Errorf("%s is gone", title(sample))
	}
	if err := s.ready.holds(now, now); err != nil {
		return fmt.Errorf("%s isn't ready: %w", title(sample), err)
	}
	if len(s.owned(now)) == 0 {
		return fmt.Errorf("%s is ready, but has no object of the kinds that it owns", title(sample))
	}
	return nil
}

// becomes waits until the samples are ready and the operator has settled.
func (s *scenario) becomes(samples ...*unstructured.Unstructured) error {
	limit := time.Now().Add(s.config.Limits.Converge.Duration)
	for _, sample := range samples {
		if err := s.within(time.Until(limit), func() error { return s.isReady(sample) }); err != nil {
			return err
		}
	}
	return s.settle(limit)
}

// settle waits until the operator has written nothing for some time, and no object has changed, which
// could make it write.
func (s *scenario) settle(limit time.Time) error {
	for {
		last, writing := s.lastActivity()
		rest := time.Until(last.Add(settled))
		if rest <= 0 && writing == 0 {
			return nil
		}
		if time.Now().After(limit) {
			break
		}
		s.pass(max(rest, settled/10))
	}
	if writes := s.writes(time.Now().Add(-settled)); len(writes) > 0 {
		return fmt.Errorf("the operator is still writing: %s", writes[len(writes)-1])
	}
	return nil
}

// lastActivity returns when the operator last wrote or an object last changed, and how many of the
// operator's writes have no answer yet.
func (s *scenario) lastActivity() (last time.Time, writing int) {
	last = s.history.last()
	if writes := s.writes(last); len(writes) > 0 {
		last = writes[len(writes)-1].Answered
	}
	for _, r := range s.replicas {
		writing += r.Proxy.Writing()
	}
	return last, writing
}

// catchesUp creates another sample, and waits until it is ready. Watches and queues keep the order of
// events, so by then the operator has dealt with all that happened before.
func (s *scenario) catchesUp(name string) error {
	sample := s.create(s.sample(name))
	err := s.within(s.config.Limits.Converge.Duration, func() error {
		now := s.now(sample)
		if now == nil {
			return fmt.Errorf("%s is gone", title(sample))
		}
		return s.ready.holds(now, now)
	})
	if err != nil {
		return fmt.Errorf("%s isn't ready: %w", title(sample), err)
	}
	return s.settle(time.Now().Add(s.config.Limits.Converge.Duration))
}

// settles starts the operator, creates a sample of that name, and waits until it is ready. If that
// fails, the check can't be judged.
func (s *scenario) settles(names ...string) (samples []*unstructured.Unstructured) {
	s.start()
	for _, name := range names {
		samples = append(samples, s.create(s.sample(name)))
	}
	s.awaits(samples...)
	return samples
}

// awaits waits until the samples are ready. If that fails, the check can't be judged.
func (s *scenario) awaits(samples ...*unstructured.Unstructured) {
	if err := s.becomes(samples...); err != nil {
		s.unable("%v: see the check converge", err)
	}
}
