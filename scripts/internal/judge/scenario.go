package judge

// A scenario is where a check looks at the operator: a namespace of its own, an account of its own,
// and processes of its own, each behind a proxy of its own.

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
)

// manager is the judge's name in managedFields.
const manager = "judge"

// scenario is used by one check.
type scenario struct {
	*attempt
	*Judge
	namespace  string
	kubeconfig string // the operator's, not through a proxy
	history    *history
	made       map[types.UID]bool // objects of the kinds that the operator owns, which the judge created
	replicas   []*running         // all that were ever started
}

// newScenario returns a scenario without an operator.
func (j *Judge) newScenario(t *attempt) *scenario {
	s := &scenario{attempt: t, Judge: j, made: map[types.UID]bool{}}
	namespace, err := j.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "judge-", Labels: map[string]string{madeBy: manager}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.namespace = namespace.Name
	s.Cleanup(s.tidy)
	s.account()
	s.history, err = follow(t.Context(), j.dynamic, s.namespace, j.watched)
	s.must(err)
	s.Cleanup(s.collect) // before tidy
	return s
}

// madeBy is a label of all that the judge leaves if it is killed.
const madeBy = "app.kubernetes.io/managed-by"

// must ends the check without a verdict if there is an error.
func (s *scenario) must(err error) {
	if err != nil {
		s.Fatalf("%v", err)
	}
}

// account creates the operator's ServiceAccount. With permissions in judge.yaml, it has exactly
// those, and otherwise all.
func (s *scenario) account() {
	s.must(s.permissions.Grant(s.Context(), s.client, s.namespace))
	s.kubeconfig = filepath.Join(s.TempDir(), "kubeconfig")
	s.must(operator.WriteKubeconfig(s.Context(), s.client, s.target, s.namespace, operator.ServiceAccount, s.kubeconfig))
}

// tidy removes all that the scenario has made. Finalizers don't stop it.
func (s *scenario) tidy() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), time.Minute)
	defer cancel()
	if err := operator.DeleteNamespace(ctx, s.client, s.dynamic, s.namespace, s.watched...); err != nil {
		s.Fatalf("namespace %s can't be cleaned up: %v", s.namespace, err)
	}
}

// collect stops the operator, and copies what it has sent and logged into the result.
func (s *scenario) collect() {
	for _, r := range s.replicas {
		r.Stop()
		if panicked := process.Panic(r.Log()); panicked != "" {
			s.find(Error, []Evidence{{At: time.Now(), Text: panicked, Detail: around(r.Log(), panicked)}}, "the operator panics")
		}
	}
	for _, request := range s.requests() {
		resource := request.Resource
		if resource != "" && request.Group != "" {
			resource += "." + request.Group
		}
		s.result.Requests = append(s.result.Requests, Request{request.Answered, request.Verb, resource, request.URI, request.Code})
	}
	if len(s.result.Findings) > 0 || s.result.Why != "" {
		for _, r := range s.replicas {
			s.result.Log += process.Tail(r.Log(), 50)
		}
	}
}

// around returns the lines of a log that follow the first line with that text.
func around(log, text string) string {
	_, after, _ := strings.Cut(log, text)
	lines := strings.SplitAfterN(after, "\n", 30)
	return text + strings.Join(lines[:min(len(lines), 29)], "")
}
