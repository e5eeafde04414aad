//go:build check || solution

// A namespace with Deployments, which is also the Writer for Sync. It accepts and refuses writes
// like an API server.

package rename

import (
	"context"
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

var resource = schema.GroupResource{Group: "apps", Resource: "deployments"}

type cluster struct {
	t           *testing.T
	foo         *samplecontrollerv1alpha1.Foo // the one that Sync is called for
	deployments []*appsv1.Deployment
	writes      []string // including refused ones

	// The error that each such write gets. If it is nil, they succeed.
	refuseCreate, refuseDelete error
	// beforeNextWrite is called just before the next write arrives. It may be nil.
	beforeNextWrite func(*cluster)
}

func (c *cluster) Create(_ context.Context, deployment *appsv1.Deployment) error {
	c.receive("create " + deployment.Name)
	if c.refuseCreate != nil {
		return c.refuseCreate
	}
	if c.find(deployment.Name) >= 0 {
		return apierrors.NewAlreadyExists(resource, deployment.Name)
	}
	created := deployment.DeepCopy()
	created.UID = types.UID("uid of the new " + created.Name)
	c.deployments = append(c.deployments, created)
	return nil
}

func (c *cluster) Delete(_ context.Context, name string, options metav1.DeleteOptions) error {
	c.receive("delete " + name)
	i := c.find(name)
	switch {
	case c.refuseDelete != nil:
		return c.refuseDelete
	case i < 0:
		return apierrors.NewNotFound(resource, name)
	}
	deployment := c.deployments[i]
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != deployment.UID {
		return apierrors.NewConflict(resource, name, errors.New("it has another UID"))
	}
	if !deployment.DeletionTimestamp.IsZero() {
		return nil // it is being deleted already
	}
	desired := c.find(c.foo.Spec.DeploymentName)
	switch {
	case !metav1.IsControlledBy(deployment, c.foo):
		c.t.Errorf("Sync deleted %q, which isn't this Foo's", name)
	case desired < 0 || !c.controls(c.deployments[desired]):
		c.t.Errorf("Sync deleted %q while the Foo didn't have %q", name, c.foo.Spec.DeploymentName)
	}
	c.deployments = slices.Delete(c.deployments, i, i+1)
	return nil
}

// controls reports whether the Foo controls this Deployment, and it isn't being deleted.
func (c *cluster) controls(deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, c.foo) && deployment.DeletionTimestamp.IsZero()
}

// list returns copies of all Deployments.
func (c *cluster) list() []*appsv1.Deployment {
	var listed []*appsv1.Deployment
	for _, deployment := range c.deployments {
		listed = append(listed, deployment.DeepCopy())
	}
	return listed
}

// put adds a Deployment. If the name is taken, it replaces that Deployment.
func (c *cluster) put(deployment *appsv1.Deployment) {
	c.remove(deployment.Name)
	c.deployments = append(c.deployments, deployment)
}

func (c *cluster) remove(name string) {
	c.deployments = slices.DeleteFunc(c.deployments, func(d *appsv1.Deployment) bool { return d.Name == name })
}

func (c *cluster) find(name string) int {
	return slices.IndexFunc(c.deployments, func(d *appsv1.Deployment) bool { return d.Name == name })
}

func (c *cluster) receive(write string) {
	c.writes = append(c.writes, write)
	if len(c.writes) > 50 {
		c.t.Fatalf("Sync has sent 50 writes: does it retry forever? The last one is: %s", write)
	}
	if change := c.beforeNextWrite; change != nil {
		c.beforeNextWrite = nil
		change(c)
	}
}
