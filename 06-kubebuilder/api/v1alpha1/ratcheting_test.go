// What happens to stored Foos when a release makes the schema stricter: CRD ratcheting, on a real
// API server. It accepts an update of an object that is invalid now, as long as the update doesn't
// change the value that is invalid.

package v1alpha1

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/operators/06-kubebuilder/test/utils"
)

// accepted is the result of an update that the API server accepts.
const accepted = "accepted"

func TestRatcheting(t *testing.T) {
	api, crd := startServer(t)
	g := NewWithT(t)
	old := aFoo("old")
	g.Expect(api.Create(t.Context(), old)).To(Succeed())
	unchanged := func(*apiextensionsv1.JSONSchemaProps) {}
	for _, test := range []struct {
		sentence string
		// stricter changes the schema, so that a Foo {deploymentName: web, replicas: 10} is invalid.
		stricter func(spec *apiextensionsv1.JSONSchemaProps)
		// updates are patches of such a Foo, which was created before that, and their results. They
		// are dry runs.
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
			setSchema(t, api, crd, unchanged, Succeed())
			setSchema(t, api, crd, test.stricter, Satisfy(apierrors.IsInvalid))

			for _, update := range slices.Sorted(maps.Keys(test.updates)) {
				got := accepted
				if err := api.Patch(t.Context(), old.DeepCopy(), mergePatch(update), client.DryRunAll); err != nil {
					got = err.Error()
				}
				t.Logf("%s: %s", update, got)
				if want := test.updates[update]; !strings.Contains(got, want) {
					t.Errorf("want: %s", want)
				}
			}
			if err := api.Status().Patch(t.Context(), old.DeepCopy(), mergePatch(`{"status":{"availableReplicas":1}}`), client.DryRunAll); err != nil {
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

// aFoo returns a Foo that our schema allows.
func aFoo(name string) *Foo {
	return &Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec:       FooSpec{DeploymentName: "web", Replicas: new(int32(10))},
	}
}

func mergePatch(patch string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(patch))
}

// setSchema changes the schema of spec in the CRD, and waits until the API server uses it: until the
// creation of such a Foo has that result.
func setSchema(t *testing.T, api client.Client, crd *apiextensionsv1.CustomResourceDefinition, change func(spec *apiextensionsv1.JSONSchemaProps), result gomegatypes.GomegaMatcher) {
	t.Helper()
	g := NewWithT(t)
	versions := crd.DeepCopy().Spec.Versions
	properties := versions[0].Schema.OpenAPIV3Schema.Properties
	spec := properties["spec"]
	change(&spec)
	properties["spec"] = spec
	text, err := json.Marshal(versions)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(api.Patch(t.Context(), crd.DeepCopy(), mergePatch(`{"spec":{"versions":`+string(text)+`}}`))).To(Succeed())
	g.Eventually(func() error { return api.Create(t.Context(), aFoo("probe"), client.DryRunAll) }).
		WithTimeout(time.Minute).Should(result)
}

// startServer starts an API server with our CRD, and returns both.
func startServer(t *testing.T) (client.Client, *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server, and this is a short run")
	}
	g := NewWithT(t)
	assets, err := utils.EnvtestAssets()
	g.Expect(err).NotTo(HaveOccurred())
	server := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{generated},
		ErrorIfCRDPathMissing: true,
	}
	config, err := server.Start()
	t.Cleanup(func() { g.Expect(server.Stop()).To(Succeed()) })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(errors.Join(AddToScheme(scheme.Scheme), apiextensionsv1.AddToScheme(scheme.Scheme))).To(Succeed())
	api, err := client.New(config, client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	return api, server.CRDs[0]
}
