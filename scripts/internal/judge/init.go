package judge

// judge init: it lets the operator work on a sample, and writes judge.yaml from what it sees.

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/operators/scripts/internal/problem"
)

// mostMutations is how many mutations Init proposes.
const mostMutations = 3

// draft is what Init finds out.
type draft struct {
	owns      []metav1.TypeMeta
	unique    []string
	ready     string // a line of YAML
	mutations []proposal
}

// proposal is a mutation.
type proposal struct {
	name, patch string
	expect      []Expectation
}

// Init returns the text of a judge.yaml for the folder dir. o.Config needs manifests and one sample,
// and may have permissions.
func Init(ctx context.Context, o Options, dir string) (string, error) {
	o.Config.Ready = Ready{CEL: "true"}
	j, err := newJudge(ctx, o)
	if err != nil {
		return "", err
	}
	var found draft
	t := &attempt{ctx: ctx}
	result := t.try(func() {
		s := j.newScenario(t)
		found = s.explore()
	})
	if result.Why != "" {
		return "", problem.New("%s", result.Why).ToDo("this is the end of the operator's log:\n%s", result.Log)
	}
	return found.text(o.Config, dir), nil
}

// explore runs the operator with a sample.
func (s *scenario) explore() (d draft) {
	s.start()
	sample := s.create(s.sample(s.samples[0].GetName()))
	limit := time.Now().Add(s.config.Limits.Converge.Duration)
	if err := s.within(time.Until(limit), func() error {
		if len(s.createdKinds()) == 0 {
			return fmt.Errorf("the operator creates nothing for the sample")
		}
		return nil
	}); err != nil {
		s.Fatalf("%v", err)
	}
	s.pass(2 * settled)
	if err := s.settle(limit); err != nil {
		s.Fatalf("%v", err)
	}
	d.owns = s.createdKinds()
	s.config.Owns = d.owns
	owned := s.ownedNow(sample)
	d.ready = readiness(s.now(sample))
	for _, field := range leaves(sample.Object["spec"], []string{"spec"}) {
		for _, object := range owned {
			if field.value == object.GetName() {
				d.unique = append(d.unique, strings.Join(field.path, "."))
				break
			}
		}
	}
	for _, field := range leaves(sample.Object["spec"], []string{"spec"}) {
		if len(d.mutations) < mostMutations {
			if p, ok := s.propose(sample, field); ok {
				d.mutations = append(d.mutations, p)
			}
		}
	}
	return d
}

// createdKinds are the kinds of the objects that the operator has created in this namespace.
func (s *scenario) createdKinds() (kinds []metav1.TypeMeta) {
	for _, write := range s.writes(time.Time{}) {
		creates := write.Verb == "create" || write.IsApply()
		if !creates || write.Code >= 300 || write.Namespace != s.namespace || strings.Contains(write.Resource, "/") {
			continue
		}
		kind, err := s.mapper.KindFor(schema.GroupVersionResource{Group: write.Group, Resource: write.Resource})
		if err != nil || kind.GroupKind() == s.samples[0].GroupVersionKind().GroupKind() {
			continue
		}
		meta := metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}
		if !slices.Contains(kinds, meta) {
			kinds = append(kinds, meta)
		}
	}
	return kinds
}

// ownedNow asks the API server for the objects that the sample owns, because the history doesn't
// follow their kinds yet.
func (s *scenario) ownedNow(sample *unstructured.Unstructured) (owned []*unstructured.Unstructured) {
	for _, kind := range s.config.Owns {
		mapping, err := s.mapper.RESTMapping(kind.GroupVersionKind().GroupKind(), kind.GroupVersionKind().Version)
		s.must(err)
		list, err := s.of(mapping.Resource).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		for i := range list.Items {
			if controller := metav1.GetControllerOf(&list.Items[i]); controller == nil || controller.UID == sample.GetUID() {
				owned = append(owned, &list.Items[i])
			}
		}
	}
	return owned
}

// readiness is the condition that says best that the operator has done its work.
func readiness(sample *unstructured.Unstructured) string {
	isTrue := map[string]bool{}
	for _, c := range conditions(sample) {
		if c["status"] == "True" {
			isTrue[fmt.Sprint(c["type"])] = true
		}
	}
	for _, known := range append([]string{"Ready", "Available", "Synced"}, slices.Sorted(maps.Keys(isTrue))...) {
		if isTrue[known] {
			return fmt.Sprintf("ready: {condition: %s}", known)
		}
	}
	status, _ := sample.Object["status"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(status)) {
		return fmt.Sprintf("# No condition was True, so this only says that the status has a field. Write a better "+
			"one.\nready: {cel: has(object.status.%s)}", name)
	}
	return "# The sample has no status, so any sample with an owned object counts as ready. Write a better " +
		"expression.\nready: {cel: \"true\"}"
}

// leaf is a scalar in an object.
type leaf struct {
	path  []string
	value any
}

// leaves returns the scalars in nested objects, not those in lists, the highest first.
func leaves(value any, path []string) (all []leaf) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			all = append(all, leaves(value[key], append(slices.Clone(path), key))...)
		}
	case []any:
	default:
		all = append(all, leaf{path, value})
	}
	slices.SortStableFunc(all, func(a, b leaf) int { return len(a.path) - len(b.path) })
	return all
}

// propose changes a field of the sample, and looks which fields of the owned objects follow.
func (s *scenario) propose(sample *unstructured.Unstructured, field leaf) (p proposal, ok bool) {
	values := others(field.value)
	if len(values) == 0 || !isIdentifiers(field.path) {
		return p, false
	}
	p.name, p.patch = "change "+field.path[len(field.path)-1], patchOf(field.path, values[0])
	usual := map[string]int{}
	for _, object := range s.ownedNow(sample) {
		usual[object.GetKind()]++
	}
	if _, err := s.tryPatch(sample, "application/merge-patch+json", []byte(p.patch)); err != nil {
		return p, false // it is immutable, or the value is invalid
	}
	s.pass(settled)
	_ = s.settle(time.Now().Add(s.config.Limits.Converge.Duration))
	for _, object := range s.ownedNow(sample) {
		for _, part := range []string{"spec", "data", "metadata"} {
			for _, follower := range leaves(object.Object[part], []string{part}) {
				isName := part == "metadata" && len(follower.path) == 2 && follower.path[1] == "name"
				if (part != "metadata" || isName) && isIdentifiers(follower.path) && follower.value == values[0] && !hasTwoValues(field) {
					expected := Expectation{Kind: object.GetKind(), CEL: fmt.Sprintf("object.%s == sample.%s", strings.Join(follower.path, "."), strings.Join(field.path, "."))}
					if isName { // the object with the old name must go
						count := usual[object.GetKind()]
						expected.Count = &count
					}
					p.expect = append(p.expect, expected)
				}
			}
		}
	}
	s.patch(sample, patchOf(field.path, field.value))
	s.pass(settled)
	_ = s.settle(time.Now().Add(s.config.Limits.Converge.Duration))
	return p, len(p.expect) > 0
}

// patchOf returns a JSON merge patch that sets one field.
func patchOf(path []string, value any) string {
	for _, name := range slices.Backward(path) {
		value = map[string]any{name: value}
	}
	return asJSON(value)
}

// hasTwoValues reports whether a field is a bool, so that other fields may have its new value by
// chance.
func hasTwoValues(field leaf) bool {
	_, isBool := field.value.(bool)
	return isBool
}

// isIdentifiers reports whether a path can be written in CEL with dots.
func isIdentifiers(path []string) bool {
	return !slices.ContainsFunc(path, func(name string) bool {
		return name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
	})
}

func (d draft) text(c *Config, dir string) string {
	var y strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&y, format+"\n", args...) }
	relative := func(path string) string {
		if short, err := filepath.Rel(dir, path); err == nil {
			return short
		}
		return path
	}
	list := func(paths []string) string {
		var quoted []string
		for _, path := range paths {
			quoted = append(quoted, fmt.Sprintf("%q", relative(path)))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	line("# What the judge needs to know about the operator. judge explain judge.yaml describes all fields.")
	line("version: v1")
	line("manifests: %s", list(c.Manifests))
	if c.Permissions != "" {
		line("permissions: %q", relative(c.Permissions))
	} else {
		line("# If you name a file with the operator's Role here, the operator gets only these permissions, and the " +
			"judge checks them:\n# permissions: config/rbac/role.yaml")
	}
	line("samples: %s", list(c.Samples))
	if len(d.unique) > 0 {
		line("# Fields that must differ between two samples, because they name an owned object.")
		line("unique: [%s]", strings.Join(d.unique, ", "))
	}
	line("# The kinds of objects that the operator created for the sample.\nowns:")
	for _, kind := range d.owns {
		line("- {apiVersion: %s, kind: %s}", kind.APIVersion, kind.Kind)
	}
	line("%s", d.ready)
	if len(d.mutations) > 0 {
		line("# Changes to the sample, and what must then become true for an object that it owns.\nmutations:")
	} else {
		line("# No field of an owned object followed a field of the sample. Without mutations, less can be " +
			"judged:\n# mutations:\n# - name: scale\n#   patch: {spec: {replicas: 2}}\n#   expect:\n#   - {kind: " +
			"Deployment, cel: object.spec.replicas == sample.spec.replicas}")
	}
	for _, m := range d.mutations {
		line("- name: %s\n  patch: %s\n  expect:", m.name, m.patch)
		for _, e := range m.expect {
			count := ""
			if e.Count != nil {
				count = fmt.Sprintf(", count: %d", *e.Count)
			}
			line("  - {kind: %s, cel: %s%s}", e.Kind, e.CEL, count)
		}
	}
	line("# The arguments that turn on leader election, if the operator has it:\n# secondReplica: {args: " +
		"[--leader-elect]}")
	line("# How many objects there are each time that the judge measures the cost:\n# cost: [10, 100, 1000]")
	return y.String()
}
