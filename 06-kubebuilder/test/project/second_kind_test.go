// A second kind, added as the kubebuilder CLI adds it: what it writes into our files has to compile
// there, and its spec has to run in our suite.

package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/06-kubebuilder/test/utils"
)

const (
	barTypes = `package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +kubebuilder:object:root=true

// Bar is the Schema for the bars API
type Bar struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitzero\"`" + `
}

// +kubebuilder:object:root=true

// BarList contains a list of Bar
type BarList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitzero\"`" + `
	Items           []Bar ` + "`json:\"items\"`" + `
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Bar{}, &BarList{})
		return nil
	})
}
`
	barController = `package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// BarReconciler reconciles a Bar object
type BarReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Reconcile does nothing yet.
func (r *BarReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *BarReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&samplecontrollerv1alpha1.Bar{}).Named("bar").Complete(r)
}
`
	barSpec = `package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

var _ = Describe("Bar Controller", func() {
	It("should successfully reconcile the resource", func() {
		resource := &samplecontrollerv1alpha1.Bar{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test-resource"}}
		Expect(k8sClient.Create(ctx, resource)).To(Succeed())
		controllerReconciler := &BarReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
		_, err := controllerReconciler.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(resource)})
		Expect(err).NotTo(HaveOccurred())
	})
})
`
	barSetup = `	if err := (&controller.BarReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "Failed to create controller", "controller", "bar")
		os.Exit(1)
	}
`
	moreScheme = `	err = samplecontrollerv1alpha1.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())

`
)

func TestASecondKind(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	assets, err := utils.EnvtestAssets(projectDir(t))
	must(t, err)
	for file, text := range map[string]string{
		"api/v1alpha1/bar_types.go":                  barTypes,
		"internal/controller/bar_controller.go":      barController,
		"internal/controller/bar_controller_test.go": barSpec,
	} {
		must(t, os.WriteFile(filepath.Join(clone, filepath.FromSlash(file)), []byte(text), 0o666))
	}
	const builder, scheme = "\t// +kubebuilder:scaffold:builder\n", "\t// +kubebuilder:scaffold:scheme\n"
	change(t, clone, "cmd/main.go", builder, barSetup+builder)
	change(t, clone, "internal/controller/suite_test.go", scheme, moreScheme+scheme)

	run(t, clone, "make", "generate", "manifests")
	run(t, clone, "go", "build", "./api/...", "./cmd", "./internal/...")
	run(t, clone, "go", "vet", "./cmd", "./internal/controller")

	printed := run(t, clone, "env", "KUBEBUILDER_ASSETS="+assets, "go", "test", "./internal/controller", "-run=TestControllers", "-v", "-ginkgo.no-color")
	if !strings.Contains(printed, "Ran 3 of 3 Specs") {
		t.Errorf("want that the suite runs the new spec too:\n%s", printed)
	}
}
