package judge

// A bench is where a check looks at the operator: a namespace of its own, an account of its own,
// and processes of its own, each behind a proxy of its own.

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
)

// manager is the judge's name in managedFields.
const manager = "judge"

// Bench is used by one check.
type Bench struct {
	*trial
	*Judge
	namespace  string
	kubeconfig string // the operator's, not through a proxy
	history    *history
	made       map[types.UID]bool // objects of the kinds that the operator owns, which the judge created
	replicas   []*running         // all that were ever started
}

// newBench returns a bench without an operator.
func (j *Judge) newBench(t *trial) *Bench {
	b := &Bench{trial: t, Judge: j, made: map[types.UID]bool{}}
	namespace, err := j.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "judge-", Labels: map[string]string{madeBy: manager}},
	}, metav1.CreateOptions{})
	b.must(err)
	b.namespace = namespace.Name
	b.Cleanup(b.tidy)
	b.account()
	b.history, err = follow(t.Context(), j.dynamic, b.namespace, j.watched)
	b.must(err)
	b.Cleanup(b.collect) // before tidy
	return b
}

// madeBy is a label of all that the judge leaves if it is killed.
const madeBy = "app.kubernetes.io/managed-by"

// must ends the check without a verdict if there is an error.
func (b *Bench) must(err error) {
	if err != nil {
		b.Fatalf("%v", err)
	}
}

// account creates the operator's ServiceAccount. With permissions in judge.yaml, it has exactly
// those, and otherwise all.
func (b *Bench) account() {
	b.must(b.permissions.Grant(b.Context(), b.client, b.namespace))
	b.kubeconfig = filepath.Join(b.TempDir(), "kubeconfig")
	b.must(program.WriteKubeconfig(b.Context(), b.client, b.target, b.namespace, program.ServiceAccount, b.kubeconfig))
}

// tidy removes all that the bench has made. Finalizers don't stop it.
func (b *Bench) tidy() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.Context()), time.Minute)
	defer cancel()
	err := program.Revoke(ctx, b.client, b.namespace)
	for _, resource := range b.watched {
		objects := b.dynamic.Resource(resource).Namespace(b.namespace)
		all, failed := objects.List(ctx, metav1.ListOptions{})
		if failed != nil {
			continue // the CRD is gone
		}
		for _, object := range all.Items {
			if len(object.GetFinalizers()) > 0 {
				_, failed := objects.Patch(ctx, object.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				err = errors.Join(err, ignoreNotFound(failed))
			}
		}
	}
	err = errors.Join(err, ignoreNotFound(b.client.CoreV1().Namespaces().Delete(ctx, b.namespace, metav1.DeleteOptions{})))
	if err != nil {
		b.Fatalf("namespace %s can't be cleaned up: %v", b.namespace, err)
	}
}

// collect stops the operator, and copies what it has sent and logged into the result.
func (b *Bench) collect() {
	for _, r := range b.replicas {
		r.Stop()
		if panicked := process.Panic(r.Log()); panicked != "" {
			b.find(Error, []Evidence{{At: time.Now(), Text: panicked, Detail: around(r.Log(), panicked)}}, "the operator panics")
		}
	}
	for _, request := range b.requests() {
		resource := request.Resource
		if resource != "" && request.Group != "" {
			resource += "." + request.Group
		}
		b.result.Requests = append(b.result.Requests, Request{request.Answered, request.Verb, resource, request.URI, request.Code})
	}
	if len(b.result.Findings) > 0 || b.result.Why != "" {
		for _, r := range b.replicas {
			b.result.Log += process.Tail(r.Log(), 50)
		}
	}
}

// around returns the lines of a log that follow the first line with that text.
func around(log, text string) string {
	_, after, _ := strings.Cut(log, text)
	lines := strings.SplitAfterN(after, "\n", 30)
	return text + strings.Join(lines[:min(len(lines), 29)], "")
}
