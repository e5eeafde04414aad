// Server-side apply on a real API server: who owns which field, what is a conflict, and what an
// apply takes over without one.

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// Without force, changing a field that somebody else owns is a conflict, so a manual kubectl scale
// would never be reverted. With force, the field is ours again, and other people's fields don't
// change.
func TestIntegrationFieldsHaveOwners(t *testing.T) {
	c := newRealCluster(t)
	foo := c.create(aFoo("example", "web", 2))
	c.apply(foo)
	c.changeByHand(`{"spec":{"replicas":1}}`, "scale")
	c.changeByHand(`{"metadata":{"annotations":{"team":"blue"}}}`)
	sidecar := appsv1ac.Deployment("web", c.namespace).WithSpec(appsv1ac.DeploymentSpec().WithTemplate(
		corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName("proxy").WithImage("proxy:1")))))
	scaled, err := c.kube.AppsV1().Deployments(c.namespace).Apply(t.Context(), sidecar, metav1.ApplyOptions{FieldManager: somebody})
	must(t, err)

	_, err = c.createDeployment(t.Context(), desiredDeployment(foo))

	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "somebody" with subresource "scale" using apps/v1: .spec.replicas`) {
		t.Errorf("an apply without force returned the error %v, want a conflict about .spec.replicas", err)
	}

	web, err := c.updateDeployment(t.Context(), scaled, desiredDeployment(foo))

	must(t, err)
	if got := *web.Spec.Replicas; got != 2 {
		t.Errorf("got %d replicas after the apply with force, want 2", got)
	}
	if web.Annotations["team"] != "blue" || len(web.Spec.Template.Spec.Containers) != 2 {
		t.Errorf("somebody's annotation team=blue or container proxy is lost: %+v", web)
	}
	for field, want := range map[string]string{
		"f:spec f:replicas": fieldOwner,
		`f:spec f:template f:spec f:containers k:{"name":"nginx"} f:image`: fieldOwner,
		`f:spec f:template f:spec f:containers k:{"name":"proxy"} f:image`: somebody,
		"f:metadata f:annotations f:team":                                  somebody,
	} {
		if diff := cmp.Diff([]string{want}, ownersOf(web, strings.Fields(field)...)); diff != "" {
			t.Errorf("owners of %s (-want +got):\n%s", field, diff)
		}
	}
}

// The list of conditions is a map by type, so each entry has its own owner.
func TestIntegrationConditionsHaveOwners(t *testing.T) {
	c := newRealCluster(t)
	c.create(aFoo("example", "web", 2))
	blessed := `{"status":{"conditions":[{"type":"Blessed","status":"True","reason":"ByThePriest","message":"amen","lastTransitionTime":"2026-01-01T12:00:00Z"}]}}`
	foo, err := c.users.Patch(t.Context(), "example", types.MergePatchType, []byte(blessed), metav1.PatchOptions{FieldManager: somebody}, "status")
	must(t, err)

	must(t, c.updateFooStatus(t.Context(), foo, desiredStatus(foo, deploymentOf(foo), nil, metav1.Now())))

	for condition, want := range map[string]string{"Blessed": somebody, "Ready": fieldOwner} {
		if diff := cmp.Diff([]string{want}, ownersOf(c.foo(), "f:status", "f:conditions", `k:{"type":"`+condition+`"}`)); diff != "" {
			t.Errorf("owners of the condition %s (-want +got):\n%s", condition, diff)
		}
	}
}

// Somebody creates a Deployment of that name between our GET and our apply. The apply doesn't take
// it over, and the next attempt leaves it alone.
func TestIntegrationANameTakenMeanwhileIsLeftAlone(t *testing.T) {
	for sentence, test := range map[string]struct {
		create  func(c *realCluster, foo *samplecontrollerv1alpha1.Foo)
		refused func(error) bool
	}{
		"with other values": {
			create: func(c *realCluster, foo *samplecontrollerv1alpha1.Foo) {
				c.createByHand(deploymentOf(foo, unowned, scaledTo(7)), somebody)
			},
			refused: apierrors.IsConflict,
		},
		// Nothing conflicts, but a Deployment can't have two controllers.
		"with our values and another owner": {
			create: func(c *realCluster, foo *samplecontrollerv1alpha1.Foo) {
				c.createByHand(deploymentOf(foo, c.ofAConfigMap), somebody)
			},
			refused: apierrors.IsInvalid,
		},
		// This controller's applies all have the same field manager, so nothing conflicts here
		// either. But a selector is immutable.
		"for another Foo": {
			create: func(c *realCluster, _ *samplecontrollerv1alpha1.Foo) {
				c.apply(c.create(aFoo("another", "web", 2)))
			},
			refused: apierrors.IsInvalid,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newRealCluster(t)
			foo := c.create(aFoo("example", "web", 2))
			var theirs *appsv1.Deployment
			c.beforeApply = func() {
				c.beforeApply = func() {}
				test.create(c, foo)
				theirs = c.web()
			}

			if _, err := c.syncDeployment(t.Context(), foo); !test.refused(err) {
				t.Errorf("the apply returned the error %v, want it to be refused", err)
			}
			c.beforeApply = func() { t.Error("the next attempt applies the Deployment, want it to be left alone") }
			web, err := c.syncDeployment(t.Context(), foo)

			must(t, err)
			if diff := cmp.Diff(theirs.OwnerReferences, web.OwnerReferences); diff != "" || web.Generation != theirs.Generation {
				t.Errorf("their Deployment was changed: it has generation %d, want %d; its owners (-before +after):\n%s", web.Generation, theirs.Generation, diff)
			}
		})
	}
}

// An apply adopts somebody else's Deployment if none of its fields conflict. The controller does
// that only if it loses a race.
func TestIntegrationWhatAnApplyAdopts(t *testing.T) {
	for sentence, race := range map[string]func(c *realCluster, foo *samplecontrollerv1alpha1.Foo){
		"somebody creates a Deployment with our name and values, but without an owner": func(c *realCluster, foo *samplecontrollerv1alpha1.Foo) {
			c.createByHand(deploymentOf(foo, unowned), somebody)
			c.apply(foo)
		},
		"our Deployment is orphaned after we have read it": func(c *realCluster, foo *samplecontrollerv1alpha1.Foo) {
			observed := c.apply(foo)
			c.changeByHand(`{"metadata":{"ownerReferences":null}}`)
			_, err := c.updateDeployment(c.t.Context(), observed, desiredDeployment(foo))
			must(c.t, err)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newRealCluster(t)
			foo := c.create(aFoo("example", "web", 2))

			race(c, foo)

			if web := c.web(); !metav1.IsControlledBy(web, foo) {
				t.Errorf("the Deployment has the owners %v, want the Foo: an apply adopts it", web.OwnerReferences)
			}
		})
	}
}

// Defaults, the status and other people's fields are no reason to apply again. And if we did, the
// server would notice that nothing changes, and write nothing.
func TestIntegrationNoNeedlessApply(t *testing.T) {
	c := newRealCluster(t)
	foo := c.create(aFoo("example", "web", 2))
	c.apply(foo)
	c.changeByHand(`{"metadata":{"annotations":{"team":"blue"}}}`)
	c.eventually("the Deployment controller has finished the rollout", func() bool {
		web := c.web()
		return rolledOut(web) && slices.ContainsFunc(web.Status.Conditions, func(condition appsv1.DeploymentCondition) bool {
			return condition.Reason == "NewReplicaSetAvailable"
		})
	})
	applies := 0
	c.beforeApply = func() { applies++ }

	settled, err := c.syncDeployment(t.Context(), foo)

	must(t, err)
	if applies > 0 {
		t.Errorf("got %d applies, want none: the Deployment was up to date", applies)
	}
	again, err := c.updateDeployment(t.Context(), settled, desiredDeployment(foo))
	must(t, err)
	if diff := cmp.Diff(settled, again); diff != "" {
		t.Errorf("an apply of the same values changed the Deployment (-before +after):\n%s", diff)
	}
}
