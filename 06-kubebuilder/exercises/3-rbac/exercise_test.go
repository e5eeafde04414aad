//go:build check || solution

// These tests compare what the markers allow with what the controller needs. controller-gen's own
// generator reads the markers, from the file that Reconcile is in. There is no list of what the
// controller needs. Instead, it runs against an API server (apiserver_test.go) that records every
// permission it checks.
//
// As given, no marker is right. `workshop test` checks these failures:
//
// fails: TestMarkers/Foos are read from the cache
// says: too many: verbs=* on foos
//
// fails: TestMarkers/the status of Foos is applied
// says: foos/example/status: it applies an object. Which verb is that?
//
// fails: TestMarkers/a Deployment delays the deletion of its Foo
// says: because the object delays the deletion of its owner
//
// fails: TestMarkers/Deployments are read from the cache, and applied
// says: deployments/web, if the object doesn't exist yet
//
// fails: TestMarkers/ConfigMaps are read from the cache, in one namespace
// says: too wide: list;watch on configmaps, in all namespaces
//
// fails: TestMarkers/events are recorded
// says: refused: POST /apis/events.k8s.io/v1/namespaces/default/events: it records an event
//
// fails: TestMarkers/no other permissions
// says: too many: get;list;watch on secrets

package rbac

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

func TestMarkers(t *testing.T) {
	rights, asked := rightsOf(t), aDay(t).asked
	// The order of the requests is random, so sort them.
	slices.SortFunc(asked, func(a, b question) int { return strings.Compare(a.Namespace, b.Namespace) })
	resources := map[string]string{
		"Foos are read from the cache":                         "foos",
		"the status of Foos is applied":                        "foos/status",
		"a Deployment delays the deletion of its Foo":          "foos/finalizers",
		"Deployments are read from the cache, and applied":     "deployments",
		"ConfigMaps are read from the cache, in one namespace": "configmaps",
		"events are recorded":                                  "events",
		"no other permissions":                                 "",
	}
	named := slices.Collect(maps.Values(resources))
	for sentence, resource := range resources {
		t.Run(sentence, func(t *testing.T) {
			isOf := func(other string) bool {
				return other == resource || resource == "" && !slices.Contains(named, other)
			}
			for _, problem := range slices.Concat(missing(asked, rights, isOf), tooMany(asked, rights, isOf)) {
				t.Error(problem)
			}
			if t.Failed() {
				t.Log(place(isOf))
			}
		})
	}
}

// right is one verb on one resource.
type right struct {
	verb, group, resource string
	namespace             string   // of the Role; "" in a ClusterRole
	names                 []string // of the objects; none means all
}

// allows reports whether a right allows what the authorizer is asked, by RBAC's rules.
func (r right) allows(q question) bool {
	return is(r.verb, q.Verb) && is(r.group, q.Group) && r.isFor(q.Resource) &&
		(r.namespace == "" || r.namespace == q.Namespace) && (len(r.names) == 0 || slices.Contains(r.names, q.Name))
}

// isFor reports whether a right covers a resource. * and */status cover many.
func (r right) isFor(resource string) bool {
	_, subresource, _ := strings.Cut(resource, "/")
	return is(r.resource, resource) || subresource != "" && r.resource == "*/"+subresource
}

func is(allowed, asked string) bool { return allowed == "*" || allowed == asked }

// missing asks about each missing permission: it shows a request that the API server would refuse.
func missing(asked []question, rights []right, isOf func(resource string) bool) []string {
	problems := map[string]string{}
	for _, q := range asked {
		if !isOf(q.Resource) || slices.ContainsFunc(rights, func(r right) bool { return r.allows(q) }) {
			continue
		}
		where, elsewhere := "", q
		for _, r := range rights {
			if elsewhere.Namespace = r.namespace; r.namespace != "" && r.allows(elsewhere) {
				where = " (allowed only in the namespace " + r.namespace + ")"
			}
			if unnamed := r; len(r.names) > 0 {
				unnamed.names = nil
				if unnamed.allows(q) {
					where = " (allowed only with the name " + strings.Join(r.names, ", ") + ")"
				}
			}
		}
		key := q.Verb + " " + q.Resource + where
		if problems[key] == "" {
			problems[key] = "refused" + where + ": " + q.Why
		}
	}
	return slices.Sorted(maps.Values(problems))
}

// tooMany asks about each right that nothing needs, or that is wider than needed.
func tooMany(asked []question, rights []right, isOf func(resource string) bool) []string {
	verbs := map[string][]string{} // by problem
	for _, r := range rights {
		if isOf(r.resource) {
			for _, problem := range r.check(asked) {
				verbs[problem] = append(verbs[problem], r.verb)
			}
		}
	}
	var all []string
	for problem, verbs := range verbs {
		slices.Sort(verbs)
		all = append(all, strings.ReplaceAll(problem, "VERBS", strings.Join(slices.Compact(verbs), ";")))
	}
	slices.Sort(all)
	return all
}

// check asks about a right that allows more than is needed. VERBS is a
// placeholder for all verbs with the same problem.
func (r right) check(asked []question) (problems []string) {
	var used, similar []question // what it allows, and everything about its resource
	for _, q := range asked {
		if r.isFor(q.Resource) {
			similar = append(similar, q)
		}
		if r.allows(q) {
			used = append(used, q)
		}
	}
	verbs := distinct(similar, func(q question) string { return q.Verb })
	groups := distinct(similar, func(q question) string { return q.Group })
	namespaces := distinct(used, func(q question) string { return q.Namespace })

	switch {
	case strings.HasPrefix(r.resource, "/"):
		return []string{fmt.Sprintf("too many: VERBS on urls=%s: nothing uses them", r.resource)}
	case strings.HasPrefix(r.resource, "*"):
		return []string{fmt.Sprintf("too many: verbs=VERBS on resources=%s: this includes every resource in the cluster, even Secrets. "+
			"Which ones are needed?", r.resource)}
	}
	if r.verb == "*" {
		problems = append(problems, fmt.Sprintf("too many: verbs=* on %s: this includes deletecollection, and verbs that don't exist yet. "+
			"What does the controller do with %[1]s?", r.resource))
	}
	if r.group == "*" {
		problems = append(problems, fmt.Sprintf("too many: groups=* on %s: this includes resources with this name in every group. "+
			"Which group is this one's?", r.resource))
	}
	what := fmt.Sprintf("VERBS on %s in the %s", r.resource, group(r.group))
	switch {
	case len(problems) > 0:
	case len(used) > 0 && r.namespace == "" && len(namespaces) == 1 && namespaces[0] != "":
		problems = append(problems, fmt.Sprintf("too wide: VERBS on %s, in all namespaces. "+
			"Where does the controller use them, and how does a marker make a Role there?", r.resource))
	case len(used) > 0:
	case len(similar) == 0:
		problems = append(problems, "too many: "+what+": who uses it?")
	case !slices.Contains(groups, r.group):
		problems = append(problems, "too many: "+what+": in which group are the requests?")
	case !slices.Contains(verbs, r.verb) && r.verb == "get" && slices.Contains(verbs, "list"):
		problems = append(problems, "too many: "+what+": no request uses it. Where does the manager's client read?")
	case !slices.Contains(verbs, r.verb) && r.verb == "update" && slices.Contains(verbs, "patch"):
		problems = append(problems, "too many: "+what+": no request uses it. Which method does an apply have?")
	case !slices.Contains(verbs, r.verb):
		problems = append(problems, "too many: "+what+": who uses it?")
	case len(r.names) > 0:
		problems = append(problems, fmt.Sprintf("too many: %s, with the name %s: no request has this name", what, strings.Join(r.names, ", ")))
	default:
		problems = append(problems, fmt.Sprintf("too many: %s, in the namespace %s: nothing uses it there", what, r.namespace))
	}
	return problems
}

// distinct returns the distinct values of questions.
func distinct(questions []question, value func(question) string) []string {
	all := map[string]bool{}
	for _, q := range questions {
		all[value(q)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// group describes an API group.
func group(name string) string {
	if name == "" {
		return `group ""` // the core group, for example of Secrets
	}
	return "group " + name
}

// source returns the name of the file that Reconcile is in: exercise.go or solution.go.
func source() string {
	function := runtime.FuncForPC(reflect.ValueOf((*Reconciler).Reconcile).Pointer())
	file, _ := function.FileLine(function.Entry())
	return filepath.Base(file)
}

// rightsOf returns the rights in the roles that controller-gen generates from the markers.
func rightsOf(t *testing.T) []right {
	t.Helper()
	packages, err := loader.LoadRoots(source())
	must(t, err)
	collector := &markers.Collector{Registry: &markers.Registry{}}
	must(t, rbac.Generator{}.RegisterMarkers(collector.Registry))
	read, err := markers.PackageMarkers(collector, packages[0])
	if err != nil {
		packages[0].AddError(err) // the error has the line
	}
	for _, e := range packages[0].Errors {
		where := strings.TrimPrefix(e.Pos, filepath.Dir(packages[0].GoFiles[0])+"/")
		t.Errorf("controller-gen can't read the marker at %s: %s\n"+
			"Write groups=…,resources=…,verbs=…, and separate the entries of a list by semicolons, as in verbs=list;watch", where, e.Msg)
	}
	if t.Failed() {
		t.FailNow()
	}
	content, err := os.ReadFile(source())
	must(t, err)
	if seen, written := len(read[rbac.RuleDefinition.Name]), len(marker.FindAll(content, -1)); seen < written {
		t.Fatalf("controller-gen ignores %d of %d markers: put them in a separate comment, "+
			"with an empty line before the next comment or function", written-seen, written)
	}
	roles, err := rbac.GenerateRoles(&genall.GenerationContext{Collector: collector, Roots: packages}, "manager-role")
	must(t, err)

	var rights []right
	for _, role := range roles {
		var rules []rbacv1.PolicyRule
		var namespace string
		switch role := role.(type) {
		case rbacv1.ClusterRole:
			rules = role.Rules
		case rbacv1.Role:
			rules, namespace = role.Rules, role.Namespace
		}
		for _, rule := range rules {
			for _, url := range rule.NonResourceURLs {
				rights = append(rights, right{verb: strings.Join(rule.Verbs, ";"), resource: url})
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						rights = append(rights, right{verb, group, resource, namespace, rule.ResourceNames})
					}
				}
			}
		}
	}
	return rights
}

// marker matches a marker, and the resources in it.
var marker = regexp.MustCompile(`(?m)^\s*//\s*\+kubebuilder:rbac:(?:.*,)?resources="?([^,"\n]*)`)

// place returns the line of a marker for such a resource, or of any marker if there is none.
func place(isOf func(resource string) bool) string {
	content, _ := os.ReadFile(source())
	first := 0
	for i, line := range strings.Split(string(content), "\n") {
		match := marker.FindStringSubmatch(line)
		switch {
		case match == nil:
		case slices.ContainsFunc(strings.Split(match[1], ";"), isOf):
			return fmt.Sprintf("the marker: %s:%d", source(), i+1)
		case first == 0:
			first = i + 1
		}
	}
	return fmt.Sprintf("the first marker: %s:%d", source(), max(1, first))
}
