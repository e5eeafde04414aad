package judge

// A scenario is where a check looks at the operator: a namespace of its own, an account of its own,
// and processes of its own, each behind a proxy of its own.

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
)

// manager is the judge's name in managedFields.
const manager = "judge"

// scenario is used by one check.
type scenario struct {
	*attempt
	*judge
	namespace  string
	kubeconfig string // the operator's, not through a proxy
	history    *history
	made       map[types.UID]bool // objects of the kinds that the operator owns, which the judge created
	replicas   []*running         // all that were ever started
}

// newScenario returns a scenario without an operator.
func (j *judge) newScenario(t *attempt) *scenario {
	s := &scenario{attempt: t, judge: j, made: map[types.UID]bool{}}
	// The label finds what the judge leaves if it is killed.
	about := metav1.ObjectMeta{GenerateName: "judge-", Labels: map[string]string{"app.kubernetes.io/managed-by": manager}}
	namespaces := j.client.CoreV1().Namespaces()
	namespace, err := namespaces.Create(s.Context(), &corev1.Namespace{ObjectMeta: about}, metav1.CreateOptions{})
	s.must(err)
	s.namespace = namespace.Name
	s.Cleanup(s.tidy)
	s.must(s.permissions.Grant(s.Context(), s.client, s.namespace))
	s.kubeconfig = filepath.Join(s.TempDir(), "kubeconfig")
	s.must(operator.WriteKubeconfig(s.Context(), s.client, s.target, s.namespace, operator.ServiceAccount, s.kubeconfig))
	s.history, err = follow(s.Context(), j.dynamic, s.namespace, s.watched())
	s.must(err)
	s.Cleanup(s.collect) // before tidy
	return s
}

// watched are the resources whose history the scenario keeps.
func (j *judge) watched() []schema.GroupVersionResource { return slices.Concat(j.ofSamples, j.ofOwned) }

// must ends the check without a verdict if there is an error.
func (s *scenario) must(err error) {
	if err != nil {
		s.Fatalf("%v", err)
	}
}

// tidy removes all that the scenario has made. Finalizers don't stop it.
func (s *scenario) tidy() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), time.Minute)
	defer cancel()
	if err := operator.DeleteNamespace(ctx, s.client, s.dynamic, s.namespace, s.watched()...); err != nil {
		s.Fatalf("namespace %s can't be cleaned up: %v", s.namespace, err)
	}
}

// collect stops the operator, and copies what it has sent and logged into the result.
func (s *scenario) collect() {
	for _, r := range s.replicas {
		r.Stop()
		if panicked := process.Panic(r.Log()); panicked != "" {
			s.found(Error, []Evidence{{time.Now(), panicked, from(r.Log(), panicked)}}, "the operator panics")
		}
	}
	s.result.Requests = s.requests()
	if len(s.result.Findings) > 0 || s.result.Why != "" {
		for _, r := range s.replicas {
			s.result.Log += process.Tail(r.Log(), 50)
		}
	}
}

// from returns the lines of a log from that text on.
func from(log, text string) string {
	lines := strings.SplitAfterN(log[strings.Index(log, text):], "\n", 30)
	return strings.Join(lines[:min(len(lines), 29)], "")
}
