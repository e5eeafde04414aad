package judge

// Which requests does the operator send, and which may it send?

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/operator"
)

func accessChecks() []Check {
	return []Check{
		{
			Name:      "permissions",
			Promise:   "the operator has every permission that it uses, and uses every permission that it has",
			Why:       "A missing permission breaks the operator later, and an unnecessary one helps an attacker.",
			Fix:       "Add the missing permissions to the Role. Remove the unused ones, or explain them in unusedPermissions.",
			Lesson:    "03-workqueue/README.md",
			requires:  "permissions",
			ofProgram: true,
			run:       permissionsAreUsed,
		},
		{
			Name:    "reads",
			Promise: "the operator watches instead of polling, and its lists are answered from the API server's cache",
			Why:     "Without a resourceVersion, the API server must ask etcd before each list, and then it sends every object.",
			Fix:     "Read from an informer's cache. List with resourceVersion=0 where any recent state will do.",
			Lesson:  "02-informers/README.md",
			run:     readsAreCheap,
		},
	}
}

// lifecycle takes samples through all that can happen to them. Other checks judge whether the
// operator does its work, so most of the waits may fail here.
func (s *scenario) lifecycle(name string) {
	s.start(s.config.SecondReplica.Args...) // an election has permissions of its own
	sample := s.ready(name)[0]
	owned := s.owned(sample)
	for _, m := range s.config.Mutations {
		s.mutate(sample, m)
	}
	_ = s.soon(s.interfereOnce(sample))
	s.remove(metav1.DeletePropagationBackground, s.owned(sample)...)
	_ = s.becomes(sample)
	for _, bad := range s.config.BadInput {
		_, _ = s.tryPatch(sample, types.MergePatchType, asJSON(bad.Patch)) // best if the API server refuses it
		s.pass(settled)
	}
	s.remove(metav1.DeletePropagationBackground, sample)
	_ = s.soon(func() error { return s.areGone(sample) })
	s.takeNames(owned)
	s.create(s.sample(name))
	s.pass(2 * settled)
	for _, r := range s.replicas {
		r.Stop() // sends the recorded Events
	}
}

func permissionsAreUsed(s *scenario) {
	for _, s.judge = range s.kinds { // the permissions are for all of them
		s.prepare()
		s.lifecycle("used-" + strings.ToLower(s.samples[0].GetKind())) // in the same namespace
		s.removeSamples(s.ctx)
	}
	usage := operator.Compare(s.permissions.Rules, s.requests(), s.config.UnusedPermissions)
	s.measure("permissions: %d", len(usage.Granted))
	for _, right := range slices.Sorted(maps.Keys(usage.Missing)) {
		s.foundAlso(Error, asEvidence(usage.Missing[right][:1]), "permissions are missing", right)
	}
	if len(usage.Wildcards) > 0 {
		s.found(Warning, []Evidence{noted("with them, the operator may do more than its Roles list")},
			"permissions are wildcards: %s", strings.Join(usage.Wildcards, ", "))
	}
	if len(usage.Unused) > 0 {
		s.found(Warning, []Evidence{noted("the operator has used these permissions: %s", strings.Join(usage.Used, ", "))},
			"permissions are never used: %s", strings.Join(usage.Unused, ", "))
	}
}

func readsAreCheap(s *scenario) {
	s.startWith("read")
	s.step("the judge waits %v", s.config.Limits.Quiet)
	began := time.Now()
	s.pass(s.config.Limits.Quiet)
	expensive := s.since(time.Time{}, func(r audit.Request) bool {
		isList := r.Verb == "list" && r.Resource != "" && r.Code < 300
		given := func(option string) bool { return r.Query().Get(option) != "" } // a selected field keeps the list short
		return isList && !given("resourceVersion") && !given("limit") && !given("fieldSelector")
	})
	if len(expensive) > 0 {
		s.found(Warning, asEvidence(expensive), "the operator lists with neither a resourceVersion nor a limit")
	}
	polls := map[string][]audit.Request{}
	for _, request := range s.since(began, func(r audit.Request) bool {
		return (r.Verb == "get" || r.Verb == "list") && r.Resource != "" && !r.IsElection()
	}) {
		polls[request.URI] = append(polls[request.URI], request)
	}
	for _, uri := range slices.Sorted(maps.Keys(polls)) {
		if requests := polls[uri]; len(requests) >= 2 {
			first := requests[0]
			s.found(Warning, asEvidence(requests), "the operator polls: %s",
				operator.Right(first.Verb, first.Resource, first.Group))
		}
	}
}
