package judge

// One run of the judge: it prepares the cluster, and runs the checks.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
)

// Options say what to judge, and where.
type Options struct {
	Config *Config
	// Command starts the operator. {kubeconfig}, {namespace}, {metrics} and {probes} in its
	// arguments are replaced: by a path, by the namespace to act on, and by free ports.
	Command []string
	// Target is the API server, with an administrator's credentials.
	Target *rest.Config
	// Checks are those to run.
	Checks []Check
	// Parallel is how many of them run at the same time, if each has an operator that only acts on
	// the check's namespace. 0 means DefaultParallel.
	Parallel int
	// Progress is called when a check begins (with no verdict) and when it has ended. It may be nil.
	Progress func(Result)
}

// Judge runs checks of one operator on one cluster.
type Judge struct {
	config      *Config
	command     []string
	target      *rest.Config
	client      kubernetes.Interface
	dynamic     dynamic.Interface
	mapper      *restmapper.DeferredDiscoveryRESTMapper
	permissions operator.Permissions
	samples     []*unstructured.Unstructured
	ready       *expression
	mutations   []mutation
	watched     []schema.GroupVersionResource // the samples' and those of the owned kinds
	first       map[schema.GroupVersionResource]bool
}

// mutation is a Mutation with compiled expressions.
type mutation struct {
	Mutation
	expect []expectation
}

type expectation struct {
	kind  string
	count *int
	*expression
}

// Run runs the checks, and returns their results in the same order. The error says why nothing could
// be judged.
func Run(ctx context.Context, o Options) ([]Result, error) {
	j, err := newJudge(ctx, o)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(o.Checks))
	run := func(i int) {
		check := o.Checks[i]
		result := Result{Check: check.Name, Promise: check.Promise}
		if o.Progress != nil {
			o.Progress(result)
		}
		if why := check.NotFor(j.config); why != "" {
			result.Verdict, result.Why = Skipped, why
		} else {
			result = j.try(ctx, check)
		}
		results[i] = result
		if o.Progress != nil {
			o.Progress(result)
		}
	}
	var alone, together []int
	for i, check := range o.Checks {
		if check.Alone || !j.isNamespaced() {
			alone = append(alone, i)
		} else {
			together = append(together, i)
		}
	}
	queue := make(chan int)
	var workers sync.WaitGroup
	if o.Parallel == 0 {
		o.Parallel = DefaultParallel
	}
	for range o.Parallel {
		workers.Go(func() {
			for i := range queue {
				run(i)
			}
		})
	}
	for _, i := range together {
		queue <- i
	}
	close(queue)
	workers.Wait()
	for _, i := range alone { // last, because their objects take long to be gone
		run(i)
	}
	return results, context.Cause(ctx)
}

// newJudge returns a Judge whose manifests are applied.
func newJudge(ctx context.Context, o Options) (*Judge, error) {
	command := slices.Concat(o.Command[:1], o.Config.Args, o.Command[1:])
	j := &Judge{config: o.Config, command: command, target: rest.CopyConfig(o.Target)}
	j.target.QPS = -1
	if err := errors.Join(j.readSamples(), j.compile(), j.connect()); err != nil {
		return nil, err
	}
	return j, j.apply(ctx)
}

// DefaultParallel keeps two cores busy. Most checks wait most of the time.
const DefaultParallel = 4

// isNamespaced reports whether the operator can be told to act on one namespace only.
func (j *Judge) isNamespaced() bool {
	return slices.ContainsFunc(j.command, func(arg string) bool { return strings.Contains(arg, "{namespace}") })
}

// longest bounds every check.
const longest = 10 * time.Minute

func (j *Judge) try(ctx context.Context, check Check) Result {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("the check didn't end within %v", longest))
	defer cancel()
	t := &attempt{ctx: ctx, result: Result{Check: check.Name, Promise: check.Promise}}
	return t.try(func() { check.judge(j.newScenario(t)) })
}

func (j *Judge) readSamples() error {
	for _, file := range j.config.Samples {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var sample unstructured.Unstructured
		if err := yaml.Unmarshal(content, &sample.Object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if sample.GetKind() == "" || sample.GetAPIVersion() == "" || sample.GetName() == "" {
			return problem.New("%s isn't a sample", file).ToDo("it needs one object with apiVersion, kind and metadata.name")
		}
		j.samples = append(j.samples, &sample)
	}
	return nil
}

func (j *Judge) compile() (err error) {
	ready := j.config.Ready.CEL
	if ready == "" {
		ready = fmt.Sprintf(`has(object.status) && has(object.status.conditions) && object.status.conditions.exists(c, c.type == %q && c.status == "True" && (!has(c.observedGeneration) || c.observedGeneration == object.metadata.generation))`, j.config.Ready.Condition)
	}
	if j.ready, err = compile(ready); err != nil {
		return fmt.Errorf("ready.cel: %w", err)
	}
	if j.config.Ready.Condition != "" {
		j.ready.text = fmt.Sprintf("the condition %s is True", j.config.Ready.Condition)
	}
	for i, m := range j.config.Mutations {
		compiled := mutation{Mutation: m}
		for n, e := range m.Expect {
			expected := expectation{kind: e.Kind, count: e.Count}
			if e.CEL != "" {
				if expected.expression, err = compile(e.CEL); err != nil {
					return fmt.Errorf("mutations.%d.expect.%d.cel: %w", i, n, err)
				}
			}
			compiled.expect = append(compiled.expect, expected)
		}
		j.mutations = append(j.mutations, compiled)
	}
	return nil
}

func (j *Judge) connect() (err error) {
	if j.client, err = kubernetes.NewForConfig(j.target); err != nil {
		return err
	}
	if j.dynamic, err = dynamic.NewForConfig(j.target); err != nil {
		return err
	}
	j.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(j.client.Discovery()))
	j.permissions, err = j.grants()
	return err
}

// grants are the operator's permissions: those of judge.yaml or, without any there, all.
func (j *Judge) grants() (operator.Permissions, error) {
	if j.config.Permissions == "" {
		return operator.Everything(), nil
	}
	permissions, err := operator.ReadPermissions(j.config.Permissions)
	if err != nil {
		return operator.Permissions{}, err
	}
	if stale := operator.Compare(permissions.Rules, nil, j.config.UnusedPermissions).Stale; len(stale) > 0 {
		return operator.Permissions{}, problem.New("unusedPermissions: %s doesn't grant %s", j.config.Permissions, strings.Join(stale, ", ")).
			ToDo("remove what isn't granted; permissions look like update deployments.apps or get secrets")
	}
	return permissions, nil
}

// apply applies the manifests, and finds out how the API calls the kinds.
func (j *Judge) apply(ctx context.Context) error {
	for _, file := range j.config.Manifests {
		if err := j.applyFile(ctx, file); err != nil {
			return err
		}
	}
	j.watched, j.first = nil, map[schema.GroupVersionResource]bool{}
	for _, sample := range j.samples {
		mapping, err := j.mapper.RESTMapping(sample.GroupVersionKind().GroupKind(), sample.GroupVersionKind().Version)
		if err != nil {
			return problem.New("the cluster doesn't know the sample's kind %s", sample.GroupVersionKind()).ToDo("add its CRD to manifests").Because(err)
		}
		if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
			return problem.New("%s isn't namespaced", sample.GetKind()).ToDo("the judge can only judge operators of " +
				"namespaced objects")
		}
		if !j.first[mapping.Resource] {
			j.first[mapping.Resource] = true
			j.watched = append(j.watched, mapping.Resource)
		}
	}
	for i, kind := range j.config.Owns {
		mapping, err := j.mapper.RESTMapping(kind.GroupVersionKind().GroupKind(), kind.GroupVersionKind().Version)
		if err != nil {
			return problem.New("owns.%d: the cluster doesn't know %s", i, kind.GroupVersionKind()).ToDo("check apiVersion and kind, or add the CRD to manifests").Because(err)
		}
		j.watched = append(j.watched, mapping.Resource)
	}
	return nil
}

// applyFile applies the objects in a file, and waits until its CRDs can be used.
func (j *Judge) applyFile(ctx context.Context, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var object unstructured.Unstructured
		if err := documents.Decode(&object.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if err := j.applyObject(ctx, &object); err != nil {
			return fmt.Errorf("%s: %s: %w", file, title(&object), err)
		}
	}
}

func (j *Judge) applyObject(ctx context.Context, object *unstructured.Unstructured) error {
	mapping, err := j.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	api := dynamic.ResourceInterface(j.dynamic.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		api = j.dynamic.Resource(mapping.Resource).Namespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault))
	}
	if _, err := api.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
		return err
	}
	if object.GetKind() != "CustomResourceDefinition" {
		return nil
	}
	return j.awaitCRD(ctx, object)
}

// awaitCRD waits until objects of the kind can be listed. The condition Established isn't enough,
// because for some moments more, requests may be answered 404 or 429.
func (j *Judge) awaitCRD(ctx context.Context, crd *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		j.mapper.Reset()
		var mapping *meta.RESTMapping
		if mapping, last = j.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind}); last == nil {
			_, last = j.dynamic.Resource(mapping.Resource).List(ctx, metav1.ListOptions{Limit: 1})
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("it can't be used: %w", last)
	}
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
