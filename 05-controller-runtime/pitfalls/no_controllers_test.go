// A test with envtest deletes a Foo, and you expect its Deployment to be deleted too. It stays,
// because envtest starts an API server and etcd, but no controllers. The garbage collector and the
// Deployment controller are part of kube-controller-manager.
//
// Assert the owner reference, because that is what the garbage collector goes by. Where your code
// needs an available Deployment, let the test write the Deployment's status.

package pitfalls

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestEnvtest(t *testing.T) {
	c, web := testenv.New(t), &appsv1.Deployment{}
	foo := aFoo(c.Meta("a"))
	must(t, c.Create(t.Context(), foo))
	web.ObjectMeta, web.Spec = c.Meta("web"), deploymentSpec()
	must(t, ctrl.SetControllerReference(foo, web, c.Scheme()))
	must(t, c.Create(t.Context(), web))
	read := func() error { return c.Get(t.Context(), client.ObjectKeyFromObject(web), web) }

	t.Run("wrong: wait until it is available", func(t *testing.T) {
		must(t, read())
		t.Logf("%d replicas, %d available", *web.Spec.Replicas, web.Status.AvailableReplicas)
		if web.Status.ObservedGeneration != 0 {
			t.Error("the Deployment has a status, want none: a Deployment controller is running")
		}
	})
	t.Run("right: write its status", func(t *testing.T) {
		web.Status = appsv1.DeploymentStatus{Replicas: 2, ReadyReplicas: 2, AvailableReplicas: 2}
		must(t, c.Status().Update(t.Context(), web))
	})
	t.Run("wrong: wait until it is deleted", func(t *testing.T) {
		must(t, c.Delete(t.Context(), foo))
		must(t, read())
		t.Log("the Foo is deleted, and its Deployment still exists")
	})
	t.Run("right: assert the owner reference", func(t *testing.T) {
		if !metav1.IsControlledBy(web, foo) {
			t.Error("the Foo doesn't control the Deployment, so the garbage collector wouldn't delete it")
		}
	})
}
