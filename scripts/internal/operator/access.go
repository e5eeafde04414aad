package operator

// Comparing an operator's permissions with the requests that it has sent.

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/operators/scripts/internal/audit"
)

// Usage says what an operator does with its permissions. It names them like kubectl auth can-i:
// update deployments.apps.
type Usage struct {
	// Granted has all permissions, and Used those that the requests needed, sorted.
	Granted, Used []string
	// Missing are the requests that were refused, by the permission that they needed.
	Missing map[string][]audit.Request
	// Unused are permissions that no request needed, and for which Why has no reason either.
	Unused []string
	// Wildcards are permissions with a *, which allow what nobody has listed.
	Wildcards []string
	// Stale are reasons for permissions that aren't granted. They would excuse those if they came back.
	Stale []string
}

// Compare compares the rules with all requests that the operator has sent. reasons say why it needs a
// permission that no request shows.
func Compare(rules []rbacv1.PolicyRule, requests []audit.Request, reasons map[string]string) Usage {
	usage := Usage{Missing: map[string][]audit.Request{}}
	used := map[string]bool{}
	for _, request := range requests {
		if request.Resource == "" {
			continue // discovery, which everybody may use
		}
		right := Right(request.Verb, request.Resource, request.Group)
		used[right] = true
		if request.Code == http.StatusForbidden {
			usage.Missing[right] = append(usage.Missing[right], request)
		}
	}
	usage.Used = slices.Sorted(maps.Keys(used))
	usage.Granted = Rights(rules)
	for _, right := range slices.Sorted(maps.Keys(reasons)) {
		if !slices.Contains(usage.Granted, right) {
			usage.Stale = append(usage.Stale, right)
		}
	}
	for _, right := range usage.Granted {
		switch {
		case strings.Contains(right, "*"):
			usage.Wildcards = append(usage.Wildcards, right)
		case !used[right] && reasons[right] == "" && why(right, requests) == "":
			usage.Unused = append(usage.Unused, right)
		}
	}
	return usage
}

// Rights returns the permissions that the rules grant, sorted.
func Rights(rules []rbacv1.PolicyRule) []string {
	granted := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted[Right(verb, resource, group)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(granted))
}

// Right names a permission, such as update deployments.apps or list pods.
func Right(verb, resource, group string) string {
	return strings.TrimSuffix(verb+" "+resource+"."+group, ".")
}

// why says why any operator needs a permission that its requests don't show, or "".
func why(right string, requests []audit.Request) string {
	verb, resource, _ := strings.Cut(right, " ")
	plain, subresource, _ := strings.Cut(resource, "/")
	did := func(what func(audit.Request) bool) bool {
		return slices.ContainsFunc(requests, func(r audit.Request) bool {
			return Right("", r.Resource, r.Group) == " "+resource && what(r)
		})
	}
	switch {
	case verb == "list" && did(func(r audit.Request) bool { return r.Verb == "watch" }):
		return "a list is the fallback for a server that can't start a watch with the existing objects"
	case verb == "create" && did(audit.Request.IsApply):
		return "a server-side apply that creates an object needs it, but is a patch"
	case verb == "patch" && (plain == "events" || plain == "events.events.k8s.io"):
		return "a repeated Event is counted in the first one"
	case verb == "update" && strings.HasPrefix(subresource, "finalizers"):
		return "the admission plugin OwnerReferencesPermissionEnforcement requires it for blockOwnerDeletion"
	}
	return ""
}
