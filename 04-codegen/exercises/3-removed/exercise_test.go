//go:build check || solution

// The tests of Sync. The server is client-go's fake clientset, which merges applies and records
// field owners. Each scenario syncs an App called shop several times, and others change its
// Deployment in between. The cache is always up to date. The program restarts before each sync, so
// it can't remember anything.
//
// As given, Sync never removes a field. `workshop test` checks these failures:
//
// fails: TestNoLongerDesired/a variable that the App no longer asks for is removed
// says: the container's environment is [LANG=C LOG=debug], want [LANG=C]
//
// fails: TestNoLongerDesired/the last variable is removed
// says: the container's environment is [LOG=debug], want []
//
// fails: TestNoLongerDesired/somebody else's variable stays when ours is removed
// says: the container's environment is [LOG=debug TEAM=blue], want [TEAM=blue]
//
// fails: TestNoLongerDesired/a variable of two owners is removed when neither applies it any more
// says: the container's environment is [LOG=debug], want []
//
// fails: TestNoLongerDesired/a variable that another replica applied is removed
// says: the container's environment is [LOG=debug], want []

package removed

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	appslisters "k8s.io/client-go/listers/apps/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// scenario has a list of steps, and the container's environment variables after the last one.
type scenario struct {
	steps []func(*cluster)
	want  []string
	why   string
}

func TestNoLongerDesired(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"a variable that the App no longer asks for is removed": {
			steps: steps(sync("LOG", "debug", "LANG", "C"), sync("LANG", "C")),
			want:  []string{"LANG=C"},
			why:   "the desired state doesn't show what was desired before. Who knows which fields are ours?",
		},
		"the last variable is removed": {
			steps: steps(sync("LOG", "debug"), sync()),
			want:  nil,
			why:   "the desired state doesn't show what was desired before. Who knows which fields are ours?",
		},
		"somebody else's variable stays when ours is removed": {
			steps: steps(sync("LOG", "debug"), somebodyApplies("TEAM", "blue"), sync()),
			want:  []string{"TEAM=blue"},
		},
		"a variable that somebody else also applies stays": {
			steps: steps(sync("LOG", "debug"), somebodyApplies("LOG", "debug"), sync()),
			want:  []string{"LOG=debug"},
			why:   "the App no longer asks for it, but somebody else does",
		},
		"a variable of two owners is removed when neither applies it any more": {
			steps: steps(sync("LOG", "debug"), somebodyApplies("LOG", "debug"), sync(), somebodyApplies()),
			want:  nil,
			why:   "somebody else no longer applies it, but the server keeps it, so it is still ours",
		},
		"a variable that another replica applied is removed": {
			steps: steps(sync(), anotherReplicaApplies("LOG", "debug"), sync()),
			want:  nil,
			why:   "this replica has never asked for it, so it can't remember it. Only the server knows which fields are ours",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestDesired(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"a variable that is changed by hand is reverted": {
			steps: steps(sync("LOG", "debug"), byHand(`{"name":"LOG","value":"trace"}`), sync("LOG", "debug")),
			want:  []string{"LOG=debug"},
		},
		"a variable that is removed by hand is added again": {
			steps: steps(sync("LOG", "debug"), byHand(`{"name":"LOG","$patch":"delete"}`), sync("LOG", "debug")),
			want:  []string{"LOG=debug"},
		},
		"a variable that gets a new value in the App is changed": {
			steps: steps(sync("LOG", "debug"), sync("LOG", "info")),
			want:  []string{"LOG=info"},
		},
		"other people's variables stay when one is added": {
			steps: steps(sync("LOG", "debug"), byHand(`{"name":"TEAM","value":"blue"}`), sync("LANG", "C", "LOG", "debug")),
			want:  []string{"LANG=C", "LOG=debug", "TEAM=blue"},
		},
	} {
		t.Run(sentence, test.run)
	}
}

// The image is a field like any other.
func TestTheImage(t *testing.T) {
	for sentence, test := range map[string]struct {
		steps []func(*cluster)
		want  string
	}{
		"a new image is rolled out": {
			steps: steps(sync("LOG", "debug"), setImage("shop:2"), sync("LOG", "debug")),
			want:  "shop:2",
		},
		"an image that is changed by hand is reverted": {
			steps: steps(sync("LOG", "debug"), imageByHand("shop:test"), sync("LOG", "debug")),
			want:  "shop:1",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			for _, step := range test.steps {
				step(c)
			}
			if got := c.deployment().Spec.Template.Spec.Containers[0].Image; got != test.want {
				t.Errorf("the container's image is %s, want %s (the last Sync sent %s)", got, test.want, c.sent)
			}
		})
	}
}

func TestTheServerRefuses(t *testing.T) {
	for sentence, before := range map[string][]func(*cluster){
		"a new Deployment":       steps(),
		"a change of the image":  steps(sync("LOG", "debug"), setImage("shop:2")),
		"a change of a variable": steps(sync("LOG", "trace")),
		"a new variable":         steps(sync()),
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			for _, step := range before {
				step(c)
			}
			c.client.PrependReactor("*", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewInternalError(errors.New("the disk is full"))
			})
			if err := c.sync("LOG", "debug"); err == nil {
				t.Error("the server refused the request, but Sync returned no error: nobody retries")
			}
		})
	}
}

// If the Deployment is as desired, Sync sends no request.
func TestNothingToDo(t *testing.T) {
	app := sync("LANG", "C", "LOG", "debug")
	for sentence, before := range map[string][]func(*cluster){
		"nothing has happened":                           steps(app),
		"one variable was added before, and one removed": steps(sync("A", "1", "LOG", "debug"), app),
		"somebody applies another variable":              steps(app, somebodyApplies("TEAM", "blue")),
		"somebody also applies one of its variables":     steps(app, somebodyApplies("LOG", "debug")),
		"somebody adds a variable by hand":               steps(app, byHand(`{"name":"TEAM","value":"blue"}`)),
		"another replica has applied the same":           steps(anotherReplicaApplies("LANG", "C", "LOG", "debug")),
		"the server sets defaults":                       steps(app, getDefaults),
		"the Pods have become available":                 steps(app, becomeAvailable),
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			for _, step := range before {
				step(c)
			}
			app(c)
			for _, action := range c.client.Actions() {
				t.Errorf("the Deployment is up to date, but Sync sent a request: %s %s", action.GetVerb(), action.GetResource().Resource)
			}
		})
	}
}

func (s scenario) run(t *testing.T) {
	c := newCluster(t)
	for _, step := range s.steps {
		step(c)
	}
	if got := c.environment(); !slices.Equal(got, s.want) {
		t.Errorf("the container's environment is %v, want %v (the last Sync sent %s)\n%s", got, s.want, c.sent, s.why)
	}
}

// cluster is a server with one Deployment.
type cluster struct {
	*testing.T
	client *fake.Clientset
	image  string // the image that the App asks for
	sent   string // the verb of the last request of the latest Sync
}

func newCluster(t *testing.T) *cluster {
	return &cluster{T: t, client: fake.NewClientset(), image: "shop:1"}
}

var deployments = appsv1.SchemeGroupVersion.WithResource("deployments")

// deployment returns the server's Deployment, or nil. It isn't recorded as a request.
func (c *cluster) deployment() *appsv1.Deployment {
	found, err := c.client.Tracker().Get(deployments, "default", "shop")
	if err != nil {
		return nil
	}
	return found.(*appsv1.Deployment)
}

// environment returns the environment variables in the Deployment, sorted.
func (c *cluster) environment() (variables []string) {
	c.Helper()
	deployment := c.deployment()
	if deployment == nil {
		c.Fatal("the server has no Deployment")
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, env := range container.Env {
			variables = append(variables, env.Name+"="+env.Value)
		}
	}
	slices.Sort(variables)
	return variables
}

func steps(steps ...func(*cluster)) []func(*cluster) { return steps }

// sync restarts the program, which then syncs an App that asks for these variables. In env, names
// and values alternate.
func sync(env ...string) func(*cluster) {
	return func(c *cluster) {
		if err := c.sync(env...); err != nil {
			c.Fatalf("Sync of an App with the variables %v returned the error %q, want none", env, err)
		}
	}
}

func (c *cluster) sync(env ...string) error {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if deployment := c.deployment(); deployment != nil {
		if err := indexer.Add(deployment); err != nil {
			c.Fatal(err)
		}
	}
	c.client.ClearActions()
	controller := &Controller{Deployments: appslisters.NewDeploymentLister(indexer), Client: c.client.AppsV1()}
	err := controller.Sync(c.Context(), c.app(env...))
	c.sent = "nothing"
	if sent := c.client.Actions(); len(sent) > 0 {
		c.sent = sent[len(sent)-1].GetVerb()
	}
	return err
}

// app returns an App that asks for these variables.
func (c *cluster) app(env ...string) *App {
	app := &App{Namespace: "default", Name: "shop", Image: c.image, Env: map[string]string{}}
	for pair := range slices.Chunk(env, 2) {
		app.Env[pair[0]] = pair[1]
	}
	return app
}

// setImage makes the App ask for another image.
func setImage(image string) func(*cluster) {
	return func(c *cluster) { c.image = image }
}

// anotherReplicaApplies applies these variables as another replica, the former leader, would.
func anotherReplicaApplies(env ...string) func(*cluster) {
	return func(c *cluster) {
		options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
		if _, err := c.client.AppsV1().Deployments("default").Apply(c.Context(), desiredDeployment(c.app(env...)), options); err != nil {
			c.Fatal(err)
		}
	}
}

// somebodyApplies applies these variables, and no others, to our container as another field
// manager.
func somebodyApplies(env ...string) func(*cluster) {
	return func(c *cluster) {
		container := corev1ac.Container().WithName("app")
		for pair := range slices.Chunk(env, 2) {
			container.WithEnv(corev1ac.EnvVar().WithName(pair[0]).WithValue(pair[1]))
		}
		desired := appsv1ac.Deployment("shop", "default").WithSpec(appsv1ac.DeploymentSpec().
			WithTemplate(corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithContainers(container))))
		options := metav1.ApplyOptions{FieldManager: "somebody"}
		if _, err := c.client.AppsV1().Deployments("default").Apply(c.Context(), desired, options); err != nil {
			c.Fatalf("somebody applies %v, and is refused: %v", env, err)
		}
	}
}

// byHand changes a variable of our container with a patch that isn't an apply, as kubectl edit
// does.
func byHand(env string) func(*cluster) { return edit(`"env":[` + env + `]`) }

// imageByHand changes the image in the same way.
func imageByHand(image string) func(*cluster) { return edit(`"image":"` + image + `"`) }

func edit(container string) func(*cluster) {
	return func(c *cluster) {
		patch := fmt.Appendf(nil, `{"spec":{"template":{"spec":{"containers":[{"name":"app",%s}]}}}}`, container)
		_, err := c.client.AppsV1().Deployments("default").Patch(c.Context(), "shop", types.StrategicMergePatchType, patch,
			metav1.PatchOptions{FieldManager: "kubectl"})
		if err != nil {
			c.Fatal(err)
		}
	}
}

// getDefaults sets defaults, as the API server does for the fields that nobody has set.
func getDefaults(c *cluster) {
	deployment := c.deployment()
	deployment.Spec.Replicas = new(int32(1))
	deployment.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	deployment.Spec.Template.Spec.Containers[0].TerminationMessagePath = corev1.TerminationMessagePathDefault
	c.update(deployment)
}

// becomeAvailable changes the Deployment as the Deployment controller does.
func becomeAvailable(c *cluster) {
	deployment := c.deployment()
	deployment.Status.AvailableReplicas = 1
	metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, "deployment.kubernetes.io/revision", "1")
	c.update(deployment)
}

func (c *cluster) update(deployment *appsv1.Deployment) {
	c.Helper()
	options := metav1.UpdateOptions{FieldManager: "kube-controller-manager"}
	if _, err := c.client.AppsV1().Deployments("default").Update(c.Context(), deployment, options); err != nil {
		c.Fatal(err)
	}
}
