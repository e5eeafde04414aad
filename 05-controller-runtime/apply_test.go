// Server-side apply on a real API server: which field manager owns which field, and when an apply
// conflicts or is refused. The controller has no cache here, because the tests call its methods
// directly.

package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Without force, an apply conflicts with other field managers' changes, so a manual scale would
// never be reverted. With force, the controller owns the field again, and the others keep theirs.
func TestFieldsHaveOwners(t *testing.T) {
	c := newBareCluster(t)
	foo := c.create(example)
	must(t, errorOf(c.reconcileDeployment(t.Context(), foo)))
	c.changeByHand("web", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"replicas":1}}`)
	sidecar := appsv1ac.Deployment("web", c.namespace).WithSpec(appsv1ac.DeploymentSpec().WithTemplate(
		corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName("proxy").WithImage("proxy:1")))))
	must(t, c.users.Apply(t.Context(), sidecar, somebody))

	err := c.Apply(t.Context(), desiredDeployment(foo), fieldOwner)

	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "somebody" using apps/v1: .spec.replicas`) {
		t.Errorf("an apply without force: got the error %v, want a conflict about .spec.replicas", err)
	}

	must(t, errorOf(c.reconcileDeployment(t.Context(), foo)))

	web, err := c.deployment(t.Context(), "web")
	must(t, err)
	if got := *web.Spec.Replicas; got != 2 {
		t.Errorf("after the apply with force, spec.replicas is %d, want 2", got)
	}
	var images []string
	for _, container := range web.Spec.Template.Spec.Containers {
		images = append(images, container.Image)
	}
	if slices.Sort(images); !slices.Equal(images, []string{"nginx:latest", "proxy:1"}) {
		t.Errorf("the containers' images are %q, want nginx:latest and the other manager's proxy:1", images)
	}
	if web.Annotations["team"] != "blue" {
		t.Errorf("annotations are %v, want team: blue, which somebody else owns", web.Annotations)
	}
	for field, want := range map[string]string{
		"f:spec f:replicas": string(fieldOwner),
		`f:spec f:template f:spec f:containers k:{"name":"nginx"} f:image`: string(fieldOwner),
		`f:spec f:template f:spec f:containers k:{"name":"proxy"} f:image`: string(somebody),
		"f:metadata f:annotations f:team":                                  string(somebody),
	} {
		if diff := cmp.Diff([]string{want}, ownersOf(web, strings.Fields(field)...)); diff != "" {
			t.Errorf("owners of %s (-want +got):\n%s", field, diff)
		}
	}
}

// The list of conditions is a map with type as its key, so each condition has an owner of its own.
func TestConditionsHaveOwners(t *testing.T) {
	c := newBareCluster(t)
	foo := c.create(example)
	blessed := `{"status":{"conditions":[
		{"type":"Blessed","status":"True","reason":"ByThePriest","message":"amen","lastTransitionTime":"2026-01-01T12:00:00Z"}]}}`
	must(t, c.users.Status().Patch(t.Context(), foo, client.RawPatch(types.MergePatchType, []byte(blessed)), somebody))

	must(t, c.updateStatus(t.Context(), foo, deploymentOf(foo), nil))

	foo, err := c.foo(t.Context())
	must(t, err)
	for condition, want := range map[string]client.FieldOwner{"Blessed": somebody, "Ready": fieldOwner} {
		if diff := cmp.Diff([]string{string(want)}, ownersOf(foo, "f:status", "f:conditions", `k:{"type":"`+condition+`"}`)); diff != "" {
			t.Errorf("owners of the condition %s (-want +got):\n%s", condition, diff)
		}
	}
	if owners := ownersOf(foo, "f:spec"); slices.Contains(owners, string(fieldOwner)) {
		t.Errorf("the spec is owned by %q, want nothing owned by the controller, which has only written the status", owners)
	}
}

// Somebody creates a Deployment with that name after the controller has found none on the server,
// and before it applies its own. The apply is refused, and the next call leaves their Deployment
// alone.
func TestNameTakenBeforeTheApply(t *testing.T) {
	for sentence, test := range map[string]struct {
		take    func(c *realCluster, foo *samplecontrollerv1alpha1.Foo)
		refused func(error) bool
	}{
		"an unowned Deployment has other values": {
			take: func(c *realCluster, foo *samplecontrollerv1alpha1.Foo) {
				c.createByHand(deploymentOf(foo, unowned, scaledTo(7)))
			},
			refused: apierrors.IsConflict,
		},
		// Nothing conflicts, but a Deployment can't have two controllers.
		"another owner's Deployment has our values": {
			take: func(c *realCluster, foo *samplecontrollerv1alpha1.Foo) {
				c.createByHand(deploymentOf(foo, ofAConfigMap))
			},
			refused: apierrors.IsInvalid,
		},
		// Both were applied by this field manager, so nothing conflicts. But a selector is
		// immutable.
		"another Foo's Deployment has the name": {
			take: func(c *realCluster, foo *samplecontrollerv1alpha1.Foo) {
				other := c.create(strings.Replace(example, "name: example", "name: other", 1))
				must(c.t, c.Apply(c.t.Context(), desiredDeployment(other), fieldOwner))
			},
			refused: apierrors.IsInvalid,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newBareCluster(t)
			foo := c.create(example)
			var theirs *appsv1.Deployment
			applies := 0
			c.beforeApply(func() {
				if applies++; applies > 1 {
					return
				}
				test.take(c, foo)
				var err error
				theirs, err = c.deployment(t.Context(), "web")
				must(t, err)
			})

			if _, err := c.reconcileDeployment(t.Context(), foo); !test.refused(err) {
				t.Errorf("the apply returned the error %v, want a Conflict or Invalid error", err)
			}
			before := applies
			web, err := c.reconcileDeployment(t.Context(), foo)

			must(t, err)
			if web == nil || before == 0 || applies != before {
				t.Fatalf("%d applies before the second call and %d after it, want the same number, at least 1", before, applies)
			}
			if diff := cmp.Diff(theirs, web); diff != "" {
				t.Errorf("their Deployment has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// The server's defaults and other managers' fields are no reason to apply again. And if the
// controller does apply the same values again, the server stores no new version.
func TestNoNeedlessApply(t *testing.T) {
	c := newBareCluster(t)
	foo := c.create(example)
	applies := 0
	c.beforeApply(func() { applies++ })
	_, err := c.reconcileDeployment(t.Context(), foo)
	must(t, err)
	c.changeByHand("web", `{"metadata":{"annotations":{"team":"blue"}}}`)
	c.makeAvailable("web")

	settled, err := c.reconcileDeployment(t.Context(), foo)

	must(t, err)
	if settled == nil || applies != 1 {
		t.Fatalf("%d applies, want 1", applies)
	}
	must(t, c.Apply(t.Context(), desiredDeployment(foo).WithUID(settled.UID), fieldOwner, client.ForceOwnership))
	web, err := c.deployment(t.Context(), "web")
	must(t, err)
	if diff := cmp.Diff(settled, web); diff != "" {
		t.Errorf("an apply of the same values has changed the Deployment (-before +after):\n%s", diff)
	}
}

// beforeApply calls do before each apply of a Deployment.
func (c *realCluster) beforeApply(do func()) {
	c.Client = interceptor.NewClient(c.users, interceptor.Funcs{
		Apply: func(ctx context.Context, server client.WithWatch, desired runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			do()
			return server.Apply(ctx, desired, options...)
		},
	})
}

// ofAConfigMap makes a ConfigMap the Deployment's controller. It doesn't exist, but there is no
// garbage collector here that would check that.
func ofAConfigMap(deployment *appsv1.Deployment) {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner", UID: "uid of a ConfigMap"}}
	deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
}
