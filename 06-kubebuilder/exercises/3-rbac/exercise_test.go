//go:build check || solution

// These tests compare what the markers allow with what the controller's requests need.
// controller-gen's own generator reads the markers, from the file that Reconcile is in.
//
// As given, no marker is right. `workshop test` checks these failures:
//
// fails: TestMarkers/Foos are read from the cache
// says: too many: * on foos in the group "*"
//
// fails: TestMarkers/the status of Foos is applied
// says: refused: PATCH …/foos/example/status
//
// fails: TestMarkers/a Deployment delays the deletion of its Foo
// says: because the object delays the deletion of its owner
//
// fails: TestMarkers/Deployments are read from the cache, and applied
// says: refused: PATCH …/deployments/web, if the object doesn't exist yet
//
// fails: TestMarkers/ConfigMaps are read from the cache, in one namespace
// says: too many: list on configmaps in the group "", in all namespaces
//
// fails: TestMarkers/events are recorded
// says: refused: POST /apis/events.k8s.io/v1/namespaces/default/events
//
// fails: TestMarkers/no other permissions
// says: too many: list on secrets in the group ""

package rbac

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// right is one verb on one resource.
type right struct {
	verb, resource, group string
	namespace             string // of the Role; "" in a ClusterRole
	name                  string // of the object; "" means all
}

func (r right) String() string {
	where := "in all namespaces"
	if r.namespace != "" {
		where = "in the namespace " + r.namespace
	}
	if r.name != "" {
		where += ", with the name " + r.name
	}
	return fmt.Sprintf("%s on %s in the group %q, %s", r.verb, r.resource, r.group, where)
}

// needs maps each right that the controller needs to the request that needs it.
type needs map[right]string

func TestMarkers(t *testing.T) {
	const group, namespace = "samplecontroller.k8s.io", "foo-operator-system"
	const list = "the cache begins with it if the server can't stream lists. Which verb is that?"
	const watch = "it keeps the cache up to date. Which verb is that?"
	rights := rightsOf(t)
	for sentence, test := range map[string]struct {
		resource string
		needs    needs
		hint     string
	}{
		"Foos are read from the cache": {
			resource: "foos",
			needs: needs{
				{verb: "list", group: group}:  "GET …/foos: " + list,
				{verb: "watch", group: group}: "GET …/foos?watch=true: " + watch,
			},
			hint: "where does the manager's client read?",
		},
		"the status of Foos is applied": {
			resource: "foos/status",
			needs: needs{
				{verb: "patch", group: group}: "PATCH …/foos/example/status: it applies an object. Which verb is that?",
			},
			hint: "which method does an apply have?",
		},
		"a Deployment delays the deletion of its Foo": {
			resource: "foos/finalizers",
			needs: needs{
				{verb: "update", group: group}: "PATCH …/deployments/web, because the object delays the deletion of its owner, " +
					"as a finalizer does: what must the controller be allowed to change?",
			},
			hint: "the API server asks for only one verb here",
		},
		"Deployments are read from the cache, and applied": {
			resource: "deployments",
			needs: needs{
				{verb: "list", group: "apps"}:   "GET …/deployments: " + list,
				{verb: "watch", group: "apps"}:  "GET …/deployments?watch=true: " + watch,
				{verb: "patch", group: "apps"}:  "PATCH …/deployments/web: it applies an object. Which verb is that?",
				{verb: "create", group: "apps"}: "PATCH …/deployments/web, if the object doesn't exist yet: which other verb does it need then?",
			},
			hint: "where does the manager's client read, and which method does an apply have?",
		},
		"ConfigMaps are read from the cache, in one namespace": {
			resource: "configmaps",
			needs: needs{
				{verb: "list", namespace: namespace}:  "GET …/configmaps: " + list,
				{verb: "watch", namespace: namespace}: "GET …/configmaps?watch=true: " + watch,
			},
			hint: "where does the controller use them, and how does a marker make a Role there?",
		},
		"events are recorded": {
			resource: "events",
			needs: needs{
				{verb: "create", group: "events.k8s.io"}: "POST /apis/events.k8s.io/v1/namespaces/default/events: it records an event. " +
					"Which verb is that, and in which group?",
				{verb: "patch", group: "events.k8s.io"}: "PATCH /apis/events.k8s.io/v1/namespaces/default/events/example: " +
					"it counts a repeated event in the first one. Which verb is that?",
			},
			hint: "in which group are the requests?",
		},
		"no other permissions": {hint: "who uses it?"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var needed []right
			for r, request := range test.needs {
				r.resource = test.resource
				if needed = append(needed, r); !slices.Contains(rights, r) {
					t.Errorf("refused: %s", request)
				}
			}
			for _, r := range rights {
				if isAbout(r.resource, test.resource) && !slices.Contains(needed, r) {
					t.Errorf("too many: %v: %s", r, test.hint)
				}
			}
		})
	}
}

// isAbout reports whether a right for a resource belongs to a row. The row "" has all others.
func isAbout(resource, row string) bool {
	others := !slices.Contains([]string{"foos", "foos/status", "foos/finalizers", "deployments", "configmaps", "events"}, resource)
	return resource == row || row == "" && others
}

// marker matches the beginning of a marker.
var marker = regexp.MustCompile(`(?m)^\s*//\s*\+kubebuilder:rbac:`)

// rightsOf returns the rights in the roles that controller-gen generates from the markers in the
// file that Reconcile is in: exercise.go or solution.go.
func rightsOf(t *testing.T) (rights []right) {
	t.Helper()
	function := runtime.FuncForPC(reflect.ValueOf((*Reconciler).Reconcile).Pointer())
	file, _ := function.FileLine(function.Entry())
	source := filepath.Base(file)
	packages, err := loader.LoadRoots(source)
	must(t, err)
	collector := &markers.Collector{Registry: &markers.Registry{}}
	must(t, rbac.Generator{}.RegisterMarkers(collector.Registry))
	read, err := markers.PackageMarkers(collector, packages[0])
	if err != nil {
		t.Fatalf("controller-gen can't read a marker: %v\n"+
			"Write groups=…,resources=…,verbs=…, and separate the entries of a list by semicolons, as in verbs=list;watch", err)
	}
	content, err := os.ReadFile(source)
	must(t, err)
	if seen, written := len(read[rbac.RuleDefinition.Name]), len(marker.FindAll(content, -1)); seen < written {
		t.Fatalf("controller-gen ignores %d of %d markers: put them in a separate comment, "+
			"with an empty line before the next comment or function", written-seen, written)
	}
	roles, err := rbac.GenerateRoles(&genall.GenerationContext{Collector: collector, Roots: packages}, "manager-role")
	must(t, err)
	for _, role := range roles {
		switch role := role.(type) {
		case rbacv1.ClusterRole:
			rights = append(rights, rightsIn(role.Rules, "")...)
		case rbacv1.Role:
			rights = append(rights, rightsIn(role.Rules, role.Namespace)...)
		}
	}
	return rights
}

func rightsIn(rules []rbacv1.PolicyRule, namespace string) (rights []right) {
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					rights = append(rights, right{verb, resource, group, namespace, strings.Join(rule.ResourceNames, ", ")})
				}
			}
			for _, url := range rule.NonResourceURLs {
				rights = append(rights, right{verb: verb, resource: url})
			}
		}
	}
	return rights
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
