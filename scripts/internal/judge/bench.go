package judge

// A bench is where a check looks at the operator: a namespace of its own, an account of its own,
// and processes of its own, each behind a proxy of its own.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/replica"
)

// manager is the judge's name in managedFields.
const manager = "judge"

// settled is how long an operator has written nothing when it counts as settled.
const settled = time.Second

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
		b.Fatalf("namespace %s can't be tidied up: %v", b.namespace, err)
	}
}

// collect stops the operator, and copies what it has sent and logged into the result.
func (b *Bench) collect() {
	for _, r := range b.replicas {
		r.Stop()
		if panicked := replica.Panic(r.Log()); panicked != "" {
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
			b.result.Log += replica.Tail(r.Log(), 50)
		}
	}
}

// of are the objects of that resource in this namespace.
func (b *Bench) of(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return b.dynamic.Resource(resource).Namespace(b.namespace)
}

// api returns the API of the object's resource in this namespace.
func (b *Bench) api(object *unstructured.Unstructured) dynamic.ResourceInterface {
	return b.of(b.mapping(object).Resource)
}

func (b *Bench) mapping(object *unstructured.Unstructured) *meta.RESTMapping {
	mapping, err := b.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	b.must(err)
	return mapping
}

// sample returns the first sample with another name, which isn't created yet.
func (b *Bench) sample(name string) *unstructured.Unstructured { return b.renamed(b.samples[0], name) }

func (b *Bench) renamed(sample *unstructured.Unstructured, name string) *unstructured.Unstructured {
	sample = sample.DeepCopy()
	sample.SetName(name)
	sample.SetNamespace(b.namespace)
	for _, field := range b.config.Unique {
		b.must(unstructured.SetNestedField(sample.Object, name, strings.Split(field, ".")...))
	}
	return sample
}

// create creates an object of the judge's.
func (b *Bench) create(object *unstructured.Unstructured) *unstructured.Unstructured {
	b.step("create %s", title(object))
	created, err := b.api(object).Create(b.Context(), object, metav1.CreateOptions{FieldManager: manager})
	b.must(err)
	b.made[created.GetUID()] = true
	b.seen(created)
	return created
}

// patch changes an object by a JSON merge patch.
func (b *Bench) patch(object *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	b.step("patch %s: %s", title(object), patch)
	patched, err := b.tryPatch(object, types.MergePatchType, []byte(patch))
	b.must(err)
	return patched
}

// tryPatch changes an object, and waits until the history has the change.
func (b *Bench) tryPatch(object *unstructured.Unstructured, kind types.PatchType, patch []byte) (*unstructured.Unstructured, error) {
	patched, err := b.api(object).Patch(b.Context(), object.GetName(), kind, patch, metav1.PatchOptions{FieldManager: manager})
	if err == nil {
		b.seen(patched)
	}
	return patched, err
}

// seen waits until the history has this version of an object. Otherwise, a check could take the
// version before it for the result of a change.
func (b *Bench) seen(object *unstructured.Unstructured) {
	b.must(b.within(b.config.Limits.Converge.Duration, func() error {
		if !b.history.has(object) {
			return fmt.Errorf("the judge's watch hasn't shown %s, resourceVersion %s", title(object), object.GetResourceVersion())
		}
		return nil
	}))
}

// remove deletes an object.
func (b *Bench) remove(object *unstructured.Unstructured, how metav1.DeletionPropagation) {
	b.step("delete %s (%s)", title(object), how)
	err := b.api(object).Delete(b.Context(), object.GetName(), metav1.DeleteOptions{PropagationPolicy: &how})
	b.must(ignoreNotFound(err))
}

// now returns an object as it is, or nil if it is gone.
func (b *Bench) now(object *unstructured.Unstructured) *unstructured.Unstructured {
	found := b.history.objects(func(other *unstructured.Unstructured) bool { return other.GetUID() == object.GetUID() })
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// owned returns the objects that the operator has created for a sample: those that are controlled
// by it, and, if there is only one sample, also those without any controller. Objects of other
// controllers, such as a Deployment's ReplicaSet, aren't its own.
func (b *Bench) owned(sample *unstructured.Unstructured) []*unstructured.Unstructured {
	return b.history.objects(func(object *unstructured.Unstructured) bool {
		if b.made[object.GetUID()] || !b.isOwnedKind(object) {
			return false
		}
		controller := metav1.GetControllerOf(object)
		if controller == nil {
			return b.samplesHere() == 1 || refersTo(object, sample)
		}
		return controller.UID == sample.GetUID()
	})
}

func (b *Bench) samplesHere() (count int) {
	return len(b.history.objects(func(object *unstructured.Unstructured) bool {
		return object.GetKind() == b.samples[0].GetKind() && object.GroupVersionKind().Group == b.samples[0].GroupVersionKind().Group
	}))
}

func (b *Bench) isOwnedKind(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(b.config.Owns, func(kind metav1.TypeMeta) bool {
		return kind.Kind == object.GetKind() && kind.GroupVersionKind().Group == object.GroupVersionKind().Group
	})
}

func refersTo(object, owner *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}

// within waits until check returns no error, for at most that time, and returns check's last error.
// It looks again whenever an object has changed or the operator has got an answer.
func (b *Bench) within(limit time.Duration, check func() error) error {
	late := time.After(limit)
	for {
		changes := b.history.changes()
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-changes:
		case <-late:
			return fmt.Errorf("%w (after %v)", err, limit)
		case <-b.Context().Done():
			b.Fatalf("%v", context.Cause(b.Context()))
		}
	}
}

// pass lets that much time pass.
func (b *Bench) pass(time_ time.Duration) {
	select {
	case <-time.After(time_):
	case <-b.Context().Done():
		b.Fatalf("%v", context.Cause(b.Context()))
	}
}

// isReady returns nil if the sample is ready.
func (b *Bench) isReady(sample *unstructured.Unstructured) error {
	now := b.now(sample)
	if now == nil {
		return fmt.Errorf("%s is gone", title(sample))
	}
	if err := b.ready.holds(now, now); err != nil {
		return fmt.Errorf("%s isn't ready: %w", title(sample), err)
	}
	if len(b.owned(now)) == 0 {
		return fmt.Errorf("%s is ready, but has no object of the kinds that it owns", title(sample))
	}
	return nil
}

// becomes waits until the samples are ready and the operator has settled.
func (b *Bench) becomes(samples ...*unstructured.Unstructured) error {
	limit := time.Now().Add(b.config.Limits.Converge.Duration)
	for _, sample := range samples {
		if err := b.within(time.Until(limit), func() error { return b.isReady(sample) }); err != nil {
			return err
		}
	}
	return b.settle(limit)
}

// settle waits until the operator has written nothing for some time.
func (b *Bench) settle(limit time.Time) error {
	for {
		writes := b.writes(time.Now().Add(-settled))
		if len(writes) == 0 {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("the operator still writes: %s", writes[len(writes)-1])
		}
		b.pass(time.Until(writes[len(writes)-1].Answered.Add(settled)))
	}
}

// settles starts the operator, creates a sample of that name, and waits until it is ready. If that
// fails, the check can't be judged.
func (b *Bench) settles(names ...string) (samples []*unstructured.Unstructured) {
	b.start()
	for _, name := range names {
		samples = append(samples, b.create(b.sample(name)))
	}
	b.awaits(samples...)
	return samples
}

// awaits waits until the samples are ready. If that fails, the check can't be judged.
func (b *Bench) awaits(samples ...*unstructured.Unstructured) {
	if err := b.becomes(samples...); err != nil {
		b.unable("%v: see the check converge", err)
	}
}

// requests returns all requests of the operator, in the order of their answers.
func (b *Bench) requests() (requests []audit.Request) {
	for _, r := range b.replicas {
		requests = append(requests, r.proxy.Requests()...)
	}
	slices.SortStableFunc(requests, func(a, b audit.Request) int { return a.Answered.Compare(b.Answered) })
	return requests
}

// since returns the requests that were answered after that time and that include accepts.
func (b *Bench) since(when time.Time, include func(audit.Request) bool) []audit.Request {
	return slices.DeleteFunc(b.requests(), func(r audit.Request) bool { return !r.Answered.After(when) || !include(r) })
}

// writes returns the operator's writes after that time, without Leases, Events, and reviews, which
// store nothing.
func (b *Bench) writes(after time.Time) []audit.Request { return b.since(after, changesObjects) }

func changesObjects(r audit.Request) bool {
	switch r.Group {
	case "authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io":
		return false
	}
	return r.IsWrite() && r.Resource != "events"
}

// around returns the lines of a log that follow the first line with that text.
func around(log, text string) string {
	_, after, _ := strings.Cut(log, text)
	lines := strings.SplitAfterN(after, "\n", 30)
	return text + strings.Join(lines[:min(len(lines), 29)], "")
}

// withoutSubresource returns foos for foos/status.
func withoutSubresource(resource string) string {
	resource, _, _ = strings.Cut(resource, "/")
	return resource
}
