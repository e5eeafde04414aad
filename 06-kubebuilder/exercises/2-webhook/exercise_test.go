//go:build check || solution

// These tests compare the webhooks' answers with their promises. The cache is a fake client, and
// the API server is another one. Each test decides which objects they have. The request is in the
// context, where controller-runtime puts it.
//
// As given, the webhooks refuse, write and overwrite too much, and explain too little.
// `workshop test` checks these failures:
//
// fails: TestCreate/a valid Foo
// says: a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/a valid Foo in a dry run
// says: a write in a dry run: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/a reserved name
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/a name with the reserved word in the middle
// says: a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/a name that resembles a reserved one
// says: a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/replicas that just fit
// says: a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/replicas that don't fit
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/a reserved name, and replicas that don't fit
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/one replica
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/unset replicas
// says: panic: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestCreate/a reserved name, and one replica
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/another Foo has unset replicas
// says: panic: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestCreate/the other Foos are in another namespace
// says: a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/the other Foos are being deleted
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/another Foo was scaled down, and the cache is behind
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/another Foo is gone, and the cache is behind
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/replicas that don't fit, and the cache is behind
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/replicas that fit, and the API server doesn't answer
// says: a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/replicas that don't fit, and the API server doesn't answer
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/the cache doesn't answer
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/a new label on a Foo that is already invalid
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/a new label while all reads fail
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/a removed finalizer of a Foo that is already invalid
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/a removed finalizer while all reads fail
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/any change of a Foo that is being deleted
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/a reserved name
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/another name, and already too many replicas
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas that just fit
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas that don't fit
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/a reserved name, and more replicas that don't fit
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/more replicas, and the cache doesn't answer
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas that don't fit, and the API server doesn't answer
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas, and a name that is already reserved
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/more replicas after another Foo was scaled down, and the cache is behind
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/fewer replicas, and still too many
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/fewer replicas while all reads fail
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/one replica instead of three
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/a new label on a Foo with one replica
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/one replica instead of unset replicas
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/six replicas instead of unset replicas
// says: panic: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestDelete/no Deployment
// says: refused with the reason "NotFound": deployments.apps "web" not found
//
// fails: TestDelete/a Deployment with Pods
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestDelete/a Deployment without a controller
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestDelete/a Deployment of an earlier Foo with the same name
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestDelete/all reads fail
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestDefault/a deploymentName
// says: deploymentName and replicas are "a, 3", want "web, 3"
//
// fails: TestDefault/one replica
// says: deploymentName and replicas are "a, 2", want "web, 1"
//
// fails: TestDefault/unset replicas
// says: panic: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestDefault/no deploymentName, and the Foo is being deleted
// says: deploymentName and replicas are "a, 3", want ", 3"

package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

// situation is one case: the request, the stored objects, and the expected answer.
type situation struct {
	old, foo     *samplecontrollerv1alpha1.Foo
	cached       []client.Object
	stored       []client.Object // in the API server; nil: the same as cached
	cacheErr     error
	apiReaderErr error
	dryRun       bool
	want         string // passes, or a refusal
	why          string
}

var (
	errBroken    = errors.New("no answer")
	fifteen      = []client.Object{aFoo("b", "b", 8), aFoo("c", "c", 7)}
	passes       = "passes"
	nameReserved = "refused: spec.deploymentName: " + reservedName
	internal     = "refused: an internal error"
)

func noRoom(others int32) string { return "refused: spec.replicas: " + overBudget(others) }

func warns(text string) string { return "passes with the warning: " + text }

func TestCreate(t *testing.T) {
	for sentence, test := range map[string]situation{
		"a valid Foo": {
			foo:  aFoo("a", "web", 3),
			want: passes,
		},
		"a valid Foo in a dry run": {
			foo: aFoo("a", "web", 3), dryRun: true,
			want: passes,
		},
		"a reserved name": {
			foo:  aFoo("a", "platform-web", 3),
			want: nameReserved,
			why:  "an error with a field tells the user, and every program, where to look. An error that isn't the API's becomes a 403",
		},
		"a name with the reserved word in the middle": {
			foo:  aFoo("a", "my-platform-web", 3),
			want: passes,
		},
		"a name that resembles a reserved one": {
			foo:  aFoo("a", "platforms", 3),
			want: passes,
			why:  `reserved are the names that begin with "platform-", with the hyphen`,
		},
		"replicas that just fit": {
			foo: aFoo("a", "web", 5), cached: fifteen,
			want: passes,
		},
		"replicas that don't fit": {
			foo: aFoo("a", "web", 6), cached: fifteen,
			want: noRoom(15),
			why:  "an error with a field tells the user, and every program, where to look. An error that isn't the API's becomes a 403",
		},
		"a reserved name, and replicas that don't fit": {
			foo: aFoo("a", "platform-web", 6), cached: fifteen,
			want: nameReserved + "; spec.replicas: " + overBudget(15),
			why:  "a user who is told one mistake at a time has to try again and again",
		},
		"one replica": {
			foo:  aFoo("a", "web", 1),
			want: warns(oneReplica),
			why:  "the user may want something unwise",
		},
		"unset replicas": {
			foo:  aFoo("a", "web", 0),
			want: warns(oneReplica),
			why:  "replicas is a pointer. controller-runtime turns a panic into a refusal with the message: panic: … [recovered]",
		},
		"a reserved name, and one replica": {
			foo:  aFoo("a", "platform-web", 1),
			want: nameReserved,
		},
		"another Foo has unset replicas": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 14), aFoo("c", "c", 0)},
			want: noRoom(15),
			why:  "one such Foo, and nobody in the namespace can create another one",
		},
		"the other Foos are in another namespace": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 15, elsewhere)},
			want: passes,
		},
		"the other Foos are being deleted": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 15, terminating)},
			want: passes,
		},
		"another Foo was scaled down, and the cache is behind": {
			foo: aFoo("a", "web", 6), cached: fifteen, stored: []client.Object{aFoo("b", "b", 7), aFoo("c", "c", 7)},
			want: passes,
			why:  "the user has just done what the refusal told them to do",
		},
		"another Foo is gone, and the cache is behind": {
			foo: aFoo("a", "web", 6), cached: fifteen, stored: []client.Object{aFoo("c", "c", 7)},
			want: passes,
			why:  "the user has just done what the refusal told them to do",
		},
		"replicas that don't fit, and the cache is behind": {
			foo: aFoo("a", "web", 6), cached: fifteen, stored: []client.Object{aFoo("b", "b", 10), aFoo("c", "c", 7)},
			want: noRoom(17),
			why:  "the user acts on the numbers in the refusal",
		},
		"replicas that fit, and the API server doesn't answer": {
			foo: aFoo("a", "web", 5), cached: fifteen, apiReaderErr: errBroken,
			want: passes,
			why:  "the API server's answer isn't needed here, and asking would cost one more request for each Foo",
		},
		"replicas that don't fit, and the API server doesn't answer": {
			foo: aFoo("a", "web", 6), cached: fifteen, apiReaderErr: errBroken,
			want: internal,
			why:  "without an answer the Foo may be valid, so Invalid is wrong; and an error that isn't the API's becomes a 403",
		},
		"the cache doesn't answer": {
			foo: aFoo("a", "web", 5), cacheErr: errBroken,
			want: internal,
			why:  "without an answer the Foo may be valid, so Invalid is wrong; and an error that isn't the API's becomes a 403",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.check(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
				return v.ValidateCreate(ctx, test.foo)
			})
		})
	}
}

// In each case, the cache has the old Foo.
func TestUpdate(t *testing.T) {
	for sentence, test := range map[string]situation{
		"a new label on a Foo that is already invalid": {
			old: aFoo("a", "platform-web", 8), foo: aFoo("a", "platform-web", 8, labelled), cached: fifteen,
			want: passes,
			why:  "it was already stored. Someone who sets a label or removes a finalizer didn't cause the problem and can't fix it",
		},
		"a new label while all reads fail": {
			old: aFoo("a", "web", 2), foo: aFoo("a", "web", 2, labelled), cacheErr: errBroken, apiReaderErr: errBroken,
			want: passes,
			why:  "this change needs no validation. Reading anyway would block everybody's labels and finalizers",
		},
		"a removed finalizer of a Foo that is already invalid": {
			old: aFoo("a", "platform-web", 8, terminating), foo: aFoo("a", "platform-web", 8, terminating, released), cached: fifteen,
			want: passes,
			why:  "a Foo that can't lose its finalizer is never gone, and its namespace stays Terminating forever",
		},
		"a removed finalizer while all reads fail": {
			old: aFoo("a", "web", 2, terminating), foo: aFoo("a", "web", 2, terminating, released), cacheErr: errBroken, apiReaderErr: errBroken,
			want: passes,
			why:  "a Foo that can't lose its finalizer is never gone, and its namespace stays Terminating forever",
		},
		"any change of a Foo that is being deleted": {
			old: aFoo("a", "web", 2, terminating), foo: aFoo("a", "platform-web", 9, terminating), cached: fifteen,
			want: passes,
			why:  "it will be gone soon, so its spec no longer has an effect",
		},
		"a reserved name": {
			old: aFoo("a", "web", 2), foo: aFoo("a", "platform-web", 2),
			want: nameReserved,
			why:  "an error with a field tells the user, and every program, where to look. An error that isn't the API's becomes a 403",
		},
		"another name, and already too many replicas": {
			old: aFoo("a", "web", 8), foo: aFoo("a", "www", 8), cached: fifteen,
			want: passes,
			why:  "it was already stored, and this change doesn't make it worse",
		},
		"more replicas that just fit": {
			old: aFoo("a", "web", 3), foo: aFoo("a", "web", 5), cached: fifteen,
			want: passes,
			why:  "the stored Foos include this Foo, so don't count its old replicas as another's",
		},
		"more replicas that don't fit": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "web", 6), cached: fifteen,
			want: noRoom(15),
			why:  "the stored Foos include this Foo, so don't count its old replicas as another's",
		},
		"a reserved name, and more replicas that don't fit": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "platform-web", 6), cached: fifteen,
			want: nameReserved + "; spec.replicas: " + overBudget(15),
			why:  "a user who is told one mistake at a time has to try again and again",
		},
		"more replicas, and the cache doesn't answer": {
			old: aFoo("a", "web", 2), foo: aFoo("a", "web", 3), cacheErr: errBroken,
			want: internal,
			why:  "without an answer the Foo may be valid or not, so neither Invalid nor a pass is right",
		},
		"more replicas that don't fit, and the API server doesn't answer": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "web", 6), cached: fifteen, apiReaderErr: errBroken,
			want: internal,
			why:  "without an answer the Foo may be valid or not, so neither Invalid nor a pass is right",
		},
		"more replicas, and a name that is already reserved": {
			old: aFoo("a", "platform-web", 2), foo: aFoo("a", "platform-web", 3), cached: fifteen,
			want: passes,
			why:  "it was already stored, and this change doesn't make it worse",
		},
		"more replicas after another Foo was scaled down, and the cache is behind": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "web", 6), cached: fifteen, stored: []client.Object{aFoo("a", "web", 5), aFoo("b", "b", 2)},
			want: passes,
			why:  "the user has just done what the refusal told them to do",
		},
		"fewer replicas, and still too many": {
			old: aFoo("a", "web", 9), foo: aFoo("a", "web", 8), cached: fifteen,
			want: passes,
			why:  "this is a step in the right direction",
		},
		"fewer replicas while all reads fail": {
			old: aFoo("a", "web", 9), foo: aFoo("a", "web", 8), cacheErr: errBroken, apiReaderErr: errBroken,
			want: passes,
			why:  "fewer are never too many, so there is nothing to ask",
		},
		"one replica instead of three": {
			old: aFoo("a", "web", 3), foo: aFoo("a", "web", 1),
			want: warns(oneReplica),
		},
		"a new label on a Foo with one replica": {
			old: aFoo("a", "web", 1), foo: aFoo("a", "web", 1, labelled),
			want: passes,
			why:  "a user who is warned each time stops reading warnings",
		},
		"one replica instead of unset replicas": {
			old: aFoo("a", "web", 0), foo: aFoo("a", "web", 1),
			want: passes,
			why:  "unset means 1, so nothing has changed: a user who is warned each time stops reading warnings",
		},
		"six replicas instead of unset replicas": {
			old: aFoo("a", "web", 0), foo: aFoo("a", "web", 6), cached: fifteen,
			want: noRoom(15),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if test.stored == nil {
				test.stored = append(slices.Clone(test.cached), test.old)
			}
			test.cached = append(slices.Clone(test.cached), test.old)
			test.check(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
				return v.ValidateUpdate(ctx, test.old, test.foo)
			})
		})
	}
}

func TestDelete(t *testing.T) {
	example := aFoo("a", "web", 3)
	for sentence, test := range map[string]situation{
		"no Deployment": {
			want: passes,
			why:  "there is nothing to protect. A Foo that can't be deleted keeps its namespace Terminating forever",
		},
		"a Deployment with Pods": {
			cached: []client.Object{aDeployment(example, 3)},
			want:   warns(goesAlong("web", 3)),
			why:    "the user has asked for it, and so has anyone who deletes the namespace",
		},
		"a Deployment without Pods": {
			cached: []client.Object{aDeployment(example, 0)},
			want:   passes,
		},
		"a Deployment without a controller": {
			cached: []client.Object{aDeployment(nil, 3)},
			want:   passes,
			why:    "it has the name, but this Foo doesn't control it, so it stays",
		},
		"a Deployment of an earlier Foo with the same name": {
			cached: []client.Object{aDeployment(aFoo("a", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) { foo.UID = "earlier" }), 3)},
			want:   passes,
			why:    "it has the name, but this Foo doesn't control it: the UID decides",
		},
		"all reads fail": {
			cacheErr: errBroken, apiReaderErr: errBroken,
			want: passes,
			why:  "a warning that can't be given is no reason to refuse",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.check(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
				return v.ValidateDelete(ctx, example)
			})
		})
	}
}

func TestDefault(t *testing.T) {
	for sentence, test := range map[string]struct {
		foo  *samplecontrollerv1alpha1.Foo
		want string // the deploymentName and replicas
		why  string
	}{
		"no deploymentName": {
			foo:  aFoo("a", "", 3),
			want: "a, 3",
		},
		"a deploymentName": {
			foo:  aFoo("a", "web", 3),
			want: "web, 3",
			why:  "the user has set it",
		},
		"a Foo without a name": {
			foo:  aFoo("", "", 3),
			want: ", 3",
		},
		"one replica": {
			foo:  aFoo("a", "web", 1),
			want: "web, 1",
			why:  "either the user or the schema has set it, and the webhook can't tell which",
		},
		"unset replicas": {
			foo:  aFoo("a", "web", 0),
			want: "web, 1",
			why:  "the schema sets the default before the webhook is called",
		},
		"no deploymentName, and the Foo is being deleted": {
			foo:  aFoo("a", "", 3, terminating),
			want: ", 3",
			why:  "it will be gone soon, so there is no point in a change",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var err error
			if panicked := caught(func() { err = FooDefaulter{}.Default(request(t.Context(), false), test.foo) }); panicked != "" {
				t.Fatalf("%s%s", panicked, because(test.why))
			}
			if err != nil {
				t.Fatalf("got the error %v, want none", err)
			}
			replicas := int32(1) // the default
			if test.foo.Spec.Replicas != nil {
				replicas = *test.foo.Spec.Replicas
			}
			if got := fmt.Sprintf("%s, %d", test.foo.Spec.DeploymentName, replicas); got != test.want {
				t.Errorf("deploymentName and replicas are %q, want %q%s", got, test.want, because(test.why))
			}
		})
	}
}

// check compares a validator's answer with the expected one.
func (s situation) check(t *testing.T, ask func(context.Context, *FooValidator) (admission.Warnings, error)) {
	t.Helper()
	stored := s.stored
	if stored == nil {
		stored = s.cached
	}
	var writes []string
	v := &FooValidator{Client: aServer(t, s.cached, s.cacheErr, &writes), APIReader: aServer(t, stored, s.apiReaderErr, &writes)}
	var warnings admission.Warnings
	var err error
	if panicked := caught(func() { warnings, err = ask(request(t.Context(), s.dryRun), v) }); panicked != "" {
		t.Fatalf("got:  %s\nwant: %s%s", panicked, s.want, because(s.why))
	}
	if got := answer(t, warnings, err); got != s.want {
		t.Errorf("got:  %s\nwant: %s%s", got, s.want, because(s.why))
	}
	switch {
	case len(writes) == 0:
	case s.dryRun:
		t.Errorf("a write in a dry run: %s; want none\nWhy: sideEffects=None promises that there are none, so the API server calls the webhook in dry runs too",
			strings.Join(writes, "; "))
	default:
		t.Errorf("a write: %s; want none\nWhy: another webhook may still refuse the Foo, and then the write stays. The controller acts on\n"+
			"stored Foos", strings.Join(writes, "; "))
	}
}

// answer describes the answer that the user gets.
func answer(t *testing.T, warnings admission.Warnings, err error) string {
	t.Helper()
	var text string
	status := apierrors.APIStatus(nil)
	switch {
	case err == nil:
		text = passes
	case !errors.As(err, &status):
		return fmt.Sprintf("refused without a field; the user reads: admission webhook \"vfoo-v1alpha1.kb.io\" denied the request: %v", err)
	case apierrors.IsInternalError(err):
		text = internal
	case !apierrors.IsInvalid(err):
		return fmt.Sprintf("refused with the reason %q: %v", status.Status().Reason, err)
	default:
		text = "refused: " + causes(t, status.Status())
	}
	if len(warnings) > 0 {
		text += " with the warning: " + strings.Join(warnings, "; ")
	}
	return text
}

// causes returns the fields and messages of an error's causes, without the values.
func causes(t *testing.T, status metav1.Status) string {
	t.Helper()
	details := status.Details
	if details == nil || len(details.Causes) == 0 {
		return "Invalid, without a cause that names a field: " + status.Message
	}
	if details.Kind != "Foo" || details.Group != samplecontrollerv1alpha1.GroupVersion.Group || details.Name != "a" {
		t.Errorf("the refusal is about %s.%s %q, want Foo.%s \"a\"", details.Kind, details.Group, details.Name, samplecontrollerv1alpha1.GroupVersion.Group)
	}
	var all []string
	for _, cause := range details.Causes {
		all = append(all, cause.Field+": "+value.ReplaceAllString(cause.Message, ""))
	}
	return strings.Join(all, "; ")
}

// value matches the beginning of a field error's message, which contains the value.
var value = regexp.MustCompile(`^(Invalid value: ("[^"]*"|[^":]+): |Forbidden: )`)

// caught calls a function and describes its panic, if there is one. controller-runtime catches
// panics too.
func caught(call func()) (panicked string) {
	defer func() {
		if found := recover(); found != nil {
			panicked = fmt.Sprintf("panic: %v", found)
			if place := regexp.MustCompile(`\bexercise\.go:\d+`).FindString(string(debug.Stack())); place != "" {
				panicked += ", at " + place
			}
		}
	}()
	call()
	return ""
}

// request returns the context of an admission request.
func request(ctx context.Context, dryRun bool) context.Context {
	return admission.NewContextWithRequest(ctx, admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: &dryRun}})
}

// aServer returns a client for these objects, or one whose reads all fail with err. Writes are
// recorded in writes, but not carried out.
func aServer(t *testing.T, objects []client.Object, err error, writes *[]string) client.WithWatch {
	t.Helper()
	kinds := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(kinds), samplecontrollerv1alpha1.AddToScheme(kinds)); err != nil {
		t.Fatal(err)
	}
	written := func(verb string, object client.Object) error {
		*writes = append(*writes, fmt.Sprintf("%s %T %s", verb, object, object.GetName()))
		return nil
	}
	server := fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).WithStatusSubresource(&samplecontrollerv1alpha1.Foo{}).Build()
	return interceptor.NewClient(server, interceptor.Funcs{
		Get: func(ctx context.Context, server client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
			if err != nil {
				return err
			}
			return server.Get(ctx, key, into, opts...)
		},
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			if err != nil {
				return err
			}
			return server.List(ctx, into, opts...)
		},
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			return written("create", object)
		},
		Update: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.UpdateOption) error {
			return written("update", object)
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
			return written("patch", object)
		},
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			*writes = append(*writes, "an apply")
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
			return written("delete", object)
		},
	})
}

// aFoo returns a Foo with that many replicas. With 0, the field isn't set.
func aFoo(name, deploymentName string, replicas int32, changes ...func(*samplecontrollerv1alpha1.Foo)) *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name)},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName},
	}
	if replicas > 0 {
		foo.Spec.Replicas = &replicas
	}
	for _, change := range changes {
		change(foo)
	}
	return foo
}

func elsewhere(foo *samplecontrollerv1alpha1.Foo) { foo.Namespace = "elsewhere" }

func labelled(foo *samplecontrollerv1alpha1.Foo) { foo.Labels = map[string]string{"team": "shop"} }

func terminating(foo *samplecontrollerv1alpha1.Foo) {
	foo.DeletionTimestamp, foo.Finalizers = new(metav1.Unix(0, 0)), []string{"example.com/held"}
}

func released(foo *samplecontrollerv1alpha1.Foo) { foo.Finalizers = nil }

// aDeployment returns the Deployment web, controlled by foo, or by nobody if foo is nil.
func aDeployment(foo *samplecontrollerv1alpha1.Foo, available int32) *appsv1.Deployment {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Status:     appsv1.DeploymentStatus{AvailableReplicas: available},
	}
	if foo != nil {
		deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))}
	}
	return deployment
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return "\nWhy: " + why
}
