// What happens to stored Foos when a release makes the schema stricter: CRD ratcheting, on a real
// API server. It accepts an update of an object that is invalid now, as long as the update doesn't
// change the value that is invalid.

package v1alpha1

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/operators/06-kubebuilder/test/utils"
)

func TestRatcheting(t *testing.T) {
	api := startServer(t)
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "foos.samplecontroller.k8s.io"}}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
		t.Fatal(err)
	}
	const accepted = "accepted"
	for _, test := range []struct {
		sentence string
		// stricter changes the schema, so that a Foo {deploymentName: web, replicas: 10} is invalid.
		stricter func(spec *apiextensionsv1.JSONSchemaProps)
		// updates are patches of such a Foo, which was created before that, and their results.
		updates map[string]string
	}{
		{
			sentence: "right: a limit for one field",
			stricter: atMost5Replicas,
			updates: map[string]string{
				`{"metadata":{"labels":{"team":"blue"}}}`: accepted,
				`{"spec":{"deploymentName":"other"}}`:     accepted,
				`{"spec":{"replicas":4}}`:                 accepted,
				`{"spec":{"replicas":9}}`:                 "spec.replicas: Invalid value: 9",
			},
		},
		{
			sentence: "right: a rule for one field",
			stricter: func(spec *apiextensionsv1.JSONSchemaProps) {
				name := spec.Properties["deploymentName"]
				name.XValidations = rule("self.startsWith('app-')")
				spec.Properties["deploymentName"] = name
			},
			updates: map[string]string{
				`{"metadata":{"labels":{"team":"blue"}}}`: accepted,
				`{"spec":{"replicas":4}}`:                 accepted,
				`{"spec":{"deploymentName":"other"}}`:     "spec.deploymentName: Invalid value",
			},
		},
		{
			sentence: "wrong: a rule for all of spec",
			stricter: func(spec *apiextensionsv1.JSONSchemaProps) {
				spec.XValidations = rule("self.replicas <= 5")
			},
			updates: map[string]string{
				`{"metadata":{"labels":{"team":"blue"}}}`: accepted,
				`{"spec":{"deploymentName":"other"}}`:     "spec: Invalid value", // spec has changed
			},
		},
		{
			sentence: "right: a rule for all of spec, for creates only",
			stricter: func(spec *apiextensionsv1.JSONSchemaProps) {
				spec.XValidations = rule("oldSelf.hasValue() || self.replicas <= 5")
				spec.XValidations[0].OptionalOldSelf = new(true)
			},
			updates: map[string]string{
				`{"metadata":{"labels":{"team":"blue"}}}`: accepted,
				`{"spec":{"deploymentName":"other"}}`:     accepted,
			},
		},
		{
			sentence: "right: a new required field with a default",
			stricter: func(spec *apiextensionsv1.JSONSchemaProps) {
				atMost5Replicas(spec) // otherwise the old Foo would be valid
				spec.Properties["team"] = apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"none"`)}}
				spec.Required = append(spec.Required, "team")
			},
			updates: map[string]string{
				`{"spec":{"deploymentName":"other"}}`: accepted,
			},
		},
		{
			sentence: "wrong: a new required field",
			stricter: func(spec *apiextensionsv1.JSONSchemaProps) {
				spec.Properties["team"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
				spec.Required = append(spec.Required, "team")
			},
			updates: map[string]string{
				`{"metadata":{"labels":{"team":"blue"}}}`: accepted,
				`{"spec":{"replicas":4}}`:                 "spec.team: Required value", // spec has changed
				`{"spec":{"replicas":4,"team":"blue"}}`:   accepted,
			},
		},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			setSchema(t, api, crd, func(*apiextensionsv1.JSONSchemaProps) {}, false)
			old := newFoo(t, api)
			setSchema(t, api, crd, test.stricter, true)

			for _, update := range slices.Sorted(maps.Keys(test.updates)) {
				want := test.updates[update]
				err := api.Patch(t.Context(), old.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(update)), client.DryRunAll)
				got := accepted
				if err != nil {
					got = err.Error()
				}
				t.Logf("%s: %s", update, got)
				if !strings.Contains(got, want) {
					t.Errorf("want: %s", want)
				}
			}
			if err := api.Status().Patch(t.Context(), old.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"availableReplicas":1}}`))); err != nil {
				t.Errorf("the controller can't write the status of the old Foo: %v", err)
			}
		})
	}
}

func atMost5Replicas(spec *apiextensionsv1.JSONSchemaProps) {
	replicas := spec.Properties["replicas"]
	replicas.Maximum = new(5.0)
	spec.Properties["replicas"] = replicas
}

func rule(expression string) apiextensionsv1.ValidationRules {
	return apiextensionsv1.ValidationRules{{Rule: expression}}
}

func newFooNamed(name string) *Foo {
	return &Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec:       FooSpec{DeploymentName: "web", Replicas: new(int32(10))},
	}
}

// newFoo creates a Foo that the first schema allows.
func newFoo(t *testing.T, api client.Client) *Foo {
	t.Helper()
	foo := newFooNamed("")
	foo.GenerateName = "old-"
	if err := api.Create(t.Context(), foo); err != nil {
		t.Fatal(err)
	}
	return foo
}

// setSchema changes the schema of spec in the CRD, and waits until the API server uses it: until it
// refuses a new Foo with the old values, or accepts one.
func setSchema(t *testing.T, api client.Client, crd *apiextensionsv1.CustomResourceDefinition, change func(spec *apiextensionsv1.JSONSchemaProps), refused bool) {
	t.Helper()
	desired := crd.DeepCopy()
	spec := desired.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	change(&spec)
	desired.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		latest := &apiextensionsv1.CustomResourceDefinition{}
		if err := api.Get(ctx, client.ObjectKeyFromObject(crd), latest); err != nil {
			return false, err
		}
		desired.ResourceVersion = latest.ResourceVersion // the server writes the CRD's status
		if err := api.Update(ctx, desired); apierrors.IsConflict(err) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		err := api.Create(ctx, newFooNamed("probe"), client.DryRunAll)
		return apierrors.IsInvalid(err) == refused, nil
	})
	if err != nil {
		t.Fatalf("the API server doesn't use the new schema: %v", err)
	}
}

// startServer starts an API server with our CRD.
func startServer(t *testing.T) client.Client {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server, and this is a short run")
	}
	assets, err := utils.EnvtestAssets("../..")
	if err != nil {
		t.Fatal(err)
	}
	server := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{generated},
		ErrorIfCRDPathMissing: true,
	}
	config, err := server.Start()
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	api, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return api
}
