// The bug museum: what sample-controller does when a Foo is renamed or deleted, in a few lines, and
// what this chapter does. `go test -v -run 'TestMuseum/<its name>' .` runs one of them. The
// course's scripts/MUSEUM.md lists all bugs.

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMuseum(t *testing.T) {
	for name, exhibit := range map[string]struct {
		story           func(c *cluster, sync func(foo string) error) string
		wantWrong, want string
	}{
		"a rename leaves two Deployments with one selector": {
			story:     rename,
			wantWrong: "after a rename from web to new, there is: new: 3 × nginx:latest, web: 3 × nginx:latest; selectors: app=nginx,controller=example",
			want:      "after a rename from web to new, there is: new: 3 × nginx:latest; selectors: app=nginx,controller=example",
		},
		"a Foo that is being deleted gets its Deployment back": {
			story:     deleteInTheForeground,
			wantWrong: "the garbage collector ran 3 times; Deployments that it deleted: 3",
			want:      "the garbage collector ran 3 times; Deployments that it deleted: 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("the wrong way", func(t *testing.T) {
				c := newCluster(t)
				check(t, exhibit.story(c, c.createOrScale), exhibit.wantWrong)
			})
			t.Run("our way", func(t *testing.T) {
				c := newCluster(t)
				check(t, exhibit.story(c, c.sync), exhibit.want)
			})
		})
	}
}

// check logs how a story ended, so that go test -v shows it.
func check(t *testing.T, got, want string) {
	t.Helper()
	t.Log(got)
	if got != want {
		t.Errorf("want: %s", want)
	}
}

// createOrScale does what sample-controller does for a Foo. It creates the Deployment that the Foo
// names, or scales it if it exists. It never checks which other Deployments the Foo has, or whether
// the Foo is being deleted.
func (c *cluster) createOrScale(name string) error {
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

// syncRepeatedly calls sync as often as a few events of the Foo would.
func (c *cluster) syncRepeatedly(sync func(foo string) error) {
	c.t.Helper()
	for range 4 {
		must(c.t, sync("example"))
	}
}

func rename(c *cluster, sync func(foo string) error) string {
	for _, name := range []string{"web", "new"} {
		c.put(aFoo("example", name, 3))
		c.syncRepeatedly(sync)
	}
	var selectors []string
	for _, name := range []string{"web", "new"} {
		if deployment := c.deployment(name); deployment != nil {
			selectors = append(selectors, metav1.FormatLabelSelector(deployment.Spec.Selector))
		}
	}
	return fmt.Sprintf("after a rename from web to new, there is: %s; selectors: %s",
		strings.Join(c.deployments(), ", "), strings.Join(slices.Compact(selectors), ", "))
}

// After kubectl delete --cascade=foreground, the Foo exists until the garbage collector has deleted
// its Deployment. A controller that creates the Deployment again delays that forever.
func deleteInTheForeground(c *cluster, sync func(foo string) error) string {
	c.put(aFoo("example", "web", 3))
	c.syncRepeatedly(sync)
	foo := aFoo("example", "web", 3)
	terminating(foo)
	c.put(foo)
	deleted := 0
	for range 3 {
		if c.deployment("web") != nil {
			deleted++
			must(c.t, c.fakeKube.Tracker().Delete(deploymentsResource, "default", "web")) // as the garbage collector does
		}
		c.syncRepeatedly(sync)
	}
	return fmt.Sprintf("the garbage collector ran 3 times; Deployments that it deleted: %d", deleted)
}
