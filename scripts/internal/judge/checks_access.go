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

	"example.com/operators/scripts/internal/access"
	"example.com/operators/scripts/internal/audit"
)

func accessChecks() []Check {
	return []Check{
		{
			Name:    "permissions",
			Promise: "the operator has every permission that it uses, and uses every permission that it has",
			Why:     "A missing permission breaks the operator later, when it first needs it. An unnecessary one helps an attacker who takes over the operator.",
			Lesson:  "03-workqueue/README.md",
			requires: func(j *Judge) string {
				if j.config.Permissions == "" {
					return "judge.yaml has no permissions"
				}
				return ""
			},
			judge: permissionsAreUsed,
		},
		{
			Name:    "reads",
			Promise: "the operator watches instead of polling, and its lists are answered from the API server's cache",
			Why:     "A list without resourceVersion and without a limit makes the API server read everything from etcd. An operator that polls makes it do that again and again.",
			Lesson:  "02-informers/README.md",
			judge:   readsAreCheap,
		},
	}
}

// lifecycle takes samples through all that can happen to them.
func (b *Bench) lifecycle() {
	var args []string
	if b.config.SecondReplica != nil {
		args = b.config.SecondReplica.Args // an election has permissions of its own
	}
	b.start(args...)
	sample := b.create(b.sample("used"))
	b.awaits(sample)
	owned := b.owned(sample)
	for _, m := range b.mutations {
		b.patch(sample, string(m.Patch))
		if err := b.within(b.config.Limits.Converge.Duration, func() error { return b.hasEffect(sample, m) }); err != nil {
			b.unable("%v: see the check mutations", err)
		}
	}
	undone := b.driftOne(sample)
	if err := b.within(b.config.Limits.Converge.Duration, undone); err != nil {
		b.step("%v: see the check drift", err)
	}
	for _, object := range b.owned(sample) {
		b.remove(object, metav1.DeletePropagationBackground)
	}
	_ = b.becomes(sample) // the check recreate judges that
	for _, bad := range b.config.BadInput {
		b.step("patch %s: %s", title(sample), bad.Patch)
		if _, err := b.tryPatch(sample, types.MergePatchType, bad.Patch); err != nil {
			b.step("%v", err) // which is best
		}
		b.pass(settled)
	}
	b.remove(sample, metav1.DeletePropagationBackground)
	_ = b.within(b.config.Limits.Converge.Duration, func() error { return b.areGone(sample) }) // the check delete-background judges that
	b.takeNames(owned)
	b.create(b.sample("used"))
	b.pass(2 * settled)
	for _, r := range b.replicas {
		r.Stop() // sends the recorded Events
	}
}

func permissionsAreUsed(b *Bench) {
	b.lifecycle()
	usage := access.Compare(b.permissions.Rules(), b.requests(), b.config.UnusedPermissions)
	b.measure("permissions", float64(len(usage.Granted)), "")
	for _, right := range slices.Sorted(maps.Keys(usage.Missing)) {
		b.find(Error, seen(usage.Missing[right]), "a permission is missing: %s", right)
	}
	granted := func(what string) []Evidence {
		return []Evidence{{At: time.Now(), Text: filepath.Base(b.config.Permissions) + " grants it, and " + what}}
	}
	for _, right := range usage.Wildcards {
		b.find(Warning, granted("so the operator may do more than the file lists"), "a permission is a wildcard: %s", right)
	}
	for _, right := range usage.Unused {
		b.find(Warning, granted(fmt.Sprintf("the operator has used %d permissions, but not this one", len(usage.Used))), "a permission is never used: %s", right)
	}
}

func readsAreCheap(b *Bench) {
	b.settles("read")
	b.step("the judge waits %v", b.config.Limits.Quiet.Duration)
	began := time.Now()
	b.pass(b.config.Limits.Quiet.Duration)
	expensive := b.since(time.Time{}, func(r audit.Request) bool {
		query := access.Query(r)
		return r.Verb == "list" && r.Resource != "" && r.Code < 300 && query.Get("resourceVersion") == "" && query.Get("limit") == ""
	})
	if len(expensive) > 0 {
		b.find(Warning, seen(expensive), "the operator sends list requests that have neither a resourceVersion nor a limit")
	}
	polls := map[string][]audit.Request{}
	for _, request := range b.since(began, func(r audit.Request) bool {
		return (r.Verb == "get" || r.Verb == "list") && r.Resource != "" && r.Resource != "leases"
	}) {
		polls[request.URI] = append(polls[request.URI], request)
	}
	for _, uri := range slices.Sorted(maps.Keys(polls)) {
		if requests := polls[uri]; len(requests) >= 2 {
			first := requests[0]
			b.find(Warning, seen(requests), "the operator polls: %s", access.Right(first.Verb, first.Resource, first.Group))
		}
	}
}
