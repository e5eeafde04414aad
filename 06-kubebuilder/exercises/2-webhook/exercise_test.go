//go:build check || solution

// These tests compare the webhooks' answers with their promises. The cache is a fake client, and
// the API server is another one. Each test decides which objects they have.
//
// As given, the webhooks refuse, write and overwrite too much, and explain too little.
// `workshop test` checks these failures:
//
// fails: TestCreate/a valid Foo
// says: the validator created ConfigMap a-was-admitted
//
// fails: TestCreate/a reserved name
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/a name that resembles a reserved one
// says: the validator created ConfigMap a-was-admitted
//
// fails: TestCreate/a reserved name, and replicas that don't fit
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestCreate/unset replicas
// says: panic: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestCreate/another Foo has unset replicas
// says: panic: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestCreate/Foos that are being deleted, or are in another namespace
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/another Foo was scaled down, and the cache is behind
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/replicas that don't fit, and the cache is behind
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestCreate/replicas that fit, and the API server doesn't answer
// says: the validator created ConfigMap a-was-admitted
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
// fails: TestUpdate/a removed finalizer while all reads fail
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/any change of a Foo that is being deleted
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/a reserved name
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/more replicas that just fit
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/more replicas that don't fit
// says: panic: runtime error: invalid memory address or nil pointer dereference
//
// fails: TestUpdate/more replicas, and a name that is already reserved
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request: no
//
// fails: TestUpdate/fewer replicas while all reads fail
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/one replica instead of three
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestUpdate/one replica instead of unset replicas
// says: refused without a field; the user reads: admission webhook "vfoo-v1alpha1.kb.io" denied the request:
//
// fails: TestDelete/no Deployment
// says: refused with the reason "NotFound": deployments.apps "web" not found
//
// fails: TestDelete/a Deployment with Pods
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
// fails: TestDefault/no deploymentName, and the Foo is being deleted
// says: deploymentName and replicas are "a, 3", want ", 3"
package webhook

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// situation is one case: the request, the stored objects, and the expected answer.
type situation struct {
	old, foo       *samplecontrollerv1alpha1.Foo
	cached         []client.Object
	stored         []client.Object // in the API server; nil: the same as cached
	cacheFails     bool
	apiServerFails bool
	want           string // passes, or a refusal
	why            string
}

const (
	passes       = "passes"
	nameReserved = "refused: spec.deploymentName: " + reservedName
	internal     = "refused: an internal error"
)

// fifteen replicas are what these Foos ask for.
var fifteen = []client.Object{aFoo("b", "b", 8), aFoo("c", "c", 7)}

func noRoom(others int32) string { return "refused: spec.replicas: " + overBudget(others) }

func warns(text string) string { return "passes with the warning: " + text }

func TestCreate(t *testing.T) {
	for sentence, test := range map[string]situation{
		"a valid Foo": {
			foo:  aFoo("a", "web", 3),
			want: passes,
		},
		"a reserved name": {
			foo:  aFoo("a", "platform-web", 1),
			want: nameReserved,
			why:  "an error with a field tells the user, and every program, where to look. An error that isn't the API's becomes a 403",
		},
		"a name that resembles a reserved one": {
			foo:  aFoo("a", "platforms", 3),
			want: passes,
			why:  `reserved are the names that begin with "platform-", with the hyphen`,
		},
		"a reserved name, and replicas that don't fit": {
			foo: aFoo("a", "platform-web", 6), cached: fifteen,
			want: nameReserved + "; spec.replicas: " + overBudget(15),
			why:  "a user who is told one mistake at a time has to try again and again",
		},
		"unset replicas": {
			foo:  aFoo("a", "web", 0),
			want: warns(oneReplica),
			why:  "replicas is a pointer, and the user may want something unwise",
		},
		"another Foo has unset replicas": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 14), aFoo("c", "c", 0)},
			want: noRoom(15),
			why:  "one such Foo, and nobody in the namespace can create another one",
		},
		"Foos that are being deleted, or are in another namespace": {
			foo: aFoo("a", "web", 6), cached: []client.Object{aFoo("b", "b", 15, elsewhere), aFoo("c", "c", 15, terminating)},
			want: passes,
			why:  "they don't count",
		},
		"another Foo was scaled down, and the cache is behind": {
			foo: aFoo("a", "web", 6), cached: fifteen, stored: []client.Object{aFoo("b", "b", 7), aFoo("c", "c", 7)},
			want: passes,
			why:  "the user has just done what the refusal told them to do",
		},
		"replicas that don't fit, and the cache is behind": {
			foo: aFoo("a", "web", 6), cached: fifteen, stored: []client.Object{aFoo("b", "b", 10), aFoo("c", "c", 7)},
			want: noRoom(17),
			why:  "the user acts on the numbers in the refusal",
		},
		"replicas that fit, and the API server doesn't answer": {
			foo: aFoo("a", "web", 5), cached: fifteen, apiServerFails: true,
			want: passes,
			why:  "the API server's answer isn't needed here, and asking would cost one more request for each Foo",
		},
		"replicas that don't fit, and the API server doesn't answer": {
			foo: aFoo("a", "web", 6), cached: fifteen, apiServerFails: true,
			want: internal,
			why:  "without an answer the Foo may be valid, so Invalid is wrong; and an error that isn't the API's becomes a 403",
		},
		"the cache doesn't answer": {
			foo: aFoo("a", "web", 5), cacheFails: true,
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

func TestUpdate(t *testing.T) {
	for sentence, test := range map[string]situation{
		"a new label on a Foo that is already invalid": {
			old: aFoo("a", "platform-web", 8), foo: aFoo("a", "platform-web", 8, labeled), cached: fifteen,
			want: passes,
			why:  "it was already stored. Someone who sets a label or removes a finalizer didn't cause the problem and can't fix it",
		},
		"a removed finalizer while all reads fail": {
			old: aFoo("a", "web", 2, terminating), foo: aFoo("a", "web", 2, terminating, released), cacheFails: true, apiServerFails: true,
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
		},
		"more replicas that just fit": {
			old: aFoo("a", "web", 3), foo: aFoo("a", "web", 5), cached: append(fifteen, aFoo("a", "web", 3)),
			want: passes,
			why:  "the stored Foos include this Foo, so don't count its old replicas as another's",
		},
		"more replicas that don't fit": {
			old: aFoo("a", "web", 0), foo: aFoo("a", "web", 6), cached: append(fifteen, aFoo("a", "web", 0)),
			want: noRoom(15),
			why:  "the stored Foos include this Foo, so don't count its old replicas as another's",
		},
		"more replicas, and a name that is already reserved": {
			old: aFoo("a", "platform-web", 2), foo: aFoo("a", "platform-web", 3), cached: fifteen,
			want: passes,
			why:  "it was already stored, and this change doesn't make it worse",
		},
		"fewer replicas while all reads fail": {
			old: aFoo("a", "web", 9), foo: aFoo("a", "web", 8), cacheFails: true, apiServerFails: true,
			want: passes,
			why:  "fewer are never too many, so there is nothing to ask",
		},
		"one replica instead of three": {
			old: aFoo("a", "web", 3), foo: aFoo("a", "web", 1),
			want: warns(oneReplica),
		},
		"one replica instead of unset replicas": {
			old: aFoo("a", "web", 0), foo: aFoo("a", "web", 1),
			want: passes,
			why:  "unset means 1, so nothing has changed: a user who is warned each time stops reading warnings",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.check(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
				return v.ValidateUpdate(ctx, test.old, test.foo)
			})
		})
	}
}

func TestDelete(t *testing.T) {
	for sentence, test := range map[string]situation{
		"no Deployment": {
			foo:  aFoo("a", "web", 3),
			want: passes,
			why:  "there is nothing to protect. A Foo that can't be deleted keeps its namespace Terminating forever",
		},
		"a Deployment with Pods": {
			foo: aFoo("a", "web", 3), cached: []client.Object{aDeploymentOf("uid of a", 3)},
			want: warns(goesAlong("web", 3)),
			why:  "the user has asked for it, and so has anyone who deletes the namespace",
		},
		"a Deployment without Pods": {
			foo: aFoo("a", "web", 3), cached: []client.Object{aDeploymentOf("uid of a", 0)},
			want: passes,
		},
		"a Deployment of an earlier Foo with the same name": {
			foo: aFoo("a", "web", 3), cached: []client.Object{aDeploymentOf("earlier", 3)},
			want: passes,
			why:  "it has the name, but this Foo doesn't control it: the UID decides",
		},
		"all reads fail": {
			foo: aFoo("a", "web", 3), cacheFails: true, apiServerFails: true,
			want: passes,
			why:  "a warning that can't be given is no reason to refuse",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.check(t, func(ctx context.Context, v *FooValidator) (admission.Warnings, error) {
				return v.ValidateDelete(ctx, test.foo)
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
		"one replica": {
			foo:  aFoo("a", "web", 1),
			want: "web, 1",
			why:  "either the user or the schema has set it, and the webhook can't tell which",
		},
		"no deploymentName, and the Foo is being deleted": {
			foo:  aFoo("a", "", 3, terminating),
			want: ", 3",
			why:  "it will be gone soon, so there is no point in a change",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if err := (FooDefaulter{}).Default(t.Context(), test.foo); err != nil {
				t.Fatalf("got the error %v, want none", err)
			}
			if got := fmt.Sprintf("%s, %d", test.foo.Spec.DeploymentName, ptr.Deref(test.foo.Spec.Replicas, 1)); got != test.want {
				t.Errorf("deploymentName and replicas are %q, want %q\nWhy: %s", got, test.want, test.why)
			}
		})
	}
}

// check compares a validator's answer with the expected one. The request is in the context, where
// controller-runtime puts it.
func (s situation) check(t *testing.T, ask func(context.Context, *FooValidator) (admission.Warnings, error)) {
	t.Helper()
	cache, apiServer := aServer(t, s.cached, s.cacheFails), aServer(t, s.cached, s.apiServerFails)
	if s.stored != nil {
		apiServer = aServer(t, s.stored, s.apiServerFails)
	}
	ctx := admission.NewContextWithRequest(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: new(true)}})
	got := answer(func() (admission.Warnings, error) {
		return ask(ctx, &FooValidator{Client: cache, APIReader: apiServer})
	})
	if got != s.want {
		t.Errorf("got:  %s\nwant: %s\nWhy: %s", got, s.want, s.why)
	}
	var written corev1.ConfigMapList
	if err := cache.List(ctx, &written); err == nil && len(written.Items) > 0 {
		t.Errorf("the validator created ConfigMap %s in a dry run; want no write\nWhy: sideEffects=None promises that there are none, "+
			"and another webhook may still refuse the Foo", written.Items[0].Name)
	}
}

// answer describes the answer that the user gets. controller-runtime catches panics, too.
func answer(ask func() (admission.Warnings, error)) (text string) {
	defer func() {
		if found := recover(); found != nil {
			text = fmt.Sprintf("panic: %v, at %s", found, regexp.MustCompile(`\bexercise\.go:\d+`).FindString(string(debug.Stack())))
		}
	}()
	warnings, err := ask()
	status := apierrors.APIStatus(nil)
	switch {
	case err == nil && len(warnings) > 0:
		return warns(strings.Join(warnings, "; "))
	case err == nil:
		return passes
	case len(warnings) > 0:
		return fmt.Sprintf("refused with warnings: %v", err)
	case !errors.As(err, &status):
		return fmt.Sprintf("refused without a field; the user reads: admission webhook \"vfoo-v1alpha1.kb.io\" denied the request: %v", err)
	case apierrors.IsInternalError(err):
		return internal
	case !apierrors.IsInvalid(err):
		return fmt.Sprintf("refused with the reason %q: %v", status.Status().Reason, err)
	}
	var causes []string
	for _, cause := range ptr.Deref(status.Status().Details, metav1.StatusDetails{}).Causes {
		causes = append(causes, cause.Field+": "+value.ReplaceAllString(cause.Message, ""))
	}
	return "refused: " + strings.Join(causes, "; ")
}

// value matches the beginning of a field error's message, which contains the value.
var value = regexp.MustCompile(`^(Invalid value: ("[^"]*"|[^":]+): |Forbidden: )`)

// aServer returns a client for these objects, or one whose reads all fail.
func aServer(t *testing.T, objects []client.Object, fails bool) client.Client {
	t.Helper()
	kinds := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(kinds), samplecontrollerv1alpha1.AddToScheme(kinds)); err != nil {
		t.Fatal(err)
	}
	server := fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...)
	if fails {
		server.WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return errors.New("no answer")
			},
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return errors.New("no answer")
			},
		})
	}
	return server.Build()
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

func labeled(foo *samplecontrollerv1alpha1.Foo) { foo.Labels = map[string]string{"team": "shop"} }

func terminating(foo *samplecontrollerv1alpha1.Foo) {
	foo.DeletionTimestamp, foo.Finalizers = new(metav1.Unix(0, 0)), []string{"example.com/held"}
}

func released(foo *samplecontrollerv1alpha1.Foo) { foo.Finalizers = nil }

// aDeploymentOf returns the Deployment web, controlled by the Foo with that UID.
func aDeploymentOf(uid types.UID, available int32) *appsv1.Deployment {
	foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: uid}}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       "default",
			Name:            "web",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))},
		},
		Status: appsv1.DeploymentStatus{AvailableReplicas: available},
	}
}
