// Another kind, added as the kubebuilder CLI would add it: its code has to compile in our files,
// and its spec has to run in our suite.

package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/06-kubebuilder/test/utils"
)

const (
	gadgetTypes = `package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +kubebuilder:object:root=true

// Gadget is the Schema for the gadgets API
type Gadget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitzero\"`" + `
}

// +kubebuilder:object:root=true

// GadgetList contains a list of Gadget
type GadgetList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitzero\"`" + `
	Items           []Gadget ` + "`json:\"items\"`" + `
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Gadget{}, &GadgetList{})
		return nil
	})
}
`
	gadgetController = `package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// GadgetReconciler reconciles a Gadget object
type GadgetReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Reconcile does nothing yet.
func (r *GadgetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *GadgetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&samplecontrollerv1alpha1.Gadget{}).Named("gadget").Complete(r)
}
`
	gadgetSpec = `package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

var _ = Describe("Gadget Controller", func() {
	It("should successfully reconcile the resource", func() {
		resource := &samplecontrollerv1alpha1.Gadget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test-resource"}}
		Expect(k8sClient.Create(ctx, resource)).To(Succeed())
		controllerReconciler := &GadgetReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
		_, err := controllerReconciler.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(resource)})
		Expect(err).NotTo(HaveOccurred())
	})
})
`
	gadgetSetup = `	if err := (&controller.GadgetReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "Failed to create controller", "controller", "gadget")
		os.Exit(1)
	}
`
	moreScheme = `	err = samplecontrollerv1alpha1.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())

`
)

func TestAnotherKind(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	assets, err := utils.EnvtestAssets(projectDir(t))
	must(t, err)
	for file, text := range map[string]string{
		"api/v1alpha1/gadget_types.go":                  gadgetTypes,
		"internal/controller/gadget_controller.go":      gadgetController,
		"internal/controller/gadget_controller_test.go": gadgetSpec,
	} {
		must(t, os.WriteFile(filepath.Join(clone, filepath.FromSlash(file)), []byte(text), 0o666))
	}
	const builder, scheme = "\t// +kubebuilder:scaffold:builder\n", "\t// +kubebuilder:scaffold:scheme\n"
	change(t, clone, "cmd/main.go", builder, gadgetSetup+builder)
	change(t, clone, "internal/controller/suite_test.go", scheme, moreScheme+scheme)

	run(t, clone, "make", "generate", "manifests")
	run(t, clone, "go", "build", "./api/...", "./cmd", "./internal/...")
	run(t, clone, "go", "vet", "./cmd", "./internal/controller")

	printed := run(t, clone, "env", "KUBEBUILDER_ASSETS="+assets, "go", "test", "./internal/controller", "-run=TestControllers", "-v", "-ginkgo.no-color", "-ginkgo.focus=Gadget Controller")
	if !strings.Contains(printed, "Ran 1 of ") {
		t.Errorf("the suite didn't run the new spec:\n%s", printed)
	}
}
