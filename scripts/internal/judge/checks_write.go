package judge

// Does the operator write only what it must?

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/audit"
)

func writeChecks() []Check {
	return []Check{
		{
			Name:    "writes",
			Promise: "a new sample needs few writes, and each of them changes something",
			Why: "A write that changes nothing isn't free. It goes through admission, webhooks and validation " +
				"before the API server notices that there is nothing to store. Usually it means that the operator doesn't " +
				"compare the object with the desired state before it writes.",
			Fix:    "Compare the object with the desired state, and write only if they differ.",
			Lesson: "05-controller-runtime/more/pitfalls.md",
			run:    fewWrites,
		},
		{
			Name:    "quiet",
			Promise: "the operator writes nothing as long as nothing that concerns it changes",
			Why: "Every resync (a repeated look at all objects), every new list after a broken watch, and every " +
				"change by somebody else makes the operator check its objects again. If it writes each time, a cluster " +
				"with a thousand objects is never quiet.",
			Fix:    "Compare before you write. Compare only fields that you set: the API server fills in others.",
			Lesson: "05-controller-runtime/more/pitfalls.md",
			run:    staysQuiet,
		},
		{
			Name:    "restart",
			Promise: "after a restart, the operator writes nothing if nothing has changed",
			Why: "After a restart, each object looks new to the operator. If it writes each of them again, every " +
				"upgrade of the operator floods the API server.",
			Fix: "Compare before you write, and build the desired state in the same order each time: maps " +
				"have none.",
			Lesson: "02-informers/README.md",
			run:    restartsQuietly,
		},
	}
}

func fewWrites(s *scenario) {
	began := time.Now()
	sample := s.startWith("written")[0]
	writes := s.writes(began)
	s.foundNoOps(writes, "while a sample becomes ready")
	perObject := map[string][]audit.Request{}
	for _, write := range writes {
		if write.Code < 300 {
			key := write.GroupResource().String() + " " + write.Name
			perObject[key] = append(perObject[key], write)
		}
	}
	s.measure("writes per sample: %d", len(writes))
	for object, writes := range perObject {
		if most := s.config.Limits.WritesPerObject; len(writes) > most {
			s.found(Warning, asEvidence(writes), "%s is written %d times until %s is ready, but the limit is %d",
				object, len(writes), title(sample), most)
		}
	}
}

func staysQuiet(s *scenario) {
	sample := s.startWith("quiet")[0]
	occasions := []struct {
		name string
		do   func(round int)
	}{
		{"nothing happens", func(int) {}},
		{"the watches end and all objects are listed again", func(int) { s.replicas[0].Proxy.GoneAsEvent() }},
		{"somebody annotates the sample", func(round int) {
			s.annotate(sample, fmt.Sprintf("judge.example.com/unrelated-%d", round))
		}},
		{"somebody labels an owned object", func(round int) {
			for _, object := range s.owned(sample) {
				s.patch(object, fmt.Sprintf(`{"metadata":{"labels":{"judge.example.com/unrelated":"%d"}}}`, round))
			}
		}},
	}
	var noisy []string
	var evidence []Evidence
	severity := Warning
	for _, occasion := range occasions {
		writes := s.writesTwice(writesOrReports, func(round int) {
			lasts := s.config.Limits.Quiet
			if round == 1 {
				lasts /= time.Duration(len(occasions))
			}
			s.step("%s; then the judge waits %v", occasion.name, lasts)
			occasion.do(round)
			s.pass(lasts)
		})
		if len(writes) > 0 {
			noisy = append(noisy, occasion.name)
			evidence = append(evidence, asEvidence(writes)...)
		}
		if slices.ContainsFunc(writes, s.hasChanged) {
			severity = Error
		}
	}
	if len(noisy) > 0 {
		s.found(severity, evidence, "the operator writes when %s", strings.Join(noisy, ", and when "))
	}
	s.foundCrashes()
}

// hasChanged reports whether a write has changed something. If the API server finds nothing to change,
// it answers with the version that the object had before. An Event is always something new.
func (s *scenario) hasChanged(write audit.Request) bool {
	isOld := func(v snapshot) bool {
		return v.object.GetName() == write.Name && v.object.GetResourceVersion() == write.ResourceVersion &&
			v.at.Before(write.Received)
	}
	return write.ResourceVersion == "" || !slices.ContainsFunc(s.history.since(time.Time{}), isOld)
}

// writesOrReports also accepts Events, which an operator may send once, but not each time that it
// checks its objects.
func writesOrReports(r audit.Request) bool {
	return r.ChangesObjects() || r.IsWrite() && r.GroupResource().Resource == "events"
}

// writesTwice returns the requests that the operator sends meanwhile and that include accepts, if it
// does so in both of two rounds. On a busy machine, what it writes in the first round can be late, and
// about something earlier.
func (s *scenario) writesTwice(include func(audit.Request) bool, do func(round int)) (writes []audit.Request) {
	for round := 1; round <= 2; round++ {
		began := time.Now()
		do(round)
		if writes = s.since(began, include); len(writes) == 0 || s.settle() != nil {
			break
		}
	}
	return writes
}

func restartsQuietly(s *scenario) {
	s.startWith("restarted")
	writes := s.writesTwice(audit.Request.ChangesObjects, func(int) { // Events may report a new leader
		s.step("stop the operator")
		s.replicas[len(s.replicas)-1].Stop()
		again := s.start()
		s.needs(s.soon(func() error { return s.watches(again, time.Time{}) }))
		s.pass(max(settled, s.config.Limits.Quiet/4))
	})
	if len(writes) > 0 {
		severity := Warning
		if slices.ContainsFunc(writes, s.hasChanged) {
			severity = Error
		}
		s.found(severity, asEvidence(writes), "after a restart, the operator writes although nothing has changed")
	}
}

// foundNoOps is a finding for the writes that the server has answered with the object as it was.
func (s *scenario) foundNoOps(writes []audit.Request, when string) {
	last := map[string]string{} // by object, its resourceVersion
	var same []audit.Request
	for _, write := range writes {
		if write.ResourceVersion == "" || write.Code >= 300 || write.Verb == "delete" {
			continue
		}
		object := write.GroupResource().String() + " " + write.Name
		if last[object] == write.ResourceVersion {
			same = append(same, write)
		}
		last[object] = write.ResourceVersion
	}
	if len(same) > 0 {
		s.found(Warning, asEvidence(same), "%s, the operator writes what is already stored", when)
	}
}
