// The whole controller on a real API server: events come from watches, reads from the cache, and
// the server validates and defaults each write. No other controller runs there, so the test makes
// Deployments available, and checks the owner reference that the garbage collector would use.

package main

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest/komega"

	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestLifeOfAFoo(t *testing.T) {
	c, g := testenv.New(t), NewWithT(t)
	start(t, c)
	k := komega.New(c).WithContext(t.Context()) // functions for Eventually
	foo := aFoo("example", "web", 2)
	web := &appsv1.Deployment{ObjectMeta: c.Meta("web")}
	becomeAvailable := func() {
		replicas := *web.Spec.Replicas
		web.Status = appsv1.DeploymentStatus{
			ObservedGeneration: web.Generation,
			Replicas:           replicas,
			UpdatedReplicas:    replicas,
			ReadyReplicas:      replicas,
			AvailableReplicas:  replicas,
		}
	}

	t.Log("A new Foo gets its Deployment and a status.")
	create(t, c, foo)
	g.Eventually(k.Object(foo)).Should(haveReason("Progressing"))
	g.Eventually(k.Object(web)).Should(haveReplicas(2))
	g.Expect(metav1.IsControlledBy(web, foo)).To(BeTrue(), "want an owner reference, or the Deployment would outlive the Foo")

	t.Log("The Foo is ready when its Deployment is, and one Event says so.")
	g.Eventually(k.UpdateStatus(web, becomeAvailable)).Should(Succeed())
	g.Eventually(k.Object(foo)).Should(And(haveReason("Available"), HaveField("Status.AvailableReplicas", BeEquivalentTo(2))))
	g.Eventually(k.ObjectList(&eventsv1.EventList{}, client.InNamespace(c.Namespace))).
		Should(HaveField("Items", ConsistOf(HaveField("Reason", "Synced"))))

	t.Log("The Deployment is scaled with its Foo.")
	g.Eventually(k.Update(foo, func() { foo.Spec.Replicas = new(int32(3)) })).Should(Succeed())
	g.Eventually(k.Object(web)).Should(haveReplicas(3))
	g.Eventually(k.Object(foo)).Should(haveReason("Progressing"))

	t.Log("A manual scale is reverted, and somebody's annotation stays.")
	g.Eventually(k.Update(web, func() {
		web.Annotations = map[string]string{"team": "blue"}
		web.Spec.Replicas = new(int32(1))
	})).Should(Succeed())
	g.Eventually(k.Object(web)).Should(And(haveReplicas(3), HaveField("Annotations", HaveKeyWithValue("team", "blue"))))

	t.Log("A deleted Deployment is created again.")
	deleted := web.UID
	g.Expect(c.Delete(t.Context(), web)).To(Succeed())
	g.Eventually(k.Object(web)).Should(HaveField("UID", Not(Equal(deleted))))

	t.Log("When deploymentName changes, the former Deployment is deleted once the new one exists.")
	g.Eventually(k.Update(foo, func() { foo.Spec.DeploymentName = "new" })).Should(Succeed())
	g.Eventually(k.Get(web)).Should(MatchError(ContainSubstring("not found")))
	g.Expect(k.Object(&appsv1.Deployment{ObjectMeta: c.Meta("new")})()).To(haveReplicas(3))
}

// A shutdown interrupts the work in progress, because it cancels the context of Reconcile, and with
// it the pending request. (Chapter 04 lets the work finish.) The next start does the rest.
func TestShutdownInterruptsWork(t *testing.T) {
	c, g := testenv.New(t), NewWithT(t)
	k := komega.New(c).WithContext(t.Context())
	foo := aFoo("example", "web", 2)
	slow := &slowClient{started: make(chan struct{})}
	stop := start(t, c, func(r *FooReconciler) { slow.Client, r.Client = r.Client, slow })
	create(t, c, foo)
	<-slow.started

	stop()

	web := &appsv1.Deployment{ObjectMeta: c.Meta("web")}
	g.Expect(k.Get(web)()).To(MatchError(ContainSubstring("not found")))
	start(t, c)
	g.Eventually(k.Get(web)).Should(Succeed())
}

// slowClient sends its first apply when the context has ended.
type slowClient struct {
	client.Client
	started chan struct{}
}

func (c *slowClient) Apply(ctx context.Context, desired runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	close(c.started)
	<-ctx.Done()
	return c.Client.Apply(ctx, desired, options...)
}

// start runs a manager with our controller until the test ends, or until the function that it
// returns is called.
func start(t *testing.T, c testenv.Cluster, changes ...func(*FooReconciler)) (stop func()) {
	t.Helper()
	mgr := c.NewManager(t)
	foos := &FooReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	for _, change := range changes {
		change(foos)
	}
	must(t, foos.SetupWithManager(t.Context(), mgr))
	return testenv.Start(t, mgr)
}

// create creates object in c's namespace, as a user does.
func create(t *testing.T, c testenv.Cluster, object client.Object) {
	t.Helper()
	object.SetNamespace(c.Namespace)
	must(t, c.Create(t.Context(), object, somebody))
}

func haveReason(reason string) types.GomegaMatcher {
	return HaveField("Status.Conditions", ConsistOf(HaveField("Reason", reason)))
}

func haveReplicas(replicas int32) types.GomegaMatcher {
	return HaveField("Spec.Replicas", HaveValue(Equal(replicas)))
}
