// From Update to server-side apply, on a real API server. Release 1 of a controller created its
// Deployments with a POST, and release 2 applies them. An apply only removes fields that are
// recorded under Apply, so what release 1 has set stays until somebody migrates managedFields.

package main

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/client-go/util/retry"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

func TestIntegrationFromUpdateToApply(t *testing.T) {
	for _, test := range []struct {
		sentence string
		migrate  func(*realCluster) error
		want     string
	}{
		{
			sentence: "wrong: only apply",
			migrate:  func(*realCluster) error { return nil },
			want:     "LOG=debug is set, and its owners are [release-1]; replicas: 3, of [release-1]",
		},
		{
			sentence: "right: migrate managedFields first",
			migrate:  (*realCluster).migrateNow,
			want:     "LOG=debug is gone; replicas: 1, of []", // 1 is the server's default
		},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := newRealCluster(t)
			foo := c.createAsRelease1()

			must(t, test.migrate(c))
			// Release 2 no longer sets the variable, and leaves the replicas to an autoscaler.
			desired := desiredDeployment(foo)
			desired.Spec.Replicas = nil
			web, err := c.updateDeployment(t.Context(), c.web(), desired)
			must(t, err)

			got := stateOf(web)
			t.Log(got)
			if got != test.want {
				t.Errorf("want: %s", test.want)
			}
		})
	}
}

// The migration replaces all of managedFields, so it must not overwrite what somebody has written
// since.
func TestIntegrationAMigrationOfAnOldVersionIsRefused(t *testing.T) {
	c := newRealCluster(t)
	c.createAsRelease1()
	before := c.web()
	c.changeByHand(`{"metadata":{"annotations":{"team":"blue"}}}`)

	if err := c.migrate(before); !apierrors.IsConflict(err) {
		t.Errorf("got the error %v, want a conflict", err)
	}
	must(t, c.migrateNow())
	if owners := ownersOf(c.web(), "f:metadata", "f:annotations", "f:team"); !slices.Equal(owners, []string{somebody}) {
		t.Errorf("the annotation's owners are %q, want only somebody", owners)
	}
	// Nothing is left to migrate, so it sends nothing, and may run at each start.
	if patch, err := csaupgrade.UpgradeManagedFieldsPatch(c.web(), sets.New("release-1"), fieldOwner); patch != nil || err != nil {
		t.Errorf("the second migration sends %s (error %v), want nothing", patch, err)
	}
}

// migrate moves all fields that release 1 owns to this controller's applies.
func (c *realCluster) migrate(observed *appsv1.Deployment) error {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(observed, sets.New("release-1"), fieldOwner)
	if err != nil || patch == nil { // nil: nothing to migrate
		return err
	}
	_, err = c.kube.AppsV1().Deployments(c.namespace).Patch(c.t.Context(), observed.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fieldOwner})
	return err
}

// migrateNow retries, because the Deployment controller writes, too.
func (c *realCluster) migrateNow() error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return c.migrate(c.web()) })
}

// createAsRelease1 creates a Foo, and its Deployment as release 1 did: with a POST, three replicas
// and a variable.
func (c *realCluster) createAsRelease1() *samplecontrollerv1alpha1.Foo {
	c.t.Helper()
	foo := c.create(aFoo("example", "web", 2))
	deployment := deploymentOf(foo, scaledTo(3))
	deployment.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LOG", Value: "debug"}}
	c.createByHand(deployment, "release-1")
	return foo
}

func stateOf(web *appsv1.Deployment) string {
	variable := "LOG=debug is gone"
	if env := web.Spec.Template.Spec.Containers[0].Env; len(env) > 0 {
		variable = fmt.Sprintf("%s=%s is set, and its owners are %s", env[0].Name, env[0].Value,
			ownersOf(web, "f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"nginx"}`, "f:env", `k:{"name":"LOG"}`))
	}
	return fmt.Sprintf("%s; replicas: %d, of %s", variable, *web.Spec.Replicas, ownersOf(web, "f:spec", "f:replicas"))
}
