package judge

// Which requests does the operator send, and which may it send?

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/audit"
)

func accessChecks() []Check {
	return []Check{
		{
			Name:    "permissions",
			Promise: "the operator has all permissions that it uses, and uses all that it has",
			Why:     "A missing permission breaks the operator later, when it first needs it. An unnecessary one is what an attacker gets who takes it over.",
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
			Why:     "A list without resourceVersion and without a limit makes the API server read everything from etcd. An operator that reads again and again costs that each time.",
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
	b.remove(sample, metav1.DeletePropagationBackground)
	b.pass(2 * settled)
	for _, r := range b.replicas {
		r.stop() // sends the recorded Events
	}
}

func right(verb, resource, group string) string {
	if group == "" {
		return verb + " " + resource
	}
	return fmt.Sprintf("%s %s.%s", verb, resource, group)
}

func permissionsAreUsed(b *Bench) {
	b.lifecycle()
	used := map[string]bool{}
	refused := map[string][]audit.Request{}
	for _, request := range b.requests() {
		if request.Resource == "" {
			continue // discovery, which everybody may use
		}
		name := right(request.Verb, request.Resource, request.Group)
		used[name] = true
		if request.Code == http.StatusForbidden {
			refused[name] = append(refused[name], request)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		b.find(Error, seen(refused[name]), "a permission is missing: %s", name)
	}
	granted := map[string]bool{}
	for _, rule := range b.permissions.Rules() {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted[right(verb, resource, group)] = true
				}
			}
		}
	}
	b.measure("permissions", float64(len(granted)), "")
	for _, name := range slices.Sorted(maps.Keys(granted)) {
		if why := b.whyUnused(name); !used[name] && why == "" {
			b.find(Warning, []Evidence{{At: time.Now(), Text: fmt.Sprintf("%s grants it, and it is none of the %d permissions that the operator used", filepath.Base(b.config.Permissions), len(used))}},
				"a permission is never used: %s", name)
		}
	}
}

// whyUnused says why an operator needs a permission although no request shows it, or "".
func (b *Bench) whyUnused(name string) string {
	verb, resource, _ := strings.Cut(name, " ")
	plain, subresource, _ := strings.Cut(resource, "/")
	did := func(include func(audit.Request) bool) bool {
		return len(b.since(time.Time{}, func(r audit.Request) bool { return right("", r.Resource, r.Group) == " "+resource && include(r) })) > 0
	}
	switch {
	case b.config.UnusedPermissions[name] != "":
		return b.config.UnusedPermissions[name]
	case verb == "list" && did(func(r audit.Request) bool { return r.Verb == "watch" }):
		return "client-go lists if a server can't start a watch with the existing objects"
	case verb == "create" && did(func(r audit.Request) bool { return r.Verb == "patch" && queryOf(r).Has("fieldManager") }):
		return "a server-side apply that creates an object needs it, and is a patch"
	case verb == "patch" && (plain == "events" || plain == "events.events.k8s.io"):
		return "a repeated Event is counted in the first one"
	case verb == "update" && strings.HasPrefix(subresource, "finalizers"):
		return "the admission plugin OwnerReferencesPermissionEnforcement requires it for blockOwnerDeletion"
	}
	return ""
}

func readsAreCheap(b *Bench) {
	b.settles("read")
	b.step("the judge waits %v", b.config.Limits.Quiet.Duration)
	began := time.Now()
	b.pass(b.config.Limits.Quiet.Duration)
	expensive := b.since(time.Time{}, func(r audit.Request) bool {
		query := queryOf(r)
		return r.Verb == "list" && r.Resource != "" && r.Code < 300 && query.Get("resourceVersion") == "" && query.Get("limit") == ""
	})
	if len(expensive) > 0 {
		b.find(Warning, seen(expensive), "the operator sends lists with neither resourceVersion nor limit")
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
			b.find(Warning, seen(requests), "the operator polls: %s", right(first.Verb, first.Resource, first.Group))
		}
	}
}

func queryOf(r audit.Request) url.Values {
	parsed, err := url.ParseRequestURI(r.URI)
	if err != nil {
		return nil
	}
	return parsed.Query()
}
