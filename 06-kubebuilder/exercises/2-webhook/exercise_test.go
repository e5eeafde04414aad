//go:build check || solution

// These tests compare the webhooks' answers with their promises. The cache is a fake client, and
// the API server is another one. Each test decides which objects they have. The request is in the
// context, where controller-runtime puts it.
//
// As given, the webhooks refuse, write and overwrite too much, and explain too little.
// `workshop test` checks these failures:
//
// fails: TestCreate/nothing is wrong
// says: it sent a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/nothing is wrong, and it is a dry run
// says: it sent a write in a dry run: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/its name is reserved
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/its name has the reserved word in it, and doesn't begin with it
// says: it sent a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/its name begins nearly as a reserved one does
// says: it sent a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/there is just room for its replicas
// says: it sent a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/there is no room for its replicas
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/its name is reserved, and there is no room
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/it has one replica
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/it doesn't say its replicas
// says: it panicked: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestCreate/its name is reserved, and it has one replica
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/another doesn't say its replicas
// says: it panicked: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestCreate/the others are in another namespace
// says: it sent a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/the others are being deleted
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/another was scaled down, and the cache doesn't know yet
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/another is gone, and the cache doesn't know yet
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/there is no room, and still less than the cache knows
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/there is room by the cache, and the server doesn't answer
// says: it sent a write: create *v1.ConfigMap a-was-admitted
//
// fails: TestCreate/there is no room by the cache, and the server doesn't answer
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/the cache doesn't answer
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/a label, where all is wrong since long
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/a label, and nobody can be asked
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/its last finalizer goes, where all is wrong since long
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/its last finalizer goes, and nobody can be asked
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/anything, while it is being deleted
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/a name that is reserved
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/another name, where there are too many replicas since long
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas, with just room
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas, without room
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/a name that is reserved, and more replicas, without room
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/more replicas, and the cache doesn't answer
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas, without room by the cache, and the server doesn't answer
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas, with room, where the name is reserved since long
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/more replicas, with room since another was scaled down, and the cache doesn't know yet
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/fewer replicas, where there are still too many
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/fewer replicas, and nobody can be asked
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/one replica, where there were more
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/a label, where there is one replica since long
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/one replica is said, where none was
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas, where none were said
// says: it panicked: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestDelete/it has no Deployment
// says: it is refused with the reason "NotFound": deployments.apps "web" not found
//
// fails: TestDelete/its Deployment has Pods
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestDelete/the Deployment of that name is nobody's
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestDelete/the Deployment of that name is an earlier Foo's
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestDelete/nobody can be asked
// says: it is refused without a field. The user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestDefault/a name that is there
// says: deploymentName and replicas are "a, 3", want "web, 3"
//
// fails: TestDefault/one replica
// says: deploymentName and replicas are "a, 2", want "web, 1"
//
// fails: TestDefault/replicas that are missing
// says: it panicked: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestDefault/a name that is missing, and the Foo is being deleted
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
	old, foo *samplecontrollerv1alpha1.Foo
	cached   []client.Object
	live     []client.Object // nil: the same as cached
	cacheErr error
	liveErr  error
	dryRun   bool
	want     string // passes, or a refusal
	why      string
}

var (
	errBroken    = errors.New("no answer")
	fifteen      = []client.Object{aFoo("b", "b", 8), aFoo("c", "c", 7)}
	passes       = "it passes"
	nameReserved = "it is refused: spec.deploymentName: " + reservedName
	internal     = "it is refused: an internal error"
)

func noRoom(others int32) string { return "it is refused: spec.replicas: " + overBudget(others) }

func warns(text string) string { return "it passes, with the warning: " + text }

func TestCreate(t *testing.T) {
	for sentence, test := range map[string]situation{
		"nothing is wrong": {
			foo:  aFoo("a", "web", 3),
			want: passes,
		},
		"nothing is wrong, and it is a dry run": {
			foo: aFoo("a", "web", 3), dryRun: true,
			want: passes,
		},
		"its name is reserved": {
			foo:  aFoo("a", "platform-web", 3),
			want: nameReserved,
			why:  "an error with a field tells the user, and every program, where to look. An error that isn't the API's becomes a 403",
		},
		"its name has the reserved word in it, and doesn't begin with it": {
			foo:  aFoo("a", "my-platform-web", 3),
			want: passes,
		},
		"its name begins nearly as a reserved one does": {
			foo:  aFoo("a", "platforms", 3),
			want: passes,
			why:  `reserved are the names that begin with "platform-", with the hyphen`,
		},
		"there is just room for its replicas": {
			foo: aFoo("a", "web", 5), cached: fifteen,
			want: passes,
		},
		"there is no room for its replicas": {
			foo: aFoo("a", "web", 6), cached: fifteen,
			want: noRoom(15),
			why:  "an error with a field tells the user, and every program, where to look. An error that isn't the API's becomes a 403",
		},
		"its name is reserved, and there is no room": {
			foo: aFoo("a", "platform-web", 6), cached: fifteen,
			want: nameReserved + "; spec.replicas: " + overBudget(15),
			why:  "who is told of one mistake at a time tries again and again",
		},
		"it has one replica": {
			foo:  aFoo("a", "web", 1),
			want: warns(oneReplica),
			why:  "what is unwise may be just what somebody wants",
		},
		"it doesn't say its replicas": {
			foo:  aFoo("a", "web", 0),
			want: warns(oneReplica),
			why:  "replicas is a pointer. controller-runtime makes of a panic a refusal, which says: panic: … [recovered]",
		},
		"its name is reserved, and it has one replica": {
			foo:  aFoo("a", "platform-web", 1),
			want: nameReserved,
		},
		"another doesn't say its replicas": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 14), aFoo("c", "c", 0)},
			want: noRoom(15),
			why:  "one such Foo, and nobody in the namespace can make another one",
		},
		"the others are in another namespace": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 15, elsewhere)},
			want: passes,
		},
		"the others are being deleted": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 15, terminating)},
			want: passes,
		},
		"another was scaled down, and the cache doesn't know yet": {
			foo: aFoo("a", "web", 6), cached: fifteen, live: []client.Object{aFoo("b", "b", 7), aFoo("c", "c", 7)},
			want: passes,
			why:  "the user has just done what the refusal told them to do",
		},
		"another is gone, and the cache doesn't know yet": {
			foo: aFoo("a", "web", 6), cached: fifteen, live: []client.Object{aFoo("c", "c", 7)},
			want: passes,
			why:  "the user has just done what the refusal told them to do",
		},
		"there is no room, and still less than the cache knows": {
			foo: aFoo("a", "web", 6), cached: fifteen, live: []client.Object{aFoo("b", "b", 10), aFoo("c", "c", 7)},
			want: noRoom(17),
			why:  "the numbers in the refusal are what the user goes by",
		},
		"there is room by the cache, and the server doesn't answer": {
			foo: aFoo("a", "web", 5), cached: fifteen, liveErr: errBroken,
			want: passes,
			why:  "nobody needs the server's answer here, and it would be one more request for each Foo that is written",
		},
		"there is no room by the cache, and the server doesn't answer": {
			foo: aFoo("a", "web", 6), cached: fifteen, liveErr: errBroken,
			want: internal,
			why:  "nobody knows whether the Foo is wrong, so it isn't Invalid; and an error that isn't the API's becomes a 403",
		},
		"the cache doesn't answer": {
			foo: aFoo("a", "web", 5), cacheErr: errBroken,
			want: internal,
			why:  "nobody knows whether the Foo is wrong, so it isn't Invalid; and an error that isn't the API's becomes a 403",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.judge(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
				return v.ValidateCreate(ctx, test.foo)
			})
		})
	}
}

// In each case, the cache has the old Foo.
func TestUpdate(t *testing.T) {
	for sentence, test := range map[string]situation{
		"a label, where all is wrong since long": {
			old: aFoo("a", "platform-web", 8), foo: aFoo("a", "platform-web", 8, labelled), cached: fifteen,
			want: passes,
			why:  "it was stored like that. Someone who sets a label or removes a finalizer didn't cause it and can't fix it",
		},
		"a label, and nobody can be asked": {
			old: aFoo("a", "web", 2), foo: aFoo("a", "web", 2, labelled), cacheErr: errBroken, liveErr: errBroken,
			want: passes,
			why:  "what isn't judged needs no sum. Asking all the same would block everybody's labels and finalizers",
		},
		"its last finalizer goes, where all is wrong since long": {
			old: aFoo("a", "platform-web", 8, terminating), foo: aFoo("a", "platform-web", 8, terminating, released), cached: fifteen,
			want: passes,
			why:  "a Foo that can't lose its finalizer is never gone, and its namespace stays Terminating forever",
		},
		"its last finalizer goes, and nobody can be asked": {
			old: aFoo("a", "web", 2, terminating), foo: aFoo("a", "web", 2, terminating, released), cacheErr: errBroken, liveErr: errBroken,
			want: passes,
			why:  "a Foo that can't lose its finalizer is never gone, and its namespace stays Terminating forever",
		},
		"anything, while it is being deleted": {
			old: aFoo("a", "web", 2, terminating), foo: aFoo("a", "platform-web", 9, terminating), cached: fifteen,
			want: passes,
			why:  "it is going. Nothing will come of what it asks for",
		},
		"a name that is reserved": {
			old: aFoo("a", "web", 2), foo: aFoo("a", "platform-web", 2),
			want: nameReserved,
			why:  "an error with a field tells the user, and every program, where to look. An error that isn't the API's becomes a 403",
		},
		"another name, where there are too many replicas since long": {
			old: aFoo("a", "web", 8), foo: aFoo("a", "www", 8), cached: fifteen,
			want: passes,
			why:  "it was stored so, and this change doesn't make it worse",
		},
		"more replicas, with just room": {
			old: aFoo("a", "web", 3), foo: aFoo("a", "web", 5), cached: fifteen,
			want: passes,
			why:  "the Foo itself is among those that are stored: what it had isn't asked for by another one",
		},
		"more replicas, without room": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "web", 6), cached: fifteen,
			want: noRoom(15),
			why:  "the Foo itself is among those that are stored: what it had isn't asked for by another one",
		},
		"a name that is reserved, and more replicas, without room": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "platform-web", 6), cached: fifteen,
			want: nameReserved + "; spec.replicas: " + overBudget(15),
			why:  "who is told of one mistake at a time tries again and again",
		},
		"more replicas, and the cache doesn't answer": {
			old: aFoo("a", "web", 2), foo: aFoo("a", "web", 3), cacheErr: errBroken,
			want: internal,
			why:  "nobody knows whether the Foo is wrong, so it isn't Invalid; nor is it right",
		},
		"more replicas, without room by the cache, and the server doesn't answer": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "web", 6), cached: fifteen, liveErr: errBroken,
			want: internal,
			why:  "nobody knows whether the Foo is wrong, so it isn't Invalid; nor is it right",
		},
		"more replicas, with room, where the name is reserved since long": {
			old: aFoo("a", "platform-web", 2), foo: aFoo("a", "platform-web", 3), cached: fifteen,
			want: passes,
			why:  "it was stored so, and this change doesn't make it worse",
		},
		"more replicas, with room since another was scaled down, and the cache doesn't know yet": {
			old: aFoo("a", "web", 5), foo: aFoo("a", "web", 6), cached: fifteen, live: []client.Object{aFoo("a", "web", 5), aFoo("b", "b", 2)},
			want: passes,
			why:  "the user has just done what the refusal told them to do",
		},
		"fewer replicas, where there are still too many": {
			old: aFoo("a", "web", 9), foo: aFoo("a", "web", 8), cached: fifteen,
			want: passes,
			why:  "it is a step to where there is room for all",
		},
		"fewer replicas, and nobody can be asked": {
			old: aFoo("a", "web", 9), foo: aFoo("a", "web", 8), cacheErr: errBroken, liveErr: errBroken,
			want: passes,
			why:  "fewer are never too many, so there is nothing to ask",
		},
		"one replica, where there were more": {
			old: aFoo("a", "web", 3), foo: aFoo("a", "web", 1),
			want: warns(oneReplica),
		},
		"a label, where there is one replica since long": {
			old: aFoo("a", "web", 1), foo: aFoo("a", "web", 1, labelled),
			want: passes,
			why:  "who is warned each time soon doesn't read any warning",
		},
		"one replica is said, where none was": {
			old: aFoo("a", "web", 0), foo: aFoo("a", "web", 1),
			want: passes,
			why:  "that is the same: who is warned each time soon doesn't read any warning",
		},
		"more replicas, where none were said": {
			old: aFoo("a", "web", 0), foo: aFoo("a", "web", 6), cached: fifteen,
			want: noRoom(15),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if test.live == nil {
				test.live = append(slices.Clone(test.cached), test.old)
			}
			test.cached = append(slices.Clone(test.cached), test.old)
			test.judge(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
				return v.ValidateUpdate(ctx, test.old, test.foo)
			})
		})
	}
}

func TestDelete(t *testing.T) {
	example := aFoo("a", "web", 3)
	for sentence, test := range map[string]situation{
		"it has no Deployment": {
			want: passes,
			why:  "what isn't there needs no protection. A Foo that can't be deleted keeps its namespace Terminating forever",
		},
		"its Deployment has Pods": {
			cached: []client.Object{aDeployment(example, 3)},
			want:   warns(goesAlong("web", 3)),
			why:    "the user has asked for it, and so has anyone who deletes the namespace",
		},
		"its Deployment has no Pods": {
			cached: []client.Object{aDeployment(example, 0)},
			want:   passes,
		},
		"the Deployment of that name is nobody's": {
			cached: []client.Object{aDeployment(nil, 3)},
			want:   passes,
			why:    "it has the name, and isn't this Foo's: it stays",
		},
		"the Deployment of that name is an earlier Foo's": {
			cached: []client.Object{aDeployment(aFoo("a", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) { foo.UID = "earlier" }), 3)},
			want:   passes,
			why:    "it has the name, and isn't this Foo's: whose it is goes by the UID",
		},
		"nobody can be asked": {
			cacheErr: errBroken, liveErr: errBroken,
			want: passes,
			why:  "a warning that can't be given is no reason to refuse",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.judge(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
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
		"a name that is missing": {
			foo:  aFoo("a", "", 3),
			want: "a, 3",
		},
		"a name that is there": {
			foo:  aFoo("a", "web", 3),
			want: "web, 3",
			why:  "the user has said it",
		},
		"a Foo that has no name yet": {
			foo:  aFoo("", "", 3),
			want: ", 3",
		},
		"one replica": {
			foo:  aFoo("a", "web", 1),
			want: "web, 1",
			why:  "the user has said it, or the schema, and here nobody can tell which",
		},
		"replicas that are missing": {
			foo:  aFoo("a", "web", 0),
			want: "web, 1",
			why:  "the schema sees to it, before anybody comes here",
		},
		"a name that is missing, and the Foo is being deleted": {
			foo:  aFoo("a", "", 3, terminating),
			want: ", 3",
			why:  "it is going: nothing in it is worth a change",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var err error
			if crash := caught(func() { err = FooDefaulter{}.Default(request(t.Context(), false), test.foo) }); crash != "" {
				t.Fatalf("%s%s", crash, because(test.why))
			}
			if err != nil {
				t.Fatalf("it returns the error %v, want none", err)
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

// judge compares a validator's answer with the expected one.
func (s situation) judge(t *testing.T, ask func(context.Context, *FooValidator) (admission.Warnings, error)) {
	t.Helper()
	live := s.live
	if live == nil {
		live = s.cached
	}
	var writes []string
	v := &FooValidator{Client: aServer(t, s.cached, s.cacheErr, &writes), Live: aServer(t, live, s.liveErr, &writes)}
	var warnings admission.Warnings
	var err error
	if crash := caught(func() { warnings, err = ask(request(t.Context(), s.dryRun), v) }); crash != "" {
		t.Fatalf("%s\nwant: %s%s", crash, s.want, because(s.why))
	}
	if got := answer(t, warnings, err); got != s.want {
		t.Errorf("%s\nwant: %s%s", got, s.want, because(s.why))
	}
	switch {
	case len(writes) == 0:
	case s.dryRun:
		t.Errorf("it sent a write in a dry run: %s\nWhy not: sideEffects=None says that there are none, so the server asks in a dry run too",
			strings.Join(writes, "; "))
	default:
		t.Errorf("it sent a write: %s\nWhy not: somebody may still refuse the Foo after this, and what was written stays. What a Foo that is\n"+
			"stored brings about is the controller's", strings.Join(writes, "; "))
	}
}

// answer describes the answer that the user gets.
func answer(t *testing.T, warnings admission.Warnings, err error) string {
	t.Helper()
	var text string
	status := apierrors.APIStatus(nil)
	switch {
	case err == nil:
		text = "it passes"
	case !errors.As(err, &status):
		return fmt.Sprintf("it is refused without a field. The user reads: admission webhook \"vfoo-v1alpha1.kb.io\" denied the request: %v", err)
	case apierrors.IsInternalError(err):
		text = internal
	case !apierrors.IsInvalid(err):
		return fmt.Sprintf("it is refused with the reason %q: %v", status.Status().Reason, err)
	default:
		text = "it is refused: " + causes(t, status.Status())
	}
	if len(warnings) > 0 {
		text += ", with the warning: " + strings.Join(warnings, "; ")
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
func caught(call func()) (crash string) {
	defer func() {
		if found := recover(); found != nil {
			crash = fmt.Sprintf("it panicked: %v", found)
			if place := regexp.MustCompile(`\bexercise\.go:\d+`).FindString(string(debug.Stack())); place != "" {
				crash += ", at " + place
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
