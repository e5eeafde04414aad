// This folder shows what costs people days with controller-runtime. Each of the other files is
// about one pitfall: what you might expect, what happens instead, and what to do. The wrong code is
// next to the right code, and both run. Most tests use envtest, which starts a real kube-apiserver
// and etcd, but no controllers.

package pitfalls

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, "..") }

var must, start = testenv.Must, testenv.Start

// aFoo returns a Foo for this metadata.
func aFoo(meta metav1.ObjectMeta) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{ObjectMeta: meta, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: meta.Name}}
}

// deploymentSpec sets only what a Deployment must have.
func deploymentSpec() appsv1.DeploymentSpec {
	labels := map[string]string{"app": "web"}
	return appsv1.DeploymentSpec{
		Replicas: new(int32(2)),
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
		},
	}
}
