// The validator's answers, as tables. A fake client is the API server.

package v1alpha1

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

const (
	duplicateOfB = `Foo.samplecontroller.k8s.io "a" is invalid: spec.deploymentName: Duplicate value: "web": Foo "b" asks for it already: choose another name, or delete that Foo`
	foreignWeb   = `Deployment "web" exists and isn't this Foo's: it won't be touched, and the Foo becomes Ready once it is gone`
)

// Each case validates the Foo a with the deploymentName web.
func TestValidate(t *testing.T) {
	for sentence, test := range map[string]struct {
		old          *samplecontrollerv1alpha1.Foo // nil for a create
		change       func(*samplecontrollerv1alpha1.Foo)
		stored       []client.Object
		wantError    string
		wantWarnings []string
	}{
		"a free name": {},
		"another Foo asks for it": {
			stored:    []client.Object{aFoo("b", "web")},
			wantError: duplicateOfB,
		},
		"another Foo asks for it, and the name has changed": {
			old: aFoo("a", "old"), stored: []client.Object{aFoo("a", "old"), aFoo("b", "web")},
			wantError: duplicateOfB,
		},
		"another Foo asks for it, but the name hasn't changed": {
			old: aFoo("a", "web"), stored: []client.Object{aFoo("a", "web"), aFoo("b", "web")},
		},
		"another Foo asks for it, but this Foo is being deleted": {
			old: aFoo("a", "old"), change: terminating, stored: []client.Object{aFoo("b", "web")},
		},
		"a Foo in another namespace asks for it": {
			stored: []client.Object{aFoo("b", "web", func(foo *samplecontrollerv1alpha1.Foo) { foo.Namespace = "elsewhere" })},
		},
		"another Foo asks for another name": {
			stored: []client.Object{aFoo("b", "www")},
		},
		"another Foo asks for it, but is being deleted": {
			stored: []client.Object{aFoo("b", "web", terminating)},
		},
		"two other Foos ask for it, but the first one is being deleted": {
			stored:    []client.Object{aFoo("a2", "web", terminating), aFoo("b", "web")},
			wantError: duplicateOfB,
		},
		"a foreign Deployment has the name": {
			stored:       []client.Object{aDeployment("web")},
			wantWarnings: []string{foreignWeb},
		},
		"a foreign Deployment has the name, but the name hasn't changed": {
			old: aFoo("a", "web"), stored: []client.Object{aDeployment("web")},
		},
		"the Deployment of an earlier Foo with the same name has the name": {
			stored:       []client.Object{aDeployment("web", of(aFoo("a", "web", func(foo *samplecontrollerv1alpha1.Foo) { foo.UID = "earlier" })))},
			wantWarnings: []string{foreignWeb},
		},
		"the Foo's own Deployment has the name": {
			old: aFoo("a", "old"), stored: []client.Object{aDeployment("web", of(aFoo("a", "old")))},
		},
		"a new name, and a foreign Deployment has the old one": {
			old: aFoo("a", "old"), stored: []client.Object{aDeployment("old")},
		},
		"a refusal has no warnings": {
			stored:    []client.Object{aFoo("b", "web"), aDeployment("web")},
			wantError: duplicateOfB,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			foo := aFoo("a", "web")
			if test.change != nil {
				test.change(foo)
			}
			warnings, err := validate(t, &FooValidator{APIReader: aServer(test.stored)}, test.old, foo)
			if got := messageOf(err); got != test.wantError {
				t.Errorf("got the error\n%s\nwant\n%s", got, test.wantError)
			}
			if difference := cmp.Diff(test.wantWarnings, warnings, cmpopts.EquateEmpty()); difference != "" {
				t.Errorf("warnings (-want, +got):\n%s", difference)
			}
		})
	}
}

// If the Foos can't be listed, the Foo is refused with an internal error. If the Deployment can't be
// read, the Foo is accepted without a warning.
func TestValidateWhenAReadFails(t *testing.T) {
	broken := errors.New("no answer")
	for sentence, test := range map[string]struct {
		answers interceptor.Funcs
		want    string
	}{
		"the list of Foos fails": {
			answers: interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return broken }},
			want:    `Internal error occurred: list the Foos that ask for Deployment "web": no answer`,
		},
		"the get of the Deployment fails": {
			answers: interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return broken
			}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			warnings, err := validate(t, &FooValidator{APIReader: interceptor.NewClient(aServer(nil), test.answers)}, nil, aFoo("a", "web"))
			if got := messageOf(err); got != test.want || len(warnings) > 0 {
				t.Errorf("got the error\n%s\nand the warnings %q, want the error\n%s", got, warnings, test.want)
			}
		})
	}
}

func validate(t *testing.T, validator *FooValidator, old, foo *samplecontrollerv1alpha1.Foo) ([]string, error) {
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

// aServer returns a client for these objects. A fake needs an index for a list by a field.
func aServer(objects []client.Object) client.WithWatch {
	types := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(types), samplecontrollerv1alpha1.AddToScheme(types)); err != nil {
		panic(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).
		WithIndex(&samplecontrollerv1alpha1.Foo{}, "spec.deploymentName", func(object client.Object) []string {
			return []string{object.(*samplecontrollerv1alpha1.Foo).Spec.DeploymentName}
		}).Build()
}

// aFoo returns a Foo with that deploymentName.
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

// aDeployment returns a Deployment without a controller.
func aDeployment(name string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// of makes foo the Deployment's controller.
func of(foo *samplecontrollerv1alpha1.Foo) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) {
		deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))}
	}
}
