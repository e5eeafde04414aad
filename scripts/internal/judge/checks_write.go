package judge

// Does the operator write only what it must?

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
)

func writeChecks() []Check {
	return []Check{
		{
			Name:    "writes",
			Promise: "a new sample needs few writes, and each of them changes something",
			Why:     "Even a write that changes nothing goes through admission, webhooks and validation.",
			Fix:     "Compare the object with the desired state and write only if they differ.",
			Lesson:  "05-controller-runtime/more/pitfalls.md",
			run:     fewWrites,
		},
		{
			Name:    "quiet",
			Promise: "the operator writes nothing as long as nothing that concerns it changes",
			Why:     "Objects are reconciled again and again. If each reconcile writes, a big cluster is never quiet.",
			Fix:     "Compare before you write. Compare only fields that you set: the API server fills in others.",
			Lesson:  "05-controller-runtime/more/pitfalls.md",
			run:     staysQuiet,
		},
		{
			Name:    "restart",
			Promise: "after a restart, the operator writes nothing if nothing has changed",
			Why:     "After a restart, each object looks new. If each is written again, every upgrade floods the API server.",
			Fix:     "Compare before you write and build the desired state in the same order each time: maps have none.",
			Lesson:  "02-informers/README.md",
			run:     restartsQuietly,
		},
		{
			Name:    "upgrade",
			Promise: "a new version of the operator changes nothing that the version before it had finished",
			Why: "A new default, or a hash over a struct that has got another field, makes the first start of the new " +
				"version replace each user's Pods, all at once.",
			Fix:      "Undo the change, or apply it to new samples only. Otherwise, say in the release notes what is replaced.",
			Lesson:   "07-tdset-operator/more/packaging.md",
			requires: "--from",
			run:      upgradesQuietly,
		},
	}
}

func fewWrites(s *scenario) {
	began := time.Now()
	sample := s.startWith("written")[0]
	writes := s.writes(began)
	s.measure("writes per sample: %d", len(writes))
	perObject := map[string][]audit.Request{}
	var same []audit.Request
	for i, write := range writes {
		isSame := func(r audit.Request) bool { return r.ResourceVersion == write.ResourceVersion }
		if write.ResourceVersion != "" && write.Verb != "delete" && slices.ContainsFunc(writes[:i], isSame) {
			same = append(same, write)
		}
		if write.Code < 300 {
			object := write.GroupResource().String() + " " + write.Name
			perObject[object] = append(perObject[object], write)
		}
	}
	if len(same) > 0 {
		s.found(Warning, asEvidence(same), "while a sample becomes ready, the operator writes what is already stored")
	}
	for _, object := range s.owned(sample) {
		if first := s.history.of(object)[0].object; podTemplate(first) != podTemplate(object) {
			s.found(Warning, s.evidence(began, object), "the Pods of a new sample are started twice, because the template of "+
				"its %s changes after its creation", object.GetKind())
		}
	}
	for object, writes := range perObject {
		if most := s.config.Limits.WritesPerObject; len(writes) > most {
			s.found(Warning, asEvidence(writes), "%s is written %d times until %s is ready, but the limit is %d",
				object, len(writes), title(sample), most)
		}
	}
}

// podTemplate is what all Pods of a workload are made from. If it changes, all are replaced.
func podTemplate(workload *unstructured.Unstructured) string {
	pods, _, _ := unstructured.NestedMap(workload.Object, "spec", "template")
	return asJSON(pods)
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
			for i := range 5 { // what the operator computes may depend on chance
				s.annotate(sample, fmt.Sprintf("judge.example.com/unrelated-%d-%d", round, i))
			}
		}},
		{"somebody labels an owned object", func(round int) {
			for _, object := range s.owned(sample) {
				s.patch(object, fmt.Sprintf(`{"metadata":{"labels":{"judge.example.com/unrelated":"%d"}}}`, round))
			}
		}},
	}
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
		s.foundWrites(writes, "the operator writes when it has no reason to", occasion.name)
	}
	s.foundCrashes()
}

// foundWrites is a finding about writes that nothing has made necessary.
func (s *scenario) foundWrites(writes []audit.Request, what, when string) {
	switch {
	case slices.ContainsFunc(writes, s.hasChanged):
		s.foundAlso(Error, asEvidence(writes), what, when)
	case len(writes) > 0:
		s.foundAlso(Warning, asEvidence(writes), what, when)
	}
}

// hasChanged reports whether a write has changed something. If the API server finds nothing to change,
// it answers with the version that the object had before, which is in the body of a PUT, or was seen
// earlier. An Event is always something new, and a refused write never.
func (s *scenario) hasChanged(write audit.Request) bool {
	if write.Code >= 300 {
		return false
	}
	var sent metav1.PartialObjectMetadata
	if json.Unmarshal([]byte(audit.Readable(write.Body)), &sent) == nil && sent.ResourceVersion != "" {
		return sent.ResourceVersion != write.ResourceVersion
	}
	isOld := func(v snapshot) bool {
		return v.object.GetResourceVersion() == write.ResourceVersion && v.at.Before(write.Received)
	}
	return write.ResourceVersion == "" || write.Verb == "delete" ||
		!slices.ContainsFunc(s.history.since(time.Time{}), isOld)
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

// restarts is how often the operator starts again before the judge looks. What it computes may depend
// on chance, such as the order of a map, and be the same as before now and then.
const restarts = 3

func restartsQuietly(s *scenario) {
	s.startWith("restarted")
	writes := s.writesTwice(audit.Request.ChangesObjects, func(int) { // Events may report a new leader
		for range restarts {
			s.step("stop the operator")
			s.replicas[len(s.replicas)-1].Stop()
			again := s.start()
			s.needs(s.soon(func() error { return s.watches(again, time.Time{}) }))
			s.pass(settled / 2)
		}
		s.pass(max(settled, s.config.Limits.Quiet/4))
	})
	s.foundWrites(writes, "the operator writes although nothing has changed", "after a restart")
}

// upgradesQuietly lets the version before this one finish its work, and then starts this one.
func upgradesQuietly(s *scenario) {
	s.binary = s.config.From
	s.start()
	for _, sample := range s.samples {
		created := s.create(s.renamed(sample, sample.GetName()))
		if err := s.becomes(created); err != nil {
			s.unable("the older version doesn't do its work: %s; %s", plain(err), s.diagnosis(created)[0].Text)
		}
	}
	for i, m := range s.config.Mutations {
		s.mutate(s.ready(fmt.Sprintf("mutated-%d", i))[0], m)
	}
	s.needs(s.settle())
	s.step("stop the version before")
	s.replicas[0].Stop()
	isIts := func(object *unstructured.Unstructured) bool { return s.isOwnedKind(object) && !s.made[object.GetUID()] }
	finished := s.history.objects(isIts)
	began := time.Now()
	s.binary = s.command[0]
	upgraded := s.start()
	s.needs(s.soon(func() error { return s.watches(upgraded, began) }))
	s.pass(s.config.Limits.Quiet / 2)
	_ = s.settle() // if it never does, quiet says so
	const what = "the new version changes what the version before it had finished"
	for _, before := range finished {
		if now := s.history.now(before); now != nil {
			for _, change := range changes(before, now) {
				s.foundAlso(Error, s.evidence(began, before), what, before.GetKind()+" ("+change+")")
			}
		} else if before.GetDeletionTimestamp() == nil {
			s.foundAlso(Error, s.evidence(began, before), what, before.GetKind()+" (deleted)")
		}
	}
	writes := slices.DeleteFunc(s.writes(began), func(r audit.Request) bool { return !s.hasChanged(r) })
	if len(s.result.Findings) == 0 && len(writes) > 0 {
		s.found(Warning, asEvidence(writes), "the new version writes, but changes the content of no object: it may be metadata "+
			"or a status")
	}
	s.foundCrashes()
}
