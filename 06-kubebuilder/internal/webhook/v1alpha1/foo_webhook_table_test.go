// What the webhooks judge, by what they read: a fake client in place of the cache, and another in
// place of the API server.

package v1alpha1

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

func TestDefault(t *testing.T) {
	for sentence, test := range map[string]struct{ name, deploymentName, want string }{
		"a name that is missing is the Foo's":           {name: "a", want: "a"},
		"one that is there is kept":                     {name: "a", deploymentName: "web", want: "web"},
		"a Foo that has no name yet can't give it away": {want: ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			foo := aFoo(test.name, test.deploymentName)
			must(t, FooDefaulter{}.Default(t.Context(), foo))
			if foo.Spec.DeploymentName != test.want {
				t.Errorf("the Deployment's name is %q, want %q", foo.Spec.DeploymentName, test.want)
			}
		})
	}
}

const (
	duplicateOfB = `Foo.samplecontroller.k8s.io "a" is invalid: spec.deploymentName: Duplicate value: "web": Foo "b" asks for it already: choose another name, or delete that Foo`
	foreignWeb   = `Deployment "web" exists and isn't this Foo's: it won't be touched, and the Foo becomes Ready once it is gone`
	oldIsDeleted = `spec.deploymentName: Deployment "old" will be deleted once "web" is there`
)

// There may be a Foo a, and it is judged with the Deployment's name web.
func TestValidate(t *testing.T) {
	for sentence, test := range map[string]struct {
		old          *samplecontrollerv1alpha1.Foo // nil: it is new
		change       func(*samplecontrollerv1alpha1.Foo)
		cached       []client.Object
		live         []client.Object // nil: the same
		wantError    string
		wantWarnings []string
	}{
		"a name that nobody asks for": {},
		"another Foo asks for it": {
			cached:    []client.Object{aFoo("b", "web")},
			wantError: duplicateOfB,
		},
		"another Foo asks for it, and it is a change": {
			old: aFoo("a", "old"), cached: []client.Object{aFoo("a", "old"), aFoo("b", "web")},
			wantError: duplicateOfB,
		},
		"another Foo asks for it, and it isn't a change": {
			old: aFoo("a", "web"), cached: []client.Object{aFoo("a", "web"), aFoo("b", "web")},
		},
		"another Foo asks for it, and the Foo is being deleted": {
			old: aFoo("a", "old"), change: terminating, cached: []client.Object{aFoo("b", "web")},
		},
		"another namespace's Foo asks for it": {
			cached: []client.Object{aFoo("b", "web", func(foo *samplecontrollerv1alpha1.Foo) { foo.Namespace = "elsewhere" })},
		},
		"another Foo asks for another": {
			cached: []client.Object{aFoo("b", "www")},
		},
		"another Foo that asks for it is being deleted": {
			cached: []client.Object{aFoo("b", "web", terminating)},
		},
		"another Foo that asks for it is gone, and the cache doesn't know yet": {
			cached: []client.Object{aFoo("b", "web")}, live: []client.Object{},
		},
		"another Foo asks for another by now, and the cache doesn't know yet": {
			cached: []client.Object{aFoo("b", "web")}, live: []client.Object{aFoo("b", "www")},
		},
		"of two others the first is gone": {
			cached: []client.Object{aFoo("a2", "web"), aFoo("b", "web")}, live: []client.Object{aFoo("b", "web")},
			wantError: duplicateOfB,
		},
		"a Deployment of that name is somebody's": {
			cached:       []client.Object{aDeployment("web")},
			wantWarnings: []string{foreignWeb},
		},
		"a Deployment of that name is somebody's, and it isn't a change": {
			old: aFoo("a", "web"), cached: []client.Object{aDeployment("web")},
		},
		"a Deployment of that name is an earlier Foo's of the same name": {
			cached:       []client.Object{aDeployment("web", of(aFoo("a", "web", func(foo *samplecontrollerv1alpha1.Foo) { foo.UID = "earlier" })))},
			wantWarnings: []string{foreignWeb},
		},
		"a Deployment of that name is the Foo's": {
			old: aFoo("a", "old"), cached: []client.Object{aDeployment("web", of(aFoo("a", "old")))},
		},
		"a change, and the Foo has its Deployment": {
			old: aFoo("a", "old"), cached: []client.Object{aDeployment("old", of(aFoo("a", "old")))},
			wantWarnings: []string{oldIsDeleted},
		},
		"a change, and the Deployment of the old name is somebody's": {
			old: aFoo("a", "old"), cached: []client.Object{aDeployment("old")},
		},
		"a change, and both": {
			old: aFoo("a", "old"), cached: []client.Object{aDeployment("old", of(aFoo("a", "old"))), aDeployment("web")},
			wantWarnings: []string{foreignWeb, oldIsDeleted},
		},
		"a refusal doesn't warn as well": {
			cached:    []client.Object{aFoo("b", "web"), aDeployment("web")},
			wantError: duplicateOfB,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			live := test.live
			if live == nil {
				live = test.cached
			}
			foo := aFoo("a", "web")
			if test.change != nil {
				test.change(foo)
			}
			warnings, err := judge(t, &FooValidator{Cache: aServer(test.cached), APIReader: aServer(live)}, test.old, foo)
			if got := messageOf(err); got != test.wantError {
				t.Errorf("the error is\n%s\nwant\n%s", got, test.wantError)
			}
			if difference := cmp.Diff(test.wantWarnings, warnings, cmpopts.EquateEmpty()); difference != "" {
				t.Errorf("warnings (-want, +got):\n%s", difference)
			}
		})
	}
}

// What can't be judged is refused, and the message says what couldn't be read.
func TestValidateWithoutAnAnswer(t *testing.T) {
	broken := errors.New("no answer")
	b := []client.Object{aFoo("b", "web")}
	for sentence, test := range map[string]struct {
		cache, live interceptor.Funcs
		want        string
	}{
		"from the cache, about Foos": {
			cache: interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return broken }},
			want:  `Internal error occurred: list the Foos that ask for Deployment "web": no answer`,
		},
		"from the server, about a Foo": {
			live: interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return broken
			}},
			want: `Internal error occurred: get Foo "b", which asks for Deployment "web": no answer`,
		},
		"from the cache, about a Deployment": {
			cache: interceptor.Funcs{
				List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil },
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return broken
				},
			},
			want: `Internal error occurred: get Deployment "web": no answer`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			validator := &FooValidator{Cache: interceptor.NewClient(aServer(b), test.cache), APIReader: interceptor.NewClient(aServer(b), test.live)}
			_, err := judge(t, validator, nil, aFoo("a", "web"))
			if got := messageOf(err); got != test.want || !apierrors.IsInternalError(err) {
				t.Errorf("the error is\n%s\nwant an internal one\n%s", got, test.want)
			}
		})
	}
}

func judge(t *testing.T, validator *FooValidator, old, foo *samplecontrollerv1alpha1.Foo) ([]string, error) {
	t.Helper()
	if old == nil {
		return validator.ValidateCreate(t.Context(), foo)
	}
	return validator.ValidateUpdate(t.Context(), old, foo)
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// aServer returns a client to read these objects with, and Foos by the index that the controller
// makes.
func aServer(objects []client.Object) client.WithWatch {
	types := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(types), samplecontrollerv1alpha1.AddToScheme(types)); err != nil {
		panic(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).
		WithIndex(&samplecontrollerv1alpha1.Foo{}, byDeploymentName, func(object client.Object) []string {
			return []string{object.(*samplecontrollerv1alpha1.Foo).Spec.DeploymentName}
		}).Build()
}

// aFoo returns a Foo that asks for a Deployment of that name.
func aFoo(name, deploymentName string, changes ...func(*samplecontrollerv1alpha1.Foo)) *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name)},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName},
	}
	for _, change := range changes {
		change(foo)
	}
	return foo
}

func terminating(foo *samplecontrollerv1alpha1.Foo) {
	foo.DeletionTimestamp, foo.Finalizers = new(metav1.Unix(0, 0)), []string{"example.com/held"}
}

// aDeployment returns one that nobody controls.
func aDeployment(name string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// of makes a Deployment foo's.
func of(foo *samplecontrollerv1alpha1.Foo) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) {
		deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))}
	}
}
