// The bug museum: what sample-controller does about a Foo that is renamed or deleted, in a few
// lines of our own, and what this chapter does. Run one with `go test -v -run TestMuseum/<its name>
// .`. The course's scripts/MUSEUM.md says where its other bugs are shown.

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

func TestMuseum(t *testing.T) {
	for name, exhibit := range map[string]struct {
		story           func(c *cluster, look func(foo string) error) string
		wantWrong, want string
	}{
		"a rename leaves two Deployments with one selector": {
			story:     rename,
			wantWrong: "web is renamed to new, and there is: new: 3 × nginx:latest, web: 3 × nginx:latest; selectors: app=nginx,controller=example",
			want:      "web is renamed to new, and there is: new: 3 × nginx:latest; selectors: app=nginx,controller=example",
		},
		"a Foo that is being deleted gets its Deployment back": {
			story:     deleteInTheForeground,
			wantWrong: "the garbage collector has looked 3 times; Deployments that it has deleted: 3",
			want:      "the garbage collector has looked 3 times; Deployments that it has deleted: 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("the wrong way", func(t *testing.T) {
				c := newCluster(t)
				tell(t, exhibit.story(c, c.makeAndScale), exhibit.wantWrong)
			})
			t.Run("our way", func(t *testing.T) {
				c := newCluster(t)
				tell(t, exhibit.story(c, c.sync), exhibit.want)
			})
		})
	}
}

func tell(t *testing.T, got, want string) {
	t.Helper()
	t.Log(got)
	if got != want {
		t.Errorf("it should have been: %s", want)
	}
}

// makeAndScale is what sample-controller does about a Foo: there is no Deployment of the name that
// it gives, so it is made; there is one, so it is scaled. Nobody asks what else the Foo has, nor
// whether it is going.
func (c *cluster) makeAndScale(name string) error {
	c.informed()
	foo, client := c.foo(name), c.kube.AppsV1().Deployments("default")
	desired := applied(desiredDeployment(foo))
	observed, err := c.getDeployment(c.t.Context(), "default", desired.Name)
	if apierrors.IsNotFound(err) {
		_, err = client.Create(c.t.Context(), desired, metav1.CreateOptions{})
		return err
	}
	if err != nil || *observed.Spec.Replicas == *desired.Spec.Replicas {
		return err
	}
	_, err = client.Update(c.t.Context(), desired, metav1.UpdateOptions{})
	return err
}

// lookAgain is what is done for some events of the Foo.
func (c *cluster) lookAgain(look func(foo string) error) {
	c.t.Helper()
	for range 4 {
		if err := look("example"); err != nil {
			c.t.Fatal(err)
		}
	}
}

func rename(c *cluster, look func(foo string) error) string {
	for _, name := range []string{"web", "new"} {
		c.put(aFoo("example", name, 3))
		c.lookAgain(look)
	}
	var selectors []string
	for _, name := range []string{"web", "new"} {
		if deployment := c.deployment(name); deployment != nil {
			selectors = append(selectors, metav1.FormatLabelSelector(deployment.Spec.Selector))
		}
	}
	return fmt.Sprintf("web is renamed to new, and there is: %s; selectors: %s",
		strings.Join(c.deployments(), ", "), strings.Join(slices.Compact(selectors), ", "))
}

// kubectl delete --cascade=foreground keeps a Foo until the garbage collector has taken what
// belongs to it. Who makes that again, keeps it.
func deleteInTheForeground(c *cluster, look func(foo string) error) string {
	c.put(aFoo("example", "web", 3))
	c.lookAgain(look)
	c.put(aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
		foo.DeletionTimestamp, foo.Finalizers = &earlier, []string{metav1.FinalizerDeleteDependents}
	}))
	deleted := 0
	for range 3 {
		if deployment := c.deployment("web"); deployment != nil {
			deleted++
			c.remove(deployment) // the garbage collector does that
		}
		c.lookAgain(look)
	}
	return fmt.Sprintf("the garbage collector has looked 3 times; Deployments that it has deleted: %d", deleted)
}
