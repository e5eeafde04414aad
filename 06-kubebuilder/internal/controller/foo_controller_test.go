// The controller in a manager, on a real API server.

package controller

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest/komega"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

var _ = Describe("Foo Controller", func() {
	It("keeps a Foo's Deployment in the desired state", func() {
		startManager()
		k := komega.New(k8sClient).WithContext(ctx)
		foo := &samplecontrollerv1alpha1.Foo{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example"},
			Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(2))},
		}
		web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}

		By("creating the Deployment of a new Foo")
		Expect(k8sClient.Create(ctx, foo)).To(Succeed())
		Eventually(k.Object(foo)).Should(HaveField("Status.Conditions", ContainElement(HaveField("Reason", "Progressing"))))
		Expect(k.Object(web)()).To(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(2))))
		Expect(metav1.IsControlledBy(web, foo)).To(BeTrue())

		By("reverting a manual scale")
		Eventually(k.Update(web, func() { web.Spec.Replicas = new(int32(5)) })).Should(Succeed())
		Eventually(k.Object(web)).Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(2))))
	})
})

// startManager runs a manager with our controller until the spec ends.
func startManager() {
	GinkgoHelper()
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	Expect(err).NotTo(HaveOccurred())
	foos := &FooReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	Expect(foos.SetupWithManager(ctx, mgr)).To(Succeed())
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error)
	go func() { stopped <- mgr.Start(running) }()
	DeferCleanup(func() {
		stop()
		Expect(<-stopped).To(Succeed())
	})
}
