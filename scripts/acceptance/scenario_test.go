// One test's world: a namespace, an operator that acts on it alone, under an account of its own, and the words in which
// tests speak about it.

package acceptance

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/await"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/program"
)

// scenario is a namespace with an operator in it.
type scenario struct {
	testing.TB
	*environment
	chapter    chapters.Chapter
	namespace  string
	kubeconfig string   // the operator's
	env, flags []string // the operator's, beside the usual ones
	operator   *operator
	log        audit.Log
}

// newScenario makes a namespace and permissions. The operator isn't started yet.
func newScenario(t testing.TB, env *environment, chapter chapters.Chapter) *scenario {
	t.Helper()
	s := &scenario{TB: t, environment: env, chapter: chapter, log: audit.Log{Path: env.auditLog}}
	s.must(s.log.SkipToEnd())
	namespace, err := env.client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "acceptance-"}}, metav1.CreateOptions{})
	s.must(err)
	s.namespace = namespace.Name
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), env.patience)
		defer cancel()
		if t.Failed() {
			objects, _ := env.kubectl.Run(ctx, "-n", s.namespace, "get", "foos,deployments,pods,events", "-o", "wide")
			t.Logf("what is in namespace %s:\n%s", s.namespace, objects)
		}
		err := errors.Join(
			program.Revoke(ctx, env.client, s.namespace),
			s.foos().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}), // sooner than with the namespace
			env.client.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{}))
		if err != nil {
			t.Error(err)
		}
	})
	s.grant()
	s.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	s.must(program.WriteKubeconfig(t.Context(), env.client, env.config, s.namespace, s.kubeconfig))
	return s
}

// grant gives the operator its permissions.
func (s *scenario) grant() {
	s.Helper()
	p, err := program.OfChapter(s.chapter)
	s.must(err)
	s.must(p.Grant(s.Context(), s.client, s.namespace))
}

// start starts the operator.
func (s *scenario) start() *scenario {
	s.Helper()
	args := append([]string{"--kubeconfig", s.kubeconfig, "--namespace", s.namespace}, s.flags...)
	s.operator = start(s.TB, filepath.Join(s.programs, s.chapter.Name), s.env, args...)
	return s
}

// must ends the test if there is an error.
func (s *scenario) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// eventually waits until check finds nothing to complain about.
func (s *scenario) eventually(sentence string, check func() error) {
	s.Helper()
	await.That(s.TB, s.patience, sentence, check)
}

// foo is a Foo as the API server shows it.
type foo struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		DeploymentName string `json:"deploymentName"`
		Replicas       int32  `json:"replicas"`
	} `json:"spec"`
	Status struct {
		AvailableReplicas  int32              `json:"availableReplicas"`
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func (f *foo) ready() *metav1.Condition {
	return meta.FindStatusCondition(f.Status.Conditions, "Ready")
}

// report is what the Foo says of itself.
func (f *foo) report() error {
	says := "nothing of being Ready"
	if ready := f.ready(); ready != nil {
		says = fmt.Sprintf("Ready=%s (%s)", ready.Status, ready.Reason)
	}
	return fmt.Errorf("its status says %s, %d of %d replicas available, for generation %d of %d",
		says, f.Status.AvailableReplicas, f.Spec.Replicas, f.Status.ObservedGeneration, f.Generation)
}

func (s *scenario) foos() dynamic.ResourceInterface {
	return s.dynamic.Resource(foosResource).Namespace(s.namespace)
}

func (s *scenario) deployments() typedappsv1.DeploymentInterface {
	return s.client.AppsV1().Deployments(s.namespace)
}

// fooObject returns a Foo that is not yet on the server.
func fooObject(name, deploymentName string, replicas any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "samplecontroller.k8s.io/v1alpha1",
		"kind":       "Foo",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"deploymentName": deploymentName, "replicas": replicas},
	}}
}

// createFoo creates a Foo.
func (s *scenario) createFoo(name, deploymentName string, replicas int64) *foo {
	s.Helper()
	created, err := s.foos().Create(s.Context(), fooObject(name, deploymentName, replicas), metav1.CreateOptions{})
	s.must(err)
	return s.decode(created)
}

// patchFoo changes a Foo by a JSON merge patch.
func (s *scenario) patchFoo(name, patch string) *foo {
	s.Helper()
	patched, err := s.foos().Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
	return s.decode(patched)
}

func (s *scenario) getFoo(name string) *foo {
	s.Helper()
	object, err := s.foos().Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return s.decode(object)
}

func (s *scenario) decode(object *unstructured.Unstructured) *foo {
	s.Helper()
	decoded := &foo{}
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, decoded))
	return decoded
}

// patchDeployment changes a Deployment by a strategic merge patch.
func (s *scenario) patchDeployment(name, patch string) *appsv1.Deployment {
	s.Helper()
	patched, err := s.deployments().Patch(s.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
	return patched
}

// getDeployment returns the Deployment of that name, or nil if there is none.
func (s *scenario) getDeployment(name string) *appsv1.Deployment {
	s.Helper()
	deployment, err := s.deployments().Get(s.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	s.must(err)
	return deployment
}

// becomesReady waits until the Foo is Ready for its present spec, with all its replicas.
func (s *scenario) becomesReady(name string) *foo {
	s.Helper()
	var last *foo
	s.eventually("Foo "+name+" becomes ready", func() error {
		last = s.getFoo(name)
		ready := last.ready()
		if ready == nil || ready.Status != metav1.ConditionTrue || last.Status.ObservedGeneration != last.Generation ||
			last.Status.AvailableReplicas != last.Spec.Replicas {
			return last.report()
		}
		return nil
	})
	return last
}

// becomesUnready waits until the Foo says for its present spec that it isn't Ready, for that reason.
func (s *scenario) becomesUnready(name, reason string) {
	s.Helper()
	s.eventually("Foo "+name+" says "+reason, func() error {
		foo := s.getFoo(name)
		ready := foo.ready()
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != reason || foo.Status.ObservedGeneration != foo.Generation {
			return foo.report()
		}
		return nil
	})
}

// hasReplicas waits until the Deployment asks for so many replicas.
func (s *scenario) hasReplicas(name string, replicas int32) {
	s.Helper()
	s.eventually(fmt.Sprintf("Deployment %s has %d replicas", name, replicas), func() error {
		switch deployment := s.getDeployment(name); {
		case deployment == nil:
			return errors.New("there is no such Deployment")
		case *deployment.Spec.Replicas != replicas:
			return fmt.Errorf("it has %d", *deployment.Spec.Replicas)
		}
		return nil
	})
}

// disappears waits until there is no Deployment of that name.
func (s *scenario) disappears(name string) {
	s.Helper()
	s.eventually("Deployment "+name+" disappears", func() error {
		if s.getDeployment(name) != nil {
			return errors.New("it is there")
		}
		return nil
	})
}

// sentinel makes a Foo of its own and waits until it is ready: by then the operator has seen, and acted on, all that
// happened before.
func (s *scenario) sentinel(name string) {
	s.Helper()
	s.createFoo(name, name, 1)
	s.becomesReady(name)
}

// writes returns the operator's writes since the last call of it or of requests.
func (s *scenario) writes() []audit.Request {
	s.Helper()
	return slices.DeleteFunc(s.requests(), func(r audit.Request) bool { return !r.IsWrite() })
}

// requests returns the operator's requests since the last call, as the audit log has them.
func (s *scenario) requests() []audit.Request {
	s.Helper()
	// The log is written as answers leave. Once a request of our own stands there, so do the earlier ones.
	marker := fmt.Sprintf("marker-%d", time.Now().UnixNano())
	_, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(s.Context(), marker, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		s.Fatalf("get the marker: %v", err)
	}
	end := s.log
	s.eventually("the audit log has the marker", func() error {
		requests, err := end.Requests("")
		if err != nil {
			return err
		}
		for _, request := range requests {
			if request.Name == marker {
				return nil
			}
		}
		return errors.New("not there")
	})
	requests, err := s.log.Requests(audit.ServiceAccount(s.namespace, program.ServiceAccount))
	s.must(err)
	return requests
}

// deploymentObject returns a Deployment that nobody controls, not yet on the server.
func deploymentObject(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/someone-elses:1"}}},
			},
		},
	}
}
