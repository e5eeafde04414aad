package acceptance

// The promises B1 to B12 without faults. The API server shows whether a promise is kept, no matter
// how.

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
)

// promise is a test of a promise, with whose name its own begins.
type promise struct {
	name string
	keep func(s *scenario)
}

// promises are the tests of the promises about Foos. The judge's checks prove B4, B7 and B11: see
// contract.Named.Proofs.
func promises() []promise {
	return append([]promise{
		{"B1 create: a Foo gets its Deployment", create},
		{"B1 create: within the write budget", budget},
		{"B2 scale: a change of replicas reaches the Deployment", scale},
		{"B2 scale: a HorizontalPodAutoscaler finds the Pods", autoscale},
		{"B3 status: follows the Deployment", status},
		{"B5 rename: the new Deployment is created before the old one is deleted", rename},
		{"B5 rename: if the new name is taken, the old Deployment stays", renameRefused},
		{"B6 refusal: a Deployment that nobody owns", refuseUnowned},
		{"B6 refusal: another Foo's Deployment", refuseOthers},
		{"B6 refusal: an orphan of a Foo of the same name", refuseOrphan},
		{"B6 refusal: the Foo waits for a terminating Deployment", waitForTerminating},
		{"B8 catch-up: what happened while the program was down", catchUp},
		{"B10 bad input: the API server refuses it and names the field", badInput},
		{"B12 refused write: a Deployment that is refused or changed is visible, until that ends", refusedWrites},
		{"B12 refused write: so is a refused update", refusedUpdate},
		{"B12 refused write: so are refused Pods", refusedPods},
	}, onlyWithContainers()...)
}

func TestContract(t *testing.T) {
	forChaptersAtOnce(t, chapters.Foo, nil, func(t *testing.T, env *environment, j judged) {
		testPromises(t, env, j, promises())
	})
}

// testPromises tests all promises in parallel.
func testPromises(t *testing.T, env *environment, j judged, promises []promise) {
	for _, promise := range promises {
		t.Run(promise.name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, env, j)
			promise.keep(s)
			if crashes := s.crashes(); crashes > 0 {
				t.Errorf("the program has crashed %d times", crashes)
			}
		})
	}
}

func create(s *scenario) {
	s.start()
	sample, err := os.ReadFile(s.program.Examples[0])
	s.must(err)
	object := fooObject("", "", 0)
	s.must(yaml.UnmarshalStrict(sample, &object.Object))
	_, err = s.foos().Create(s.Context(), object, metav1.CreateOptions{})
	s.must(err)

	foo := s.becomesReady("example-foo")
	deployment := s.getDeployment("example-foo")
	labels := map[string]string{"app": "nginx", "controller": "example-foo"}
	container := deployment.Spec.Template.Spec.Containers[0]
	for what, ok := range map[string]bool{
		"labels":            maps.Equal(deployment.Labels, labels),
		"selector":          maps.Equal(deployment.Spec.Selector.MatchLabels, labels),
		"template's labels": maps.Equal(deployment.Spec.Template.Labels, labels),
		"replicas":          *deployment.Spec.Replicas == 1,
		"image":             container.Image == "nginx:latest",
		"pull policy":       container.ImagePullPolicy == corev1.PullIfNotPresent,
		"controller":        metav1.IsControlledBy(deployment, foo),
	} {
		if !ok {
			s.Errorf("wrong %s: %+v", what, deployment)
		}
	}
}

func budget(s *scenario) {
	s.start()
	s.createFoo("a", "a", 1)
	s.becomesReady("a")
	// One write creates the Deployment. The status says that the Deployment is there, that it has a
	// Pod, and that the Pod is available.
	writes := accepted(s.writes())
	if events := count(writes, "events"); len(writes)-events > 4 || events > 1 {
		s.Errorf("want at most 4 writes and 1 event, got:\n%v", writes)
	}
}

func scale(s *scenario) {
	s.start()
	s.createFoo("a", "a", 1)
	s.becomesReady("a")
	s.patchFoo("a", `{"spec":{"replicas":3}}`)
	s.hasReplicas("a", 3)
	s.becomesReady("a")

	// kubectl scale foo/a
	_, err := s.foos().Patch(s.Context(), "a", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`),
		metav1.PatchOptions{}, "scale")
	s.must(err)
	s.hasReplicas("a", 2)
	s.becomesReady("a")
	object, err := s.foos().Get(s.Context(), "a", metav1.GetOptions{}, "scale")
	s.must(err)
	var current autoscalingv1.Scale
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &current))
	if current.Spec.Replicas != 2 || current.Status.Replicas != 2 {
		s.Errorf("the scale subresource shows %+v", current)
	}
}

// autoscale looks at why a HorizontalPodAutoscaler can't scale a Foo: the cluster has no metrics. An
// earlier reason would be that it doesn't find the Foo's Pods.
func autoscale(s *scenario) {
	s.start()
	s.createFoo("a", "a", 2)
	s.becomesReady("a")
	autoscalers := s.client.AutoscalingV2().HorizontalPodAutoscalers(s.namespace)
	_, err := autoscalers.Create(s.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo", Name: "a",
			},
			MaxReplicas: 3,
		},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the autoscaler asks for the metrics of the Foo's Pods", func() error {
		autoscaler, err := autoscalers.Get(s.Context(), "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range autoscaler.Status.Conditions {
			if condition.Type == autoscalingv2.ScalingActive && condition.Reason == "FailedGetResourceMetric" {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %+v", autoscaler.Status.Conditions)
	})
}

func status(s *scenario) {
	s.start()
	s.createFoo("a", "a", 2)
	first := s.becomesReady("a")
	s.writes()

	s.patchFoo("a", `{"spec":{"replicas":3}}`)
	last := s.becomesReady("a")
	if last.Status.ObservedGeneration <= first.Status.ObservedGeneration {
		s.Errorf("observedGeneration went from %d to %d", first.Status.ObservedGeneration, last.Status.ObservedGeneration)
	}

	// Each status differs from the one before, so there are at most as many writes as Pods to wait
	// for, and two for the condition.
	if writes := accepted(s.writes()); count(writes, "foos/status") > 4 {
		s.Errorf("%d writes of the status for a change from 2 to 3 replicas:\n%v", count(writes, "foos/status"), writes)
	}

	// The Deployment loses its available Pods, because they don't count before they have been ready
	// for minReadySeconds.
	s.patchDeployment("a", `{"spec":{"minReadySeconds":500}}`)
	s.becomesUnready("a", "Progressing")
	s.patchDeployment("a", `{"spec":{"minReadySeconds":0}}`)
	s.becomesReady("a")
}

// accepted returns the writes that changed something. The API server refuses the others, which is the
// price of a cache that lags behind.
func accepted(writes []audit.Request) []audit.Request {
	return slices.DeleteFunc(writes, func(r audit.Request) bool { return r.Code >= 400 })
}

// count counts the requests that are about a resource.
func count(requests []audit.Request, resource string) int {
	return len(slices.DeleteFunc(slices.Clone(requests), func(r audit.Request) bool { return r.Resource != resource }))
}

func rename(s *scenario) {
	s.start()
	s.createFoo("a", "old", 1)
	s.becomesReady("a")
	s.writes()
	s.patchFoo("a", `{"spec":{"deploymentName":"new"}}`)
	s.disappears("old")
	s.becomesReady("a")
	if s.getDeployment("new") == nil {
		s.Error("there is no new Deployment")
	}
	writes := s.writes()
	made := slices.IndexFunc(writes, func(r audit.Request) bool {
		return r.Resource == "deployments" && r.Name == "new" && r.Code < 300
	})
	gone := slices.IndexFunc(writes, func(r audit.Request) bool {
		return r.Resource == "deployments" && r.Name == "old" && r.Verb == "delete"
	})
	if made < 0 || gone < 0 || gone < made {
		s.Errorf("want the new Deployment created before the old one is deleted, got writes:\n%v", writes)
	}
}

func renameRefused(s *scenario) {
	s.start()
	s.takeName("taken")
	s.createFoo("a", "old", 1)
	s.becomesReady("a")
	s.patchFoo("a", `{"spec":{"deploymentName":"taken"}}`)
	s.becomesUnready("a", "ErrResourceExists")
	if s.getDeployment("old") == nil {
		s.Error("the old Deployment is gone, but there is no new one")
	}

	s.must(s.deployments().Delete(s.Context(), "taken", metav1.DeleteOptions{}))
	s.becomesReady("a")
	s.disappears("old")
}

func refuseUnowned(s *scenario) {
	s.start()
	foreign := s.takeName("a")
	s.createFoo("a", "a", 1)
	s.becomesUnready("a", "ErrResourceExists")
	s.writes()
	s.patchDeployment("a", `{"metadata":{"annotations":{"still":"mine"}}}`)
	s.sentinel("later")
	if now := s.getDeployment("a"); now.UID != foreign.UID || !equality.Semantic.DeepEqual(now.Spec, foreign.Spec) ||
		!maps.Equal(now.Labels, foreign.Labels) || len(now.OwnerReferences) > 0 {
		s.Errorf("somebody else's Deployment was touched: %+v", now)
	}
	s.triedNothing("deployments", "a")
	s.warnedOnce("a", "ErrResourceExists")

	// When the name is free, the Foo takes it without a change of the Foo.
	s.must(s.deployments().Delete(s.Context(), "a", metav1.DeleteOptions{}))
	s.becomesReady("a")
}

func refuseOthers(s *scenario) {
	s.start()
	first := s.createFoo("first", "shared", 1)
	s.becomesReady("first")
	second := s.createFoo("second", "shared", 2)
	s.becomesUnready("second", "ErrResourceExists")
	s.warnedOnce("second", "ErrResourceExists")
	if deployment := s.getDeployment("shared"); !metav1.IsControlledBy(deployment, first) ||
		*deployment.Spec.Replicas != 1 {
		s.Errorf("the first Foo's Deployment was touched: %+v", deployment)
	}

	s.must(s.foos().Delete(s.Context(), "first", metav1.DeleteOptions{}))
	s.becomesReady("second")
	if deployment := s.getDeployment("shared"); !metav1.IsControlledBy(deployment, second) {
		s.Errorf("the second Foo has not taken over: %+v", deployment)
	}
}

func refuseOrphan(s *scenario) {
	s.start()
	s.createFoo("a", "a", 1)
	s.becomesReady("a")
	orphan := metav1.DeletePropagationOrphan
	s.must(s.foos().Delete(s.Context(), "a", metav1.DeleteOptions{PropagationPolicy: &orphan}))
	s.eventually("the Foo is gone", func() error {
		if _, err := s.foos().Get(s.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("get: %v", err)
		}
		return nil
	})
	s.createFoo("a", "a", 3)
	s.becomesUnready("a", "ErrResourceExists")
	if deployment := s.getDeployment("a"); *deployment.Spec.Replicas != 1 {
		s.Errorf("the orphan was touched: %+v", deployment)
	}
}

func waitForTerminating(s *scenario) {
	s.start()
	s.createFoo("a", "a", 1)
	s.becomesReady("a")
	former := s.patchDeployment("a", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	s.must(s.deployments().Delete(s.Context(), "a", metav1.DeleteOptions{}))
	s.becomesUnready("a", "Terminating")
	s.patchFoo("a", `{"spec":{"replicas":2}}`)
	s.sentinel("later")
	if deployment := s.getDeployment("a"); *deployment.Spec.Replicas != 1 {
		s.Errorf("a Deployment that is being deleted was scaled: %+v", deployment)
	}
	s.patchDeployment("a", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}`)
	s.becomesReady("a")
	if deployment := s.getDeployment("a"); deployment.UID == former.UID || *deployment.Spec.Replicas != 2 {
		s.Errorf("the Deployment wasn't created again: %+v", deployment)
	}
}

func catchUp(s *scenario) {
	s.start()
	for _, name := range []string{"scaled", "renamed", "removed", "drifted", "untouched"} {
		s.createFoo(name, name, 1)
		s.becomesReady(name)
	}
	s.operator.Stop()

	s.createFoo("created", "created", 1)
	s.patchFoo("scaled", `{"spec":{"replicas":2}}`)
	s.patchFoo("renamed", `{"spec":{"deploymentName":"renamed-now"}}`)
	s.must(s.foos().Delete(s.Context(), "removed", metav1.DeleteOptions{}))
	s.patchDeployment("drifted", `{"spec":{"replicas":4}}`)
	untouched := s.getDeployment("untouched")

	s.start()
	s.becomesReady("created")
	s.hasReplicas("scaled", 2)
	s.hasReplicas("drifted", 1)
	s.disappears("renamed")
	s.disappears("removed")
	for _, name := range []string{"scaled", "renamed", "drifted"} {
		s.becomesReady(name)
	}
	if s.getDeployment("renamed-now") == nil {
		s.Error("the renamed Deployment is missing")
	}
	if now := s.getDeployment("untouched"); now.ResourceVersion != untouched.ResourceVersion {
		s.Error("the program wrote an unchanged Deployment")
	}
}

func badInput(s *scenario) {
	for sentence, test := range map[string]struct {
		name, spec, want string
	}{
		"no spec":                           {"a", ``, "spec"},
		"no deploymentName":                 {"a", `{"replicas":1}`, "spec.deploymentName"},
		"an empty deploymentName":           {"a", `{"deploymentName":""}`, "spec.deploymentName"},
		"a deploymentName that is no label": {"a", `{"deploymentName":"A.b"}`, "spec.deploymentName"},
		"a deploymentName of 64 characters": {"a", `{"deploymentName":"` + strings.Repeat("a", 64) + `"}`,
			"spec.deploymentName"},
		"0 replicas":                          {"a", `{"deploymentName":"a","replicas":0}`, "spec.replicas"},
		"11 replicas":                         {"a", `{"deploymentName":"a","replicas":11}`, "spec.replicas"},
		"replicas as text":                    {"a", `{"deploymentName":"a","replicas":"three"}`, "spec.replicas"},
		"a name of 64 characters for the Foo": {strings.Repeat("a", 64), `{"deploymentName":"a"}`, "metadata.name"},
	} {
		object := fooObject(test.name, "", 0)
		delete(object.Object, "spec")
		if test.spec != "" {
			var spec map[string]any
			s.must(yaml.Unmarshal([]byte(test.spec), &spec))
			object.Object["spec"] = spec
		}
		_, err := s.foos().Create(s.Context(), object, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
			s.Errorf("%s: want a refusal that names %s, got: %v", sentence, test.want, err)
		}
	}
	// If replicas is left out, the server sets 1.
	object := fooObject("a", "a", nil)
	delete(object.Object["spec"].(map[string]any), "replicas")
	_, err := s.foos().Create(s.Context(), object, metav1.CreateOptions{})
	s.must(err)
	if replicas := s.getFoo("a").Spec.Replicas; replicas != 1 {
		s.Errorf("got %d replicas by default, want 1", replicas)
	}
}
