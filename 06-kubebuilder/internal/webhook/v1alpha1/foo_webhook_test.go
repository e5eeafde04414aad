// The webhooks as users see them: called by the API server, with the messages that kubectl prints.

package v1alpha1

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest/komega"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

var _ = Describe("Foo Webhook", func() {
	var namespace string
	BeforeEach(func() {
		created := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
		Expect(k8sClient.Create(ctx, created)).To(Succeed())
		namespace = created.Name
	})
	// newFoo returns a Foo as a user creates it.
	newFoo := func(name, deploymentName string) *samplecontrollerv1alpha1.Foo {
		return &samplecontrollerv1alpha1.Foo{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName},
		}
	}
	rename := func(api client.Client, foo *samplecontrollerv1alpha1.Foo, deploymentName string) error {
		return komega.New(api).WithContext(ctx).Update(foo, func() { foo.Spec.DeploymentName = deploymentName })()
	}

	It("names the Deployment after its Foo", func() {
		foo := newFoo("example", "")
		Expect(k8sClient.Create(ctx, foo)).To(Succeed())
		Expect(foo.Spec.DeploymentName).To(Equal("example"))
	})

	It("leaves the name empty if the Foo has none yet, and the schema refuses that", func() {
		foo := newFoo("", "")
		foo.GenerateName = "example-"
		Expect(k8sClient.Create(ctx, foo)).To(MatchError(ContainSubstring(`spec.deploymentName: Invalid value: ""`)))
	})

	It("refuses a deploymentName that another Foo asks for", func() {
		Expect(k8sClient.Create(ctx, newFoo("first", "web"))).To(Succeed())
		const duplicate = ` is invalid: spec.deploymentName: Duplicate value: "web": Foo "first" asks for it already: choose another name, or delete that Foo`

		Expect(k8sClient.Create(ctx, newFoo("second", "web"))).
			To(MatchError(`admission webhook "vfoo-v1alpha1.kb.io" denied the request: Foo.samplecontroller.k8s.io "second"` + duplicate))

		third := newFoo("third", "www")
		Expect(k8sClient.Create(ctx, third)).To(Succeed())
		Expect(rename(k8sClient, third, "web")).To(MatchError(ContainSubstring(`Foo.samplecontroller.k8s.io "third"` + duplicate)))
	})

	It("warns if somebody else's Deployment has the name", func() {
		web := aDeployment("web")
		web.Namespace = namespace
		web.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		web.Spec.Template.Labels = web.Spec.Selector.MatchLabels
		web.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web"}}
		Expect(k8sClient.Create(ctx, web)).To(Succeed())
		config, got := rest.CopyConfig(cfg), &warnings{}
		config.WarningHandler = got
		api, err := client.New(config, client.Options{Scheme: scheme.Scheme})
		Expect(err).NotTo(HaveOccurred())

		Expect(api.Create(ctx, newFoo("example", "web"))).To(Succeed())

		Expect(*got).To(HaveExactElements(foreignWeb))
	})
})

// warnings collects the warnings that a client gets, and that kubectl would print.
type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }
