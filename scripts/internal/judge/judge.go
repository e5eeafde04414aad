// Package judge holds any operator to the course's contract.
//
//   - What to judge: judge.yaml (config.go, cel.go, manifests.go), and how to draft it (init.go).
//   - The checks: their list (checks.go), and their code by the question that they ask (checks_*.go).
//   - What checks are written with: a scenario, its objects, fields, history, replicas and their
//     requests, and waits (scenario.go and the files of these names).
//   - One run: all checks (judge.go), and each of them (attempt.go).
//   - What is found: result.go, and the reports: report.go, junit.go.
package judge

// One run of the judge: it prepares the cluster, and runs the checks.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
)

// Options say what to judge, and where.
type Options struct {
	Config *Config
	// Command starts the operator. The judge replaces the braces in its arguments, which
	// Reference describes.
	Command []string
	// Target is the API server, with an administrator's credentials.
	Target *rest.Config
	// Checks are those to run.
	Checks []Check
	// Parallel is how many of them run at the same time, if each has an operator that only acts on
	// the check's namespace. 0 means two for each processor, because most checks wait most of the time.
	Parallel int
	// Record makes each finding open in lens, on the page of WriteHTML.
	Record bool
	// Progress is called when a check has ended, with the number of those that have. It may be nil.
	Progress func(done, all int)
}

// judge runs checks of one kind that an operator manages, on one cluster.
type judge struct {
	kinds       []*judge // of all kinds, in the order of judge.yaml
	config      *Config  // with this kind in Managed
	command     []string
	target      *rest.Config
	client      kubernetes.Interface
	dynamic     dynamic.Interface
	mapper      *restmapper.DeferredDiscoveryRESTMapper
	permissions operator.Permissions
	webhooks    *operator.LocalWebhooks      // of the first replica; nil if judge.yaml has none
	crds        []*unstructured.Unstructured // between whose versions the operator converts
	samples     []*unstructured.Unstructured
	// The resources of the samples, and those of the objects that they own.
	ofSamples, ofOwned []schema.GroupVersionResource
	// What the operator's webhooks made of the first sample, as JSON.
	defaulted *atomic.Pointer[string]
	// The samples have no namespace. Then each check sees the whole cluster, and runs alone.
	isClusterScoped bool
	// The check converge has run, and the first sample doesn't become ready.
	fails *atomic.Bool
	// Each scenario keeps what lens shows.
	isRecorded bool
}

// Run runs the checks for each kind, and returns their results in the same order. If it is interrupted,
// the error says so, and the checks that haven't ended aren't judged. Without results, the error says
// why nothing could be judged.
func Run(ctx context.Context, o Options) (results []Result, err error) {
	dir, err := os.MkdirTemp("", "judge-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	kinds, err := newJudges(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	if len(kinds[0].crds) > 0 { // whose conversion nobody serves afterwards
		defer func() { err = errors.Join(err, kinds[0].applyAsGiven(context.WithoutCancel(ctx))) }()
	}
	ofOthers := slices.DeleteFunc(slices.Clone(o.Checks), func(c Check) bool { return c.ofProgram })
	all := len(o.Checks) + (len(kinds)-1)*len(ofOthers)
	var done atomic.Int32
	ended := func() {
		if n := int(done.Add(1)); o.Progress != nil {
			o.Progress(n, all)
		}
	}
	for i, kind := range kinds {
		checks := o.Checks
		if i > 0 {
			checks = ofOthers
		}
		results = append(results, kind.run(ctx, checks, o.Parallel, ended)...)
	}
	return results, context.Cause(ctx)
}

// run runs checks for this kind, and calls ended after each.
func (j *judge) run(ctx context.Context, checks []Check, parallel int, ended func()) []Result {
	results := make([]Result, len(checks))
	run := func(i int) {
		results[i] = j.try(ctx, checks[i])
		ended()
	}
	limit := cmp.Or(parallel, 2*runtime.NumCPU())
	if j.isAlone() {
		limit = 1
	}
	var together errgroup.Group
	together.SetLimit(limit)
	for i, check := range checks {
		if i == 0 && check.Name == "converge" { // all others build on it
			run(i)
		} else if !check.Alone {
			together.Go(func() error {
				run(i)
				return nil
			})
		}
	}
	_ = together.Wait()
	for i, check := range checks { // last, because their objects take long to be gone
		if check.Alone {
			run(i)
		}
	}
	onePerCause(results)
	return results
}

// newJudges returns a judge for each kind, and has applied the manifests. dir is for a certificate.
func newJudges(ctx context.Context, o Options, dir string) (kinds []*judge, err error) {
	command := slices.Concat(o.Command[:1], o.Config.Args, o.Command[1:])
	j := judge{config: o.Config, command: command, target: rest.CopyConfig(o.Target), isRecorded: o.Record}
	j.target.QPS = -1
	if err = j.connect(); err == nil && o.Config.InCluster {
		err = operator.CanImitatePods()
	}
	if err == nil && len(o.Config.Webhooks) > 0 {
		j.webhooks, err = operator.NewLocalWebhooks(filepath.Join(dir, defaultCertDir))
	}
	for _, managed := range o.Config.kinds() {
		config, kind := *o.Config, j
		config.Managed = managed
		kind.config, kind.fails = &config, new(atomic.Bool)
		kind.defaulted = new(atomic.Pointer[string])
		err = errors.Join(err, kind.readSamples())
		kinds = append(kinds, &kind)
	}
	if err == nil {
		err = j.apply(ctx, "", o.Config.Manifests...)
	}
	for _, kind := range kinds {
		kind.kinds, kind.crds = kinds, j.crds
		if err == nil {
			err = kind.learnKinds()
		}
	}
	return kinds, err
}

// isNamespaced reports whether the operator can be told to act on one namespace only.
func (j *judge) isNamespaced() bool {
	return !j.isClusterScoped && j.hasPlaceholder("{namespace}")
}

// hasPlaceholder reports whether the operator is told what the judge puts in place of a placeholder.
func (j *judge) hasPlaceholder(placeholder string) bool {
	given := slices.AppendSeq(slices.Clone(j.command), maps.Values(j.config.Env))
	return slices.ContainsFunc(given, func(text string) bool { return strings.Contains(text, placeholder) })
}

// isAlone reports whether checks must run one after another: the operator can't be told to act on one
// namespace only, or to serve its webhooks at another port, or a CRD names one replica that converts.
func (j *judge) isAlone() bool {
	return !j.isNamespaced() || len(j.crds) > 0 || j.webhooks != nil && !j.hasPlaceholder("{webhooks}")
}

const longest = 10 * time.Minute // for a check

func (j *judge) try(ctx context.Context, check Check) Result {
	t := &attempt{result: Result{Check: check}}
	if len(j.kinds) > 1 && !check.ofProgram {
		t.result.Kind = j.samples[0].GetKind()
	}
	var cancel context.CancelFunc
	limit := cmp.Or(check.lasts, longest)
	t.ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("the check didn't end within %v", limit))
	defer cancel()
	return t.try(func() {
		if why := check.NotFor(j.config); why != "" {
			t.skip("%s", why)
		}
		if j.fails.Load() {
			t.unable("the operator doesn't do its work: see converge")
		}
		t.must(ctx.Err())
		check.run(j.newScenario(t))
	})
}

func (j *judge) readSamples() error {
	for _, file := range j.config.Samples {
		objects, err := operator.ReadObjects(file)
		if err != nil {
			return err
		}
		if len(objects) != 1 || objects[0].GetKind() == "" || objects[0].GetAPIVersion() == "" || objects[0].GetName() == "" {
			return problem.New("%s isn't a sample, but has %d objects", file, len(objects)).
				ToDo("put each sample into a file of its own: one object with apiVersion, kind and metadata.name")
		}
		j.samples = append(j.samples, objects[0])
	}
	return nil
}

func (j *judge) connect() (err error) {
	config := rest.CopyConfig(j.target)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return webhookRetrier{next} })
	if j.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if j.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	j.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(j.client.Discovery()))
	j.permissions, err = operator.ReadPermissions(j.config.Permissions...)
	return err
}
