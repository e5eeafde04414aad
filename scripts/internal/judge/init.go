package judge

// judge init: it lets the operator work on a sample, and writes judge.yaml from what it sees.

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/problem"
)

const (
	mostMutations = 3  // that Init proposes
	mostTried     = 20 // fields of the sample, because each takes a few seconds
)

// draft is what Init finds out.
type draft struct {
	Config    *Config
	Args      string // of the operator, as YAML
	Unique    []string
	Ready     string // a line of YAML
	Mutations []proposal
	Ignored   []string // fields of the sample
}

// proposal is a mutation. Its expectations are lines of YAML.
type proposal struct {
	Name, Patch string
	Expect      []string
	isIgnored   bool
}

//go:embed init.tmpl
var draftText string

var draftTemplate = template.Must(template.New("judge.yaml").Parse(draftText))

// Init returns the text of a judge.yaml for the folder dir, and which requests the API server has
// refused meanwhile. o.Config needs manifests and one sample.
func Init(ctx context.Context, o Options, dir string) (judgeYAML string, refused []string, err error) {
	kinds, err := newJudges(ctx, o, "")
	if err != nil {
		return "", nil, err
	}
	d := draft{Config: kinds[0].config, Args: asJSON(o.Command[1:])}
	t := &attempt{ctx: ctx}
	result := t.try(func() {
		s := kinds[0].newScenario(t)
		defer func() { refused = s.refusals() }()
		s.explore(&d)
	})
	if result.Why != "" {
		seen := slices.Concat(refused, []string{"the end of the operator's log:", ownLines(result.Log)})
		return "", nil, problem.New("%s", result.Why).ToDo("look at what the judge has seen:\n%s", strings.Join(seen, "\n"))
	}
	for _, paths := range [][]string{o.Config.Manifests, o.Config.Samples} {
		for i, path := range paths {
			if short, err := filepath.Rel(dir, path); err == nil {
				paths[i] = short
			}
		}
	}
	var text strings.Builder
	err = draftTemplate.Execute(&text, d)
	return text.String(), refused, err
}

// explore runs the operator with a sample.
func (s *scenario) explore(d *draft) {
	s.start()
	sample := s.create(s.sample(s.samples[0].GetName()))
	s.needs(s.soon(func() error {
		if len(s.createdKinds()) == 0 {
			return errors.New("the operator creates nothing for the sample")
		}
		return nil
	}))
	s.pass(2 * settled)
	s.needs(s.settle())
	s.config.Owns = s.createdKinds()
	s.must(s.learnKinds())
	s.follow() // now with the owned objects
	_ = s.soon(func() (err error) {
		d.Ready, err = readiness(s.history.now(sample))
		return err
	})
	var names []any
	for _, object := range s.owned(sample) {
		names = append(names, object.GetName())
	}
	for i, field := range leaves(sample.Object["spec"], "spec") {
		if i >= mostTried || strings.Contains(field.String(), "[") { // a merge patch can't change it
			continue
		}
		if slices.Contains(names, field.value) {
			d.Unique = append(d.Unique, field.String())
		}
		p := s.propose(sample, field)
		if p.isIgnored {
			d.Ignored = append(d.Ignored, field.String())
		}
		if len(p.Expect) > 0 && len(d.Mutations) < mostMutations {
			d.Mutations = append(d.Mutations, p)
		}
	}
}

// createdKinds are the kinds of the objects that the operator has created in this namespace.
func (s *scenario) createdKinds() (kinds []Kind) {
	for _, write := range s.writes(time.Time{}) {
		creates := write.Code < 300 && (write.Verb == "create" || write.IsApply())
		isElsewhere := write.Namespace != s.namespace && !s.isClusterScoped
		if !creates || isElsewhere || strings.Contains(write.Resource, "/") {
			continue
		}
		kind, err := s.mapper.KindFor(schema.GroupVersionResource{Group: write.Group, Resource: write.Resource})
		if err != nil || kind.GroupKind() == s.samples[0].GroupVersionKind().GroupKind() {
			continue
		}
		created := Kind{kind.GroupVersion().String(), kind.Kind}
		if !slices.Contains(kinds, created) {
			kinds = append(kinds, created)
		}
	}
	return kinds
}

// readiness is the condition that says best that the operator has done its work. The error says that
// this may take longer.
func readiness(sample *unstructured.Unstructured) (line string, err error) {
	var isTrue []string
	for _, c := range conditions(sample) {
		err = errors.New("no condition is True yet")
		if c["status"] == "True" {
			isTrue = append(isTrue, fmt.Sprint(c["type"]))
		}
	}
	for _, known := range append([]string{"Ready", "Available", "Synced"}, isTrue...) {
		if slices.Contains(isTrue, known) {
			return fmt.Sprintf("ready: {condition: %s}", known), nil
		}
	}
	return "# No condition was True, so this counts any sample with an owned object as ready. Write a better " +
		"expression.\nready: {cel: \"true\"}", err
}

// propose changes a field of the sample, and looks which fields of the owned objects follow.
func (s *scenario) propose(sample *unstructured.Unstructured, field leaf) (p proposal) {
	values := others(field.value)
	if len(values) == 0 {
		return p
	}
	began := time.Now()
	p.Name, p.Patch = "change "+field.String(), patchOf(field, values[0])
	usual := s.counts(sample)
	set := func(value any) error {
		_, err := s.tryPatch(sample, types.MergePatchType, patchOf(field, value))
		s.pass(settled)
		_ = s.settle()
		return err
	}
	if set(values[0]) != nil {
		return p // it is immutable, or the value is invalid
	}
	isAboutOwned := func(r audit.Request) bool { return slices.Contains(names(s.ofOwned), r.Resource) }
	p.isIgnored = !slices.ContainsFunc(s.writes(began), isAboutOwned)
	for _, object := range s.owned(sample) {
		kind := object.GetKind()
		if object.GetName() == values[0] { // the object with the old name must go
			p.Expect = append(p.Expect,
				fmt.Sprintf("{kind: %s, cel: %q, count: %d}", kind, "object.metadata.name == sample."+field.String(), usual[kind]))
		}
		for _, follower := range append(leaves(object.Object["spec"], "spec"), leaves(object.Object["data"], "data")...) {
			if _, isBool := values[0].(bool); follower.value == values[0] && !isBool { // which may be by chance
				p.Expect = append(p.Expect, fmt.Sprintf("{kind: %s, cel: %q}", kind, fmt.Sprintf("object.%s == sample.%s", follower, field)))
			}
		}
	}
	s.must(set(field.value))
	return p
}

// patchOf returns a JSON merge patch that sets one field.
func patchOf(field leaf, value any) string {
	for _, key := range slices.Backward(field.path) {
		value = map[string]any{key.(string): value}
	}
	return asJSON(value)
}
