package judge

// Waiting until something has happened, and until the operator has settled.
//
// soon waits until something is true, becomes until samples are ready, and settle until the operator
// has stopped writing. All three return why not, if that takes too long. What that means depends on
// the check: promise makes it a finding, and after needs the check can't be judged.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// settled is how long an operator has written nothing when it counts as settled.
	settled = time.Second
	// pollInterval is how often a wait looks whether it can end.
	pollInterval = 50 * time.Millisecond
)

// within waits until check returns no error, for at most that time, and returns check's last error.
func (s *scenario) within(limit time.Duration, check func() error) error {
	for late := time.Now().Add(limit); ; s.pass(pollInterval) {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(late) {
			return fmt.Errorf("%w (after %v)", err, limit)
		}
	}
}

// soon is within the time that the operator may take to do its work.
func (s *scenario) soon(check func() error) error { return s.within(s.config.Limits.Converge, check) }

// pass lets that much time pass.
func (s *scenario) pass(duration time.Duration) {
	select {
	case <-time.After(duration):
	case <-s.ctx.Done():
		s.must(context.Cause(s.ctx))
	}
}

// needs ends the check without a verdict if there is an error: the operator doesn't do what the check
// builds on.
func (s *scenario) needs(err error) {
	if err != nil {
		s.unable("%s", plain(err))
	}
}

// promise waits until check returns no error, for at most that time. If it still does, that is a
// finding about the sample, unless the cluster gives it no Pods.
func (s *scenario) promise(
	began time.Time, limit time.Duration, sample *unstructured.Unstructured, check func() error,
	format string, args ...any,
) (kept bool) {
	err := s.within(limit, check)
	if err != nil {
		s.needs(s.havePods(sample)) // otherwise, the cluster may be the cause
		s.broken(began, sample, "%s: %s", fmt.Sprintf(format, args...), plain(err))
	}
	return err == nil
}

// recovers is the promise that a sample becomes ready in the time that the operator has after a
// fault.
func (s *scenario) recovers(began time.Time, sample *unstructured.Unstructured, format string, args ...any) bool {
	limit := s.config.Limits.Recover
	return s.promise(began, limit, sample, func() error { return s.isReady(sample) },
		"%s within %v", fmt.Sprintf(format, args...), limit)
}

// becomes waits until the samples are ready and the operator has settled.
func (s *scenario) becomes(samples ...*unstructured.Unstructured) error {
	limit := time.Now().Add(s.config.Limits.Converge)
	for _, sample := range samples {
		if err := s.within(time.Until(limit), func() error { return s.isReady(sample) }); err != nil {
			return err
		}
	}
	return s.settle()
}

// saysReady returns nil if the sample's status says that it is ready.
func (s *scenario) saysReady(sample *unstructured.Unstructured) error {
	now := s.history.now(sample)
	if now == nil {
		return fmt.Errorf("%s is gone", title(sample))
	}
	if err := s.config.Ready.holds(now); err != nil {
		return fmt.Errorf("%s isn't ready: %w", title(sample), err)
	}
	return nil
}

// claimsReady reports whether the sample's status says that it is ready. If what judge.yaml calls ready
// was true of the new sample already, its status says nothing.
func (s *scenario) claimsReady(sample *unstructured.Unstructured) bool {
	return s.saysReady(sample) == nil && s.config.Ready.holds(s.history.of(sample)[0].object) != nil
}

// isReady returns nil if the sample says so, and owns something.
func (s *scenario) isReady(sample *unstructured.Unstructured) error {
	if err := s.saysReady(sample); err != nil {
		return err
	}
	if len(s.owned(sample)) == 0 {
		return fmt.Errorf("%s is ready, but owns no object of the kinds that judge.yaml lists in owns", title(sample))
	}
	return nil
}

// settle waits until the operator has written nothing for some time, and no object has changed, which
// could make it write. If only others keep writing, that isn't an error.
func (s *scenario) settle() error {
	err := s.soon(func() error {
		if time.Since(s.lastActivity()) < settled {
			return errors.New("the operator hasn't settled")
		}
		return nil
	})
	if writes := s.writes(time.Now().Add(-settled)); err != nil && len(writes) > 0 {
		return fmt.Errorf("the operator is still writing: %s", writes[len(writes)-1])
	}
	return nil
}

// lastActivity returns when the operator last wrote or an object last changed. That is now if one of
// the operator's writes has no answer yet.
func (s *scenario) lastActivity() (last time.Time) {
	for _, r := range s.replicas {
		if r.Proxy.Writing() > 0 {
			return time.Now()
		}
	}
	if versions := s.history.since(time.Time{}); len(versions) > 0 {
		last = versions[len(versions)-1].at
	}
	if writes := s.writes(last); len(writes) > 0 {
		last = writes[len(writes)-1].Answered
	}
	return last
}

// catchesUp creates another sample, and waits until it is ready. Watches and queues keep the order of
// events, so by then the operator has dealt with all that happened before.
func (s *scenario) catchesUp(name string) error {
	sample := s.create(s.sample(name))
	if err := s.soon(func() error { return s.saysReady(sample) }); err != nil {
		return err
	}
	return s.settle()
}

// startWith starts the operator, and creates samples of these names that become ready.
func (s *scenario) startWith(names ...string) []*unstructured.Unstructured {
	s.start()
	return s.ready(names...)
}

// ready creates samples of these names, and waits until they are ready.
func (s *scenario) ready(names ...string) (samples []*unstructured.Unstructured) {
	for _, name := range names {
		samples = append(samples, s.create(s.sample(name)))
	}
	if err := s.becomes(samples...); err != nil {
		s.unable("%s: compare with the check converge", plain(err))
	}
	return samples
}

// mutate changes a sample, and waits until that has its effect.
func (s *scenario) mutate(sample *unstructured.Unstructured, m Mutation) {
	s.patch(sample, asJSON(m.Patch))
	if err := s.soon(func() error { return s.hasEffect(sample, m) }); err != nil {
		s.unable("%s: see the check mutations", plain(err))
	}
}
