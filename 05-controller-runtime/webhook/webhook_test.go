// The program on a real API server, which calls its webhooks.

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, "..") }

func TestTheProgram(t *testing.T) {
	c, g := testenv.New(t), NewWithT(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	g.Expect(os.WriteFile(kubeconfig, c.Server.KubeConfig, 0o600)).To(Succeed())
	t.Setenv("KUBECONFIG", kubeconfig)
	for _, old := range (&registration{port: 1}).configurations() { // a killed run has left these behind
		g.Expect(c.Create(t.Context(), old)).To(Succeed())
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, freePort(g)) }()
	dryRun := func(foo *samplecontrollerv1alpha1.Foo) func() error {
		return func() error { return c.Create(t.Context(), foo.DeepCopy(), client.DryRunAll) }
	}

	t.Log("A Foo gets the name of its Deployment.")
	first, second := aFoo(c.Meta("first"), ""), aFoo(c.Meta("second"), "first")
	g.Eventually(dryRun(first)).Should(Succeed())
	g.Expect(c.Create(t.Context(), first)).To(Succeed())
	g.Expect(first.Spec.DeploymentName).To(Equal("first"))

	t.Log("A second Foo with that deploymentName is refused, but not in another namespace.")
	g.Eventually(dryRun(second)).Should(And(Satisfy(apierrors.IsInvalid), MatchError(
		`admission webhook "vfoo-v1alpha1.example.com" denied the request: Foo.samplecontroller.k8s.io "second" is invalid: `+
			`spec.deploymentName: Duplicate value: "first": Foo "first" asks for it already`)))
	g.Expect(dryRun(aFoo(metav1.ObjectMeta{Namespace: "default", Name: "second"}, "first"))()).To(Succeed())

	t.Log("A shutdown deletes the configurations, so the API server accepts the second Foo.")
	stop()
	g.Eventually(ended).Should(Receive(BeNil()))
	for _, configuration := range []client.Object{&admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		g.Expect(c.Get(t.Context(), client.ObjectKey{Name: "foo-webhook"}, configuration)).To(Satisfy(apierrors.IsNotFound))
	}
	g.Eventually(dryRun(second)).Should(Succeed())
}

// If the validator can't look for other Foos, it refuses the Foo.
func TestTheListFails(t *testing.T) {
	validator := &FooValidator{APIReader: interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("no answer")
		},
	})}

	_, err := validator.ValidateCreate(t.Context(), aFoo(metav1.ObjectMeta{Name: "example"}, "web"))

	NewWithT(t).Expect(err).To(MatchError(`Internal error occurred: list the Foos that ask for Deployment "web": no answer`))
}

func aFoo(meta metav1.ObjectMeta, deploymentName string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{ObjectMeta: meta, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName}}
}

func freePort(g Gomega) int {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	g.Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
