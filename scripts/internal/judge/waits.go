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

// soon is within the time that the operator may take to do its work.
func (s *scenario) soon(check func() error) error { return s.within(s.config.Limits.Converge, check) }

// await waits until check returns no error. If that takes too long, the check can't be judged.
func (s *scenario) await(check func() error) {
	if err := s.soon(check); err != nil {
		s.unable("%s", plain(err))
	}
}

// promise waits until check returns no error, for at most that time. If it still does, that is a
// finding about the object, whose evidence is what has happened since began.
func (s *scenario) promise(
	began time.Time, limit time.Duration, object *unstructured.Unstructured, check func() error,
	format string, args ...any,
) (kept bool) {
	err := s.within(limit, check)
	if err != nil {
		s.found(Error, s.evidence(began, object), "%s: %s", fmt.Sprintf(format, args...), plain(err))
	}
	return err == nil
}

// pass lets that much time pass.
func (s *scenario) pass(duration time.Duration) {
	select {
	case <-time.After(duration):
	case <-s.Context().Done():
		s.Fatalf("%v", context.Cause(s.Context()))
	}
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

// isReady returns nil if the sample says so, and owns something.
func (s *scenario) isReady(sample *unstructured.Unstructured) error {
	if err := s.saysReady(sample); err != nil {
		return err
	}
	if len(s.owned(sample)) == 0 {
		return fmt.Errorf("%s is ready, but has no object of the kinds that it owns", title(sample))
	}
	return nil
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

// settle waits until the operator has written nothing for some time, and no object has changed, which
// could make it write.
func (s *scenario) settle() error {
	limit := time.Now().Add(s.config.Limits.Converge)
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
	if versions := s.history.since(time.Time{}); len(versions) > 0 {
		last = versions[len(versions)-1].at
	}
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
	if err := s.soon(func() error { return s.saysReady(sample) }); err != nil {
		return err
	}
	return s.settle()
}

// settles starts the operator, and creates samples of these names that become ready.
func (s *scenario) settles(names ...string) []*unstructured.Unstructured {
	s.start()
	return s.ready(names...)
}

// ready creates samples of these names, and waits until they are ready. If that fails, the check
// can't be judged.
func (s *scenario) ready(names ...string) (samples []*unstructured.Unstructured) {
	for _, name := range names {
		samples = append(samples, s.create(s.sample(name)))
	}
	s.awaitReady(samples...)
	return samples
}

func (s *scenario) awaitReady(samples ...*unstructured.Unstructured) {
	if err := s.becomes(samples...); err != nil {
		s.unable("%s: see the check converge", plain(err))
	}
}

func (s *scenario) awaitSettled() {
	if err := s.settle(); err != nil {
		s.unable("%s: see the check converge", plain(err))
	}
}

// mutate changes a sample, and waits until that has its effect.
func (s *scenario) mutate(sample *unstructured.Unstructured, m Mutation) {
	s.patch(sample, asJSON(m.Patch))
	if err := s.soon(func() error { return s.hasEffect(sample, m) }); err != nil {
		s.unable("%s: see the check mutations", plain(err))
	}
}
