//go:build check || solution

// The tests of Apply: first which fields it sends, then who owns the fields afterwards. They use
// client-go's fake clientset, which merges applies and records field owners with the API server's
// own code.
//
// As given, Apply sends a whole Deployment. `workshop test` checks these failures:
//
// fails: TestSentFields/an App that sets everything
// says: Apply sent spec.strategy: {}: the App doesn't ask for that
//
// fails: TestSentFields/an App that doesn't set replicas
// says: Apply sent status: {}: the App doesn't ask for that
//
// fails: TestSentFields/an App that asks for 0 replicas
// says: Apply didn't send spec.paused: false: the App asks for that
//
// fails: TestSentFields/an App that no longer sets replicas
// says: Apply sent spec.replicas: 3: the App doesn't ask for that
//
// fails: TestSentFields/an App whose Deployment has other people's fields
// says: Apply sent spec.template.spec.containers[proxy].image: proxy: the App doesn't ask for that
//
// fails: TestFieldOwners/replicas that the App doesn't set stay the autoscaler's
// says: the autoscaler's apply of 7 replicas was refused: Apply failed with 1 conflict
//
// fails: TestFieldOwners/somebody's sidecar is removed when they no longer apply it
// says: the containers are [app proxy], want [app]
//
// fails: TestFieldOwners/somebody's limits on our container stay theirs
// says: somebody's apply of a higher limit was refused: Apply failed with 1 conflict
//
// fails: TestFieldOwners/a rollout that was paused by hand resumes
// says: spec.paused is true, want false

package applyconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
)

func TestSentFields(t *testing.T) {
	always := []string{
		"apiVersion: apps/v1",
		"kind: Deployment",
		"metadata.name: shop",
		"metadata.namespace: default",
		"spec.selector.matchLabels.app: shop",
		"spec.template.metadata.labels.app: shop",
		"spec.template.spec.containers[app].image: shop:1",
		"spec.template.spec.containers[app].name: app",
	}
	for sentence, test := range map[string]struct {
		before *App             // applied first, if there is one
		others func(c *cluster) // changes that others make to the Deployment after that
		app    *App             // applied last
		want   []string         // in addition to always
	}{
		"an App that sets everything": {
			app:  anApp(new(int32(3)), true),
			want: []string{"spec.replicas: 3", "spec.paused: true"},
		},
		"an App that doesn't set replicas": {
			app:  anApp(nil, false),
			want: []string{"spec.paused: false"},
		},
		"an App that asks for 0 replicas": {
			app:  anApp(new(int32(0)), false),
			want: []string{"spec.replicas: 0", "spec.paused: false"},
		},
		"an App that no longer sets replicas": {
			before: anApp(new(int32(3)), true),
			app:    anApp(nil, true),
			want:   []string{"spec.paused: true"},
		},
		"an App whose Deployment has other people's fields": {
			before: anApp(nil, true),
			others: func(c *cluster) { c.applyContainer("proxy", corev1ac.Container().WithImage("proxy")) },
			app:    anApp(nil, true),
			want:   []string{"spec.paused: true"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			if test.before != nil {
				c.sync(test.before)
			}
			if test.others != nil {
				test.others(c)
			}

			c.sync(test.app)

			want, got := append(test.want, always...), c.sent()
			for _, field := range got {
				if !slices.Contains(want, field) {
					t.Errorf("Apply sent %s: the App doesn't ask for that", field)
				}
			}
			for _, field := range want {
				if !slices.Contains(got, field) {
					t.Errorf("Apply didn't send %s: the App asks for that", field)
				}
			}
		})
	}
}

func TestFieldOwners(t *testing.T) {
	t.Run("replicas that the App doesn't set stay the autoscaler's", func(t *testing.T) {
		c := newCluster(t)
		c.sync(anApp(nil, false))
		if err := c.apply("autoscaler", appsv1ac.DeploymentSpec().WithReplicas(5)); err != nil {
			t.Fatalf("the autoscaler's apply of 5 replicas was refused: %v\nThe App doesn't set replicas, but Apply has sent them.", err)
		}
		c.sync(anApp(nil, false))
		if err := c.apply("autoscaler", appsv1ac.DeploymentSpec().WithReplicas(7)); err != nil {
			t.Fatalf("the autoscaler's apply of 7 replicas was refused: %v\nIt had set 5, and then Apply sent 5, too.", err)
		}
		c.sync(anApp(nil, false))
		if got := ptr.Deref(c.deployment().Spec.Replicas, 0); got != 7 {
			t.Errorf("got %d replicas, want the autoscaler's 7", got)
		}
	})

	t.Run("replicas that the App sets are reverted", func(t *testing.T) {
		c := newCluster(t)
		c.sync(anApp(new(int32(3)), false))
		c.changeByHand(`{"spec":{"replicas":1}}`)
		c.sync(anApp(new(int32(3)), false))
		if got := ptr.Deref(c.deployment().Spec.Replicas, 0); got != 3 {
			t.Errorf("got %d replicas, want 3: somebody has scaled it to 1 by hand", got)
		}
	})

	t.Run("a rollout that was paused by hand resumes", func(t *testing.T) {
		c := newCluster(t)
		c.sync(anApp(nil, false))
		c.changeByHand(`{"spec":{"paused":true}}`)
		c.sync(anApp(nil, false))
		if c.deployment().Spec.Paused {
			t.Error("spec.paused is true, want false: a false that isn't sent changes nothing")
		}
	})

	t.Run("somebody's sidecar is removed when they no longer apply it", func(t *testing.T) {
		c := newCluster(t)
		c.sync(anApp(nil, false))
		c.applyContainer("proxy", corev1ac.Container().WithImage("proxy:1"))
		c.sync(anApp(nil, false))
		if err := c.apply("somebody", nil); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, container := range c.deployment().Spec.Template.Spec.Containers {
			names = append(names, container.Name)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"app"}) {
			t.Errorf("the containers are %v, want [app]: Apply has sent the sidecar, so the controller owns it, too", names)
		}
	})

	t.Run("somebody's limits on our container stay theirs", func(t *testing.T) {
		c := newCluster(t)
		c.sync(anApp(nil, false))
		c.applyContainer("app", withMemory("1Gi"))
		c.sync(anApp(nil, false))
		if err := c.apply("somebody", oneContainer("app", withMemory("2Gi"))); err != nil {
			t.Fatalf("somebody's apply of a higher limit was refused: %v\nApply has sent their limit, so the controller owns it, too.", err)
		}
	})
}

func TestTheServerRefuses(t *testing.T) {
	c := newCluster(t)
	c.client.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(errors.New("the disk is full"))
	})
	if err := Apply(t.Context(), c.deployments(), anApp(nil, false)); err == nil {
		t.Error("the server refused the apply, but Apply returned no error: nobody retries")
	}
}

// anApp returns an App called shop.
func anApp(replicas *int32, paused bool) *App {
	return &App{Namespace: "default", Name: "shop", Image: "shop:1", Replicas: replicas, Paused: paused}
}

// cluster is a server with an App's Deployment.
type cluster struct {
	*testing.T
	client *fake.Clientset
}

func newCluster(t *testing.T) *cluster { return &cluster{t, fake.NewClientset()} }

func (c *cluster) deployments() typedappsv1.DeploymentInterface {
	return c.client.AppsV1().Deployments("default")
}

func (c *cluster) deployment() *appsv1.Deployment {
	c.Helper()
	deployment, err := c.deployments().Get(c.Context(), "shop", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return deployment
}

// sync calls Apply once, as the controller does.
func (c *cluster) sync(app *App) {
	c.Helper()
	if err := Apply(c.Context(), c.deployments(), app); err != nil {
		c.Fatalf("Apply returned the error %q", err)
	}
}

// sent returns the fields of the last apply, one line for each.
func (c *cluster) sent() (fields []string) {
	c.Helper()
	for _, action := range slices.Backward(c.client.Actions()) {
		if patch, ok := action.(clienttesting.PatchActionImpl); ok && patch.PatchType == types.ApplyPatchType {
			if manager := patch.PatchOptions.FieldManager; manager != fieldOwner {
				c.Errorf("the field manager is %q, want %q: the controller owns fields only under that name", manager, fieldOwner)
			}
			var object map[string]any
			if err := json.Unmarshal(patch.Patch, &object); err != nil {
				c.Fatal(err)
			}
			fields = flat("", object)
			slices.Sort(fields)
			return fields
		}
	}
	c.Fatal("no apply was sent")
	return nil
}

// flat returns one line for each value in object, with its path. The index of a list entry that has
// a name, such as a container, is that name.
func flat(path string, object any) (lines []string) {
	switch object := object.(type) {
	case map[string]any:
		for key, value := range object {
			lines = append(lines, flat(path+"."+key, value)...)
		}
	case []any:
		for i, value := range object {
			var index any = i
			if entry, ok := value.(map[string]any); ok && entry["name"] != nil {
				index = entry["name"]
			}
			lines = append(lines, flat(fmt.Sprintf("%s[%v]", path, index), value)...)
		}
	}
	if len(lines) == 0 { // a value, or an empty map or list
		text, _ := json.Marshal(object) // it was decoded from JSON, so this can't fail
		if s, ok := object.(string); ok {
			text = []byte(s)
		}
		lines = []string{fmt.Sprintf("%s: %s", path[1:], text)}
	}
	return lines
}

// apply applies spec as another field manager, without force.
func (c *cluster) apply(manager string, spec *appsv1ac.DeploymentSpecApplyConfiguration) error {
	desired := appsv1ac.Deployment("shop", "default").WithSpec(spec)
	_, err := c.deployments().Apply(c.Context(), desired, metav1.ApplyOptions{FieldManager: manager})
	return err
}

// applyContainer applies fields of one container as the field manager somebody.
func (c *cluster) applyContainer(name string, container *corev1ac.ContainerApplyConfiguration) {
	c.Helper()
	if err := c.apply("somebody", oneContainer(name, container)); err != nil {
		c.Fatalf("somebody's apply of the container %s was refused, although nobody has set these fields: %v", name, err)
	}
}

func oneContainer(name string, container *corev1ac.ContainerApplyConfiguration) *appsv1ac.DeploymentSpecApplyConfiguration {
	return appsv1ac.DeploymentSpec().WithTemplate(corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().
		WithContainers(container.WithName(name))))
}

func withMemory(limit string) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithResources(corev1ac.ResourceRequirements().
		WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}))
}

// changeByHand sends a patch that isn't an apply, as kubectl scale or kubectl rollout pause does.
func (c *cluster) changeByHand(patch string) {
	c.Helper()
	options := metav1.PatchOptions{FieldManager: "kubectl"}
	if _, err := c.deployments().Patch(c.Context(), "shop", types.MergePatchType, []byte(patch), options); err != nil {
		c.Fatal(err)
	}
}
