//go:build check || solution

// These tests call syncHandler, and look at the Deployment and at who owns its fields. The server
// is client-go's fake clientset, which handles an apply with the API server's own code. The caches
// have what a test puts into them.
//
// As given, the controller sets the replicas of each Foo. `workshop test` checks these failures:
//
// fails: TestSync/with the annotation, the autoscaler's replicas stay
// says: the autoscaler wanted 4 replicas, but the Deployment has 1
//
// fails: TestSync/with the annotation, the autoscaler's replicas stay when an image is reverted
// says: the autoscaler wanted 4 replicas, but the Deployment has 1
//
// fails: TestSync/with the annotation, the autoscaler's replicas stay even if the cache is behind
// says: the autoscaler wanted 6 replicas, but the Deployment has 1
//
// fails: TestSync/an annotation that is added later counts as well
// says: the autoscaler wanted 4 replicas, but the Deployment has 1

package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	foolisters "example.com/operators/04-codegen/pkg/generated/listers/samplecontroller/v1alpha1"
)

func TestSync(t *testing.T) {
	for sentence, test := range map[string]func(c *cluster){
		"without the annotation, the Foo's replicas count": func(c *cluster) {
			c.sync()
			c.wantReplicas("the Foo", 3)
			c.foo.Spec.Replicas = new(int32(5))
			c.sync()
			c.wantReplicas("the Foo", 5)
		},
		"without the annotation, other replicas are reverted": func(c *cluster) {
			c.sync()
			c.scale(4)
			c.sync()
			c.wantReplicas("the Foo", 3)
			c.wantOwner("foo-controller")
		},
		"without the annotation, one replica is the default": func(c *cluster) {
			c.foo.Spec.Replicas = nil
			c.sync()
			c.scale(4)
			c.sync()
			c.wantReplicas("the Foo", 1)
		},
		"if the annotation is removed, the Foo's replicas count": func(c *cluster) {
			c.annotate("queue-scaler")
			c.sync()
			c.scale(4)
			c.sync()
			c.annotate("")
			c.sync()
			c.wantReplicas("the Foo", 3)
		},
		"with the annotation, a changed image is reverted": func(c *cluster) {
			c.annotate("queue-scaler")
			c.sync()
			c.change("somebody", func(deployment *appsv1.Deployment) {
				deployment.Spec.Template.Spec.Containers[0].Image = "nginx:1.0"
			})
			c.sync()
			c.wantImage()
		},
		"with the annotation, a new Deployment has one replica": func(c *cluster) {
			c.annotate("queue-scaler")
			c.sync()
			c.wantReplicas("nobody has scaled it yet, and the API server", 1)
		},
		"someone else's Deployment is left alone": func(c *cluster) {
			c.sync()
			c.change("somebody", func(deployment *appsv1.Deployment) { deployment.OwnerReferences[0].UID = "someone else" })
			c.scale(4)
			c.sync()
			c.wantReplicas("its owner", 4)
		},

		"with the annotation, the autoscaler's replicas stay": func(c *cluster) {
			c.annotate("queue-scaler")
			c.sync()
			c.scale(4)
			c.sync()
			c.wantReplicas("the autoscaler", 4)
			c.wantOwner("queue-scaler")
			if c.applies > 1 {
				c.Errorf("the operator sent %d applies, want only the first one, because there was nothing to change", c.applies)
			}
		},
		"with the annotation, the autoscaler's replicas stay when an image is reverted": func(c *cluster) {
			c.annotate("queue-scaler")
			c.sync()
			c.scale(4)
			c.change("somebody", func(deployment *appsv1.Deployment) {
				deployment.Spec.Template.Spec.Containers[0].Image = "nginx:1.0"
			})
			c.sync()
			c.wantImage()
			c.wantReplicas("the autoscaler", 4)
			c.wantOwner("queue-scaler")
		},
		"with the annotation, the autoscaler's replicas stay even if the cache is behind": func(c *cluster) {
			c.annotate("queue-scaler")
			c.sync()
			c.scale(4)
			c.change("somebody", func(deployment *appsv1.Deployment) {
				deployment.Spec.Template.Spec.Containers[0].Image = "nginx:1.0"
			})
			c.updateCache()
			c.scale(6)
			c.syncWithCache()
			c.wantImage()
			c.wantReplicas("the autoscaler", 6)
		},
		"an annotation that is added later counts as well": func(c *cluster) {
			c.sync()
			c.annotate("queue-scaler")
			c.sync()
			c.scale(4)
			c.sync()
			c.wantReplicas("the autoscaler", 4)
		},
	} {
		t.Run(sentence, func(t *testing.T) { test(newCluster(t)) })
	}
}

const namespace, name = "default", "web"

// cluster has one Foo, which asks for three replicas.
type cluster struct {
	*testing.T
	foo     *samplecontrollerv1alpha1.Foo
	server  *fake.Clientset
	cached  cache.Indexer // the Deployments
	applies int           // that the operator has sent
}

func newCluster(t *testing.T) *cluster {
	klog.SetLogger(klog.Logger{}) // so that the program's log doesn't hide what failed
	return &cluster{
		T: t,
		foo: &samplecontrollerv1alpha1.Foo{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid of web"},
			Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(3))},
		},
		server: fake.NewClientset(),
		cached: newIndexer(),
	}
}

func newIndexer() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// annotate says who manages the replicas.
func (c *cluster) annotate(manager string) {
	c.foo.Annotations = map[string]string{"samplecontroller.k8s.io/replicas-managed-by": manager}
	if manager == "" {
		c.foo.Annotations = nil
	}
}

// sync calls syncHandler until it has nothing more to do, as events would. Before each call, the
// cache catches up.
func (c *cluster) sync() {
	c.Helper()
	for range 3 {
		c.updateCache()
		c.syncWithCache()
	}
}

// updateCache copies the Deployments on the server into the cache.
func (c *cluster) updateCache() {
	c.Helper()
	deployments, err := c.server.AppsV1().Deployments(namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	c.cached = newIndexer()
	for _, deployment := range deployments.Items {
		if err := c.cached.Add(&deployment); err != nil {
			c.Fatal(err)
		}
	}
}

// syncWithCache calls syncHandler once.
func (c *cluster) syncWithCache() {
	c.Helper()
	foos := newIndexer()
	if err := foos.Add(c.foo.DeepCopy()); err != nil {
		c.Fatal(err)
	}
	program := &controller{kube: c.server, foosLister: foolisters.NewFooLister(foos), deploymentsLister: appslisters.NewDeploymentLister(c.cached)}
	before := len(c.server.Actions())
	if err := program.syncHandler(context.WithoutCancel(c.Context()), types.NamespacedName{Namespace: namespace, Name: name}); err != nil {
		c.Errorf("the sync failed, so it would be retried again and again: %v", err)
	}
	for _, action := range c.server.Actions()[before:] {
		if action.GetVerb() != "get" {
			c.applies++
		}
	}
}

// scale sets the replicas, as the autoscaler does.
func (c *cluster) scale(replicas int32) {
	c.Helper()
	c.change("queue-scaler", func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = &replicas })
}

// change changes the Deployment on the server.
func (c *cluster) change(manager string, change func(*appsv1.Deployment)) {
	c.Helper()
	deployment := c.deployment()
	change(deployment)
	if _, err := c.server.AppsV1().Deployments(namespace).Update(c.Context(), deployment, metav1.UpdateOptions{FieldManager: manager}); err != nil {
		c.Fatal(err)
	}
}

// deployment returns the Deployment on the server.
func (c *cluster) deployment() *appsv1.Deployment {
	c.Helper()
	deployment, err := c.server.AppsV1().Deployments(namespace).Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return deployment
}

func (c *cluster) wantReplicas(who string, want int32) {
	c.Helper()
	if got := ptr.Deref(c.deployment().Spec.Replicas, 1); got != want { // 1 is the API server's default
		c.Errorf("%s wanted %d replicas, but the Deployment has %d", who, want, got)
	}
}

func (c *cluster) wantImage() {
	c.Helper()
	if got := c.deployment().Spec.Template.Spec.Containers[0].Image; got != "nginx:latest" {
		c.Errorf("the Deployment's image is %s, want nginx:latest: who reverts other changes?", got)
	}
}

// wantOwner checks who owns spec.replicas.
func (c *cluster) wantOwner(want string) {
	c.Helper()
	var owners []string
	for _, entry := range c.deployment().ManagedFields {
		if strings.Contains(entry.FieldsV1.GetRawString(), `"f:replicas"`) {
			owners = append(owners, entry.Manager)
		}
	}
	if !slices.Equal(owners, []string{want}) {
		c.Errorf("spec.replicas is owned by %q, want only %q", owners, want)
	}
}
