package judge

// Which requests does the operator send, and which may it send?

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/operator"
)

func accessChecks() []Check {
	return []Check{
		{
			Name:    "permissions",
			Promise: "the operator has every permission that it uses, and uses every permission that it has",
			Why: "A missing permission breaks the operator later, when it first needs it. An unnecessary one helps " +
				"an attacker who takes over the operator.",
			Lesson: "03-workqueue/README.md",
			requires: func(config *Config) string {
				if config.Permissions == "" {
					return "judge.yaml has no permissions"
				}
				return ""
			},
			judge: permissionsAreUsed,
		},
		{
			Name:    "reads",
			Promise: "the operator watches instead of polling, and its lists are answered from the API server's cache",
			Why: "A list without resourceVersion and without a limit makes the API server read everything from " +
				"etcd. An operator that polls makes it do that again and again.",
			Lesson: "02-informers/README.md",
			judge:  readsAreCheap,
		},
	}
}

// lifecycle takes samples through all that can happen to them.
func (s *scenario) lifecycle() {
	var args []string
	if s.config.SecondReplica != nil {
		args = s.config.SecondReplica.Args // an election has permissions of its own
	}
	s.start(args...)
	sample := s.create(s.sample("used"))
	s.awaits(sample)
	owned := s.owned(sample)
	for _, m := range s.mutations {
		s.patch(sample, string(m.Patch))
		if err := s.within(s.config.Limits.Converge.Duration, func() error { return s.hasEffect(sample, m) }); err != nil {
			s.unable("%v: see the check mutations", err)
		}
	}
	undone := s.driftOne(sample)
	if err := s.within(s.config.Limits.Converge.Duration, undone); err != nil {
		s.step("%v: see the check drift", err)
	}
	for _, object := range s.owned(sample) {
		s.remove(object, metav1.DeletePropagationBackground)
	}
	_ = s.becomes(sample) // the check recreate judges that
	for _, bad := range s.config.BadInput {
		s.step("patch %s: %s", title(sample), bad.Patch)
		if _, err := s.tryPatch(sample, types.MergePatchType, bad.Patch); err != nil {
			s.step("%v", err) // which is best
		}
		s.pass(settled)
	}
	s.remove(sample, metav1.DeletePropagationBackground)
	_ = s.within(s.config.Limits.Converge.Duration, func() error { return s.areGone(sample) }) // the check delete-background judges that
	s.takeNames(owned)
	s.create(s.sample("used"))
	s.pass(2 * settled)
	for _, r := range s.replicas {
		r.Stop() // sends the recorded Events
	}
}

func permissionsAreUsed(s *scenario) {
	s.lifecycle()
	usage := operator.Compare(s.permissions.Rules, s.requests(), s.config.UnusedPermissions)
	s.measure("permissions", float64(len(usage.Granted)), "")
	for _, right := range slices.Sorted(maps.Keys(usage.Missing)) {
		s.find(Error, seen(usage.Missing[right]), "a permission is missing: %s", right)
	}
	granted := func(what string) []Evidence {
		return []Evidence{{At: time.Now(), Text: filepath.Base(s.config.Permissions) + " grants it, and " + what}}
	}
	for _, right := range usage.Wildcards {
		s.find(Warning, granted("so the operator may do more than the file lists"), "a permission is a wildcard: %s", right)
	}
	for _, right := range usage.Unused {
		s.find(Warning, granted(fmt.Sprintf("the operator has used %d permissions, but not this one", len(usage.Used))), "a permission is never used: %s", right)
	}
}

func readsAreCheap(s *scenario) {
	s.settles("read")
	s.step("the judge waits %v", s.config.Limits.Quiet.Duration)
	began := time.Now()
	s.pass(s.config.Limits.Quiet.Duration)
	expensive := s.since(time.Time{}, func(r audit.Request) bool {
		query := r.Query()
		return r.Verb == "list" && r.Resource != "" && r.Code < 300 && query.Get("resourceVersion") == "" && query.Get("limit") == ""
	})
	if len(expensive) > 0 {
		s.find(Warning, seen(expensive), "the operator sends list requests that have neither a resourceVersion nor a limit")
	}
	polls := map[string][]audit.Request{}
	for _, request := range s.since(began, func(r audit.Request) bool {
		return (r.Verb == "get" || r.Verb == "list") && r.Resource != "" && r.Resource != "leases"
	}) {
		polls[request.URI] = append(polls[request.URI], request)
	}
	for _, uri := range slices.Sorted(maps.Keys(polls)) {
		if requests := polls[uri]; len(requests) >= 2 {
			first := requests[0]
			s.find(Warning, seen(requests), "the operator polls: %s", operator.Right(first.Verb, first.Resource, first.Group))
		}
	}
}
