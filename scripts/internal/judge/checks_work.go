package judge

// Does the operator do its work, from its start to its end?

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/process"
)

func workChecks() []Check {
	return []Check{
		{
			Name:    "converge",
			Promise: "each sample becomes ready, and then the operator stops writing",
			Why:     "All other checks build on this. Endless writes burden the API server, etcd and everyone who watches.",
			Fix:     "Read the evidence: it names the cause, or shows the operator's log and its refused requests.",
			Lesson:  "01-raw-watch/README.md",
			run:     converges,
		},
		{
			Name:     "mutations",
			Promise:  "each change to a sample reaches the objects that it owns",
			Why:      "If a change to the spec has no effect, users can't tell a slow operator from a broken one.",
			Fix:      "Compare each field that the sample decides with the owned object and write it if it differs.",
			Lesson:   "01-raw-watch/README.md",
			requires: "mutations",
			run:      mutationsReach,
		},
		{
			Name:    "drift",
			Promise: "a manual change to a field that the operator has set is reverted",
			Why:     "An operator that only reacts to changes of the spec may never revert a manual change (drift).",
			Fix:     "Watch the objects that you own and compare them in each reconcile, whatever triggered it.",
			Lesson:  "02-informers/README.md",
			run:     driftIsReverted,
		},
		{
			Name:    "recreate",
			Promise: "an owned object is created again after somebody deletes it",
			Why:     "Deletion is the most extreme drift. An operator that doesn't watch what it creates never notices.",
			Fix:     "Watch the objects that you own and enqueue their owner when one of them is deleted.",
			Lesson:  "02-informers/README.md",
			run:     deletedComesBack,
		},
		{
			Name:    "start-without-crd",
			Promise: "an operator that starts before its CRD exists waits for it, or exits and works after a restart",
			Why:     "Helm, GitOps and people apply things in any order, and nobody should have to restart the operator.",
			Fix:     "Retry, or exit with an error so that the program is started again. Don't go on without the watch.",
			Lesson:  "01-raw-watch/README.md",
			run: func(s *scenario) {
				group := s.samples[0].GroupVersionKind().Group
				startsLater(s, "the API group is missing", func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Hide(group) })
			},
		},
		{
			Name:    "start-without-permissions",
			Promise: "an operator that starts before it has its permissions waits for them, or exits and works after a restart",
			Why:     "A Role may be applied a second too late. The operator must wait without flooding the API server.",
			Fix:     "Let the informer retry, or exit with an error so that the program is started again.",
			Lesson:  "02-informers/README.md",
			run: func(s *scenario) {
				startsLater(s, "all permissions are missing", func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Forbid() })
			},
		},
		{
			Name:      "sigterm",
			Promise:   "on SIGTERM, the operator exits with status 0 within the grace period",
			Why:       "Otherwise, the kubelet kills it in the middle of its work.",
			Fix:       "Pass a context that ends on SIGTERM to everything that runs and return from main when it has stopped.",
			Lesson:    "01-raw-watch/README.md",
			ofProgram: true,
			run:       endsOnSIGTERM,
		},
	}
}

// startsLater starts the operator while something is missing that it needs.
func startsLater(s *scenario, missing string, hide func(*faultproxy.Proxy) *faultproxy.Fault) {
	var fault *faultproxy.Fault
	r := s.startBehind(func(p *faultproxy.Proxy) { fault = hide(p) })
	sample := s.create(s.sample("early"))
	lasts := s.config.Limits.Quiet / 2
	s.step("%s for %v", missing, lasts)
	s.needs(s.soon(func() error {
		if fault.Hits() == 0 {
			return fmt.Errorf("the operator doesn't notice that %s: it has sent %d requests", missing, len(r.Proxy.Requests()))
		}
		return nil
	}))
	began := time.Now()
	s.pass(lasts)
	if requests := s.since(began); float64(len(requests)) > loop*lasts.Seconds() {
		s.found(Error, asEvidence(requests), "while %s, the operator sends more than %d requests a second", missing, loop)
	}
	s.step("now nothing is missing")
	fault.Stop()
	began = time.Now()
	if s.recovers(began, sample, "%s at first, and when that is fixed, the operator doesn't do its work", missing) {
		s.measure("restarts: %d", len(s.crashes()))
		s.measure("time until it works: %.2f s", time.Since(began).Seconds())
	}
}

func converges(s *scenario) {
	s.start()
	for i, sample := range s.samples {
		began := time.Now()
		created := s.create(s.renamed(sample, sample.GetName()))
		if err := s.becomes(created); err != nil {
			s.found(Error, s.diagnosis(created), "%s doesn't converge: %s", title(sample), plain(err))
			s.fails.Store(i == 0)
			return
		}
		if i == 0 {
			s.measure("time until the first sample is ready: %.2f s", (time.Since(began) - settled).Seconds())
		}
	}
	s.foundCrashes()
}

func mutationsReach(s *scenario) {
	s.start()
	for i, m := range s.config.Mutations {
		sample := s.ready(fmt.Sprintf("mutated-%d", i))[0]
		began := time.Now()
		sample = s.patch(sample, asJSON(m.Patch))
		if !s.promise(began, s.config.Limits.Converge, sample, func() error { return s.hasEffect(sample, m) },
			"the mutation %q doesn't have the expected effect", m.Name) {
			continue
		}
		s.promise(began, s.config.Limits.Converge, sample, func() error { return s.becomes(sample) },
			"after the mutation %q, the sample doesn't converge", m.Name)
	}
}

func driftIsReverted(s *scenario) {
	sample := s.startWith("drifted")[0]
	tried := 0
	stays := map[string][]string{} // by kind, the fields
	for _, object := range s.owned(sample) {
		kind, drifts := object.GetKind(), s.drifts(object)
		if len(drifts) == 0 {
			s.measure("%s has no field that could be changed by hand", title(object))
		}
		for _, d := range drifts {
			if slices.Contains(stays[kind], d.String()) || len(stays[kind]) == 2 {
				continue // two are enough, because each takes all of the limit
			}
			began := time.Now()
			reverted := s.interfere(sample, object, d)
			if reverted == nil {
				continue
			}
			tried++
			if s.soon(reverted) != nil {
				change := fmt.Sprintf("the judge changes %s of %s from %v to %v", d, title(object), d.was, d.becomes)
				stays[kind] = append(stays[kind], d.String())
				severity := Error
				if kind == "Secret" { // what the operator has made up, such as a password, it can't know any more
					severity = Warning
				}
				s.foundAlso(severity, append([]Evidence{{began, change, d.patch}}, s.evidence(began, object)...),
					fmt.Sprintf("a manual change to a %s isn't reverted, although the operator set that field", kind), d.String())
				s.undo(object, d)
			}
			s.needs(s.becomes(sample))
		}
	}
	if tried == 0 {
		s.skip("the owned objects have no field that the judge could change by hand: it would have to be a scalar, " +
			"set by the operator, and not immutable")
	}
}

func deletedComesBack(s *scenario) {
	sample := s.startWith("deleted")[0]
	for _, object := range s.owned(sample) {
		began := time.Now()
		s.remove(metav1.DeletePropagationBackground, object)
		isOfKind := func(v snapshot) bool { return v.object.GetKind() == object.GetKind() }
		isBack := func() error {
			if !slices.ContainsFunc(s.created(began, sample), isOfKind) {
				return errors.New("nothing has replaced it")
			}
			return nil
		}
		if !s.promise(began, s.config.Limits.Converge, sample, isBack, "a deleted %s doesn't come back", object.GetKind()) {
			return
		}
	}
	s.needs(s.becomes(sample))
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
