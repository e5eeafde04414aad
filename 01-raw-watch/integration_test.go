// The controller on a real API server: real Deployments, real conflicts, real refusals. Tests that
// need faults use the server in memory.

package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

const example = `
apiVersion: samplecontroller.k8s.io/v1alpha1
kind: Foo
metadata: {name: example}
spec: {deploymentName: web, replicas: 2}
`

func TestIntegrationLifeOfAFoo(t *testing.T) {
	c := newRealCluster(t)
	c.start()
	key := types.NamespacedName{Namespace: c.namespace, Name: "example"}
	fooPath, webPath := foosPath(c.namespace)+"/example", deploymentsPath(c.namespace)+"/web"
	isReady := func(replicas int32) func(context.Context) bool {
		return func(ctx context.Context) bool {
			foo, err := c.getFoo(ctx, key)
			return err == nil && foo.Status.AvailableReplicas == replicas && foo.Status.ObservedGeneration == foo.Generation &&
				meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready")
		}
	}
	hasReplicas := func(replicas int32) func(context.Context) bool {
		return func(ctx context.Context) bool {
			web, err := c.getDeployment(ctx, c.namespace, "web")
			return err == nil && *web.Spec.Replicas == replicas && web.Status.AvailableReplicas == replicas
		}
	}

	if err := c.send(http.MethodPost, foosPath(c.namespace), example); err != nil {
		t.Fatal(err)
	}
	c.eventually("a new Foo becomes ready", isReady(2))

	c.scale(fooPath, "3")
	c.eventually("a scaled Foo becomes ready", isReady(3))

	c.scale(webPath, "1")
	c.eventually("a Deployment that was scaled by hand is scaled back", hasReplicas(3))

	c.eventually("a Foo is renamed without a conflict", func(ctx context.Context) bool {
		foo, err := c.getFoo(ctx, key)
		if err != nil {
			return false
		}
		foo.Spec.DeploymentName = "new"
		return c.client.Do(ctx, http.MethodPut, fooPath, nil, foo, nil) == nil
	})
	c.eventually("the new Deployment exists and the old one is gone", func(ctx context.Context) bool {
		_, err := c.getDeployment(ctx, c.namespace, "web")
		return apierrors.IsNotFound(err) && isReady(3)(ctx)
	})

	if err := c.client.Do(t.Context(), http.MethodDelete, fooPath, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	c.eventually("the garbage collector deletes the Deployment", func(ctx context.Context) bool {
		_, err := c.getDeployment(ctx, c.namespace, "new")
		return apierrors.IsNotFound(err)
	})
}

// The real server refuses the same stale writes as the server in memory.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	c := newRealCluster(t)
	if err := c.send(http.MethodPost, foosPath(c.namespace), example); err != nil {
		t.Fatal(err)
	}
	foo, err := c.getFoo(t.Context(), types.NamespacedName{Namespace: c.namespace, Name: "example"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.createDeployment(t.Context(), desiredDeployment(foo)); err != nil {
		t.Fatal(err)
	}
	stale, err := c.getDeployment(t.Context(), c.namespace, "web")
	if err != nil {
		t.Fatal(err)
	}
	c.eventually("somebody annotates the Deployment", func(ctx context.Context) bool {
		web, err := c.getDeployment(ctx, c.namespace, "web")
		if err != nil {
			return false
		}
		annotated(web)
		return c.client.Do(ctx, http.MethodPut, deploymentsPath(c.namespace)+"/web", nil, web, nil) == nil
	})
	c.scale(foosPath(c.namespace)+"/example", "5")
	another := stale.DeepCopy()
	another.UID = "another"

	for name, err := range map[string]error{
		"an update of a Deployment that somebody has annotated since": errorOf(c.updateDeployment(t.Context(), stale, desiredDeployment(foo))),
		"a status of a Foo that has been scaled since":                c.updateFooStatus(t.Context(), foo, desiredStatus(foo, stale, nil, now)),
		"the deletion of a Deployment of another UID":                 c.deleteDeployment(t.Context(), another),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: got the error %v, want a conflict", name, err)
		}
	}
	if _, err := c.createDeployment(t.Context(), desiredDeployment(foo)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second Deployment with the same name: got the error %v, want AlreadyExists", err)
	}
	web, err := c.getDeployment(t.Context(), c.namespace, "web")
	if err != nil || web.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost: the annotations are %v, the error is %v", web.Annotations, err)
	}
}

// An invalid Foo never reaches the controller, because the server refuses it and names the field.
func TestIntegrationInvalidFoos(t *testing.T) {
	c := newRealCluster(t)
	for name, test := range map[string]struct{ metadata, spec, want string }{
		"no spec":                                {"name: x", "null", "spec: Required value"},
		"no deploymentName":                      {"name: x", "{replicas: 1}", "spec.deploymentName: Required value"},
		"an empty deploymentName":                {"name: x", "{deploymentName: ''}", "spec.deploymentName"},
		"a deploymentName with a capital letter": {"name: x", "{deploymentName: Web}", "spec.deploymentName"},
		"a deploymentName that is too long":      {"name: x", "{deploymentName: " + strings.Repeat("x", 64) + "}", "spec.deploymentName: Too long"},
		"zero replicas":                          {"name: x", "{deploymentName: web, replicas: 0}", "spec.replicas"},
		"too many replicas":                      {"name: x", "{deploymentName: web, replicas: 11}", "spec.replicas"},
		"replicas as a word":                     {"name: x", "{deploymentName: web, replicas: three}", "spec.replicas"},
		"a name that is too long":                {"name: " + strings.Repeat("x", 64), "{deploymentName: web}", "metadata.name: at most 63"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "{apiVersion: samplecontroller.k8s.io/v1alpha1, kind: Foo, metadata: {" + test.metadata + "}, spec: " + test.spec + "}"
			err := c.send(http.MethodPost, foosPath(c.namespace), text)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want an Invalid error with %q in it", err, test.want)
			}
		})
	}
	var foos samplecontrollerv1alpha1.FooList
	if err := c.client.Do(t.Context(), http.MethodGet, foosPath(c.namespace), nil, nil, &foos); err != nil || len(foos.Items) != 0 {
		t.Errorf("the cluster has the Foos %v (error: %v), want none", foos.Items, err)
	}
}
