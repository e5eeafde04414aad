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
	// Unused are permissions that nothing needed, and for which there is no reason either.
	Unused []string
	// Wildcards are permissions with a *, which allow what nobody has listed.
	Wildcards []string
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
	usage.Granted = rights(rules)
	for _, right := range usage.Granted {
		switch {
		case strings.Contains(right, "*"):
			usage.Wildcards = append(usage.Wildcards, right)
		case !used[right] && reasons[right] == "" && !isNeeded(right, requests):
			usage.Unused = append(usage.Unused, right)
		}
	}
	return usage
}

// rights returns the permissions that the rules grant, sorted.
func rights(rules []rbacv1.PolicyRule) []string {
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

// isNeeded reports whether any operator needs a permission although its requests don't show that.
func isNeeded(right string, requests []audit.Request) bool {
	verb, resource, _ := strings.Cut(right, " ")
	plain, subresource, _ := strings.Cut(resource, "/")
	did := func(what func(audit.Request) bool) bool {
		return slices.ContainsFunc(requests, func(r audit.Request) bool {
			return Right("", r.Resource, r.Group) == " "+resource && what(r)
		})
	}
	switch verb {
	case "list": // the fallback for a server that can't start a watch with the existing objects
		return did(func(r audit.Request) bool { return r.Verb == "watch" })
	case "create": // a server-side apply that creates an object needs it, but is a patch
		return did(audit.Request.IsApply)
	case "patch": // a repeated Event is counted in the first one
		return plain == "events" || plain == "events.events.k8s.io"
	case "update": // OwnerReferencesPermissionEnforcement requires it for blockOwnerDeletion
		return strings.HasPrefix(subresource, "finalizers")
	}
	return false
}
