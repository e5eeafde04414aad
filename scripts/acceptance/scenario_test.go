package acceptance

// A test's scenario: a namespace, an operator that only acts on it, with an account of its own, and
// helpers for tests.

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/testkit"
)

// scenario is a namespace with an operator that acts on it.
type scenario struct {
	testing.TB
	*environment
	judged
	namespace  string
	account    string                  // the namespace of the operator's account: the same, unless a test deletes that
	kubeconfig string                  // the operator's
	env, flags []string                // additional ones for the operator
	converter  *operator.LocalWebhooks // how the operator serves the conversion; nil: not at all
	operator   *operator.Process
	former     []*operator.Process             // earlier ones
	zones      map[string][]program.ZoneChange // the operator's time zones; nil: the real ones
	began, as  time.Time                       // when it started, and its time then; zero: real time
	log        audit.Log
}

// newScenario creates a namespace and permissions. The operator isn't started yet.
func newScenario(t testing.TB, env *environment, j judged) *scenario {
	t.Helper()
	s := &scenario{TB: t, environment: env, judged: j, log: audit.Log{Path: env.auditLog}}
	s.must(s.log.SkipToEnd())
	s.namespace = s.createNamespace(metav1.ObjectMeta{GenerateName: "acceptance-"})
	s.account = s.namespace
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), env.timeout)
		defer cancel()
		if t.Failed() {
			objects, _ := env.kubectl.Run(ctx, "-n", s.namespace, "get",
				resources[s.Kind].Resource+",deployments,services,pods,events", "-o", "wide")
			t.Logf("objects in namespace %s:\n%s", s.namespace, objects)
		}
		// Deleting the objects first is faster than leaving them to the namespace.
		err := errors.Join(operator.Revoke(ctx, env.client, s.account), s.deleteAll(ctx))
		if !env.disposable {
			gone := env.client.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{})
			if !apierrors.IsNotFound(gone) { // a test may have deleted it
				err = errors.Join(err, gone)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	s.grant()
	s.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	s.must(operator.WriteKubeconfig(t.Context(), env.client, env.config, s.account, operator.ServiceAccount, s.kubeconfig))
	if s.apiVersion == "v2" {
		s.awaitAdmission()
		s.requests() // don't judge the operator by these
	}
	return s
}

// awaitAdmission waits until the operator may create objects that belong to a TDSet. The admission
// plugin OwnerReferencesPermissionEnforcement looks for new versions every 30 seconds only, and until
// then it refuses owner references of that version.
func (s *scenario) awaitAdmission() {
	s.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	s.must(err)
	operator, err := kubernetes.NewForConfig(config)
	s.must(err)
	probe := deploymentObject("probe")
	probe.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: s.resource().GroupVersion().String(), Kind: s.Kind, Name: "probe", UID: "probe",
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	s.eventually("the admission plugin knows the version", func() error {
		_, err := operator.AppsV1().Deployments(s.namespace).Create(s.Context(), probe,
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// createNamespace creates a namespace, and returns its name.
func (s *scenario) createNamespace(meta metav1.ObjectMeta) string {
	s.Helper()
	made, err := s.client.CoreV1().Namespaces().Create(s.Context(), &corev1.Namespace{ObjectMeta: meta},
		metav1.CreateOptions{})
	s.must(err)
	return made.Name
}

// grant gives the operator its permissions.
func (s *scenario) grant() {
	s.Helper()
	s.must(s.program.Grant(s.Context(), s.client, s.account))
}

// deleteAll deletes all objects of the operator's kind, even those that wait for an operator to
// remove their finalizer.
func (s *scenario) deleteAll(ctx context.Context) error {
	if err := s.objects().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); apierrors.IsNotFound(err) {
		return nil // they were deleted with their CRD
	} else if err != nil {
		return err
	}
	left, err := s.objects().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, object := range left.Items {
		_, err := s.objects().Patch(ctx, object.GetName(), types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// objects are those of the operator's kind.
func (s *scenario) objects() dynamic.ResourceInterface {
	return s.dynamic.Resource(s.resource()).Namespace(s.namespace)
}

// start starts the operator, with more flags than the usual ones.
func (s *scenario) start(more ...string) *scenario {
	s.Helper()
	if s.operator != nil {
		s.former = append(s.former, s.operator)
	}
	args := slices.Concat([]string{"--namespace", s.namespace}, s.flags, more)
	if s.converter != nil {
		args = append(args, s.converter.Flags()...)
	}
	args = append([]string{"--kubeconfig", s.kubeconfig}, args...)
	env := s.env
	if s.zones != nil {
		dir := s.TempDir()
		s.must(program.WriteZones(dir, s.zones))
		env = append(slices.Clone(env), "ZONEINFO="+dir)
	}
	s.operator = startOperator(s.TB, filepath.Join(s.programs, s.program.Name), env, args...)
	if s.converter != nil {
		s.must(s.converter.Await(s.Context()))
	}
	return s
}

// behindProxy puts a fault proxy between the operator, which isn't started yet, and the API server.
func (s *scenario) behindProxy() *faultproxy.Proxy {
	s.Helper()
	direct := s.kubeconfig
	s.kubeconfig = filepath.Join(s.TempDir(), "kubeconfig")
	replica, err := operator.Behind(s.config, direct, s.kubeconfig)
	s.must(err)
	s.Cleanup(replica.Close)
	s.env = operator.Pings
	return replica.Proxy
}

// begin begins a fault. The function that it returns waits until the fault has hit something, and
// ends it.
func (s *scenario) begin(fault faults.Fault, proxy *faultproxy.Proxy) (end func()) {
	active := fault.Begin(faults.Target{Proxy: proxy, Kill: s.operator.Kill, Owned: []string{"deployments"}})
	return func() {
		s.Helper()
		ctx, cancel := context.WithTimeout(s.Context(), s.timeout)
		defer cancel()
		if err := active.Wait(ctx, 1); err != nil {
			s.Fatalf("the fault hit nothing, so the test proves nothing about it: %v", err)
		}
		fault.End(proxy)
		active.Stop()
	}
}

// crashes is how often the operator has exited unasked, restarts included.
func (s *scenario) crashes() (crashes int) {
	for _, operator := range append(s.former, s.operator) {
		if operator != nil {
			crashes += len(operator.Exits())
		}
	}
	return crashes
}

// must ends the test if there is an error.
func (s *scenario) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// eventually waits until check returns no error.
func (s *scenario) eventually(sentence string, check func() error) {
	s.Helper()
	testkit.Await(s.TB, s.timeout, sentence, check)
}

func (s *scenario) deployments() typedappsv1.DeploymentInterface {
	return s.client.AppsV1().Deployments(s.namespace)
}

// patchDeployment changes a Deployment by a strategic merge patch.
func (s *scenario) patchDeployment(name, patch string) *appsv1.Deployment {
	s.Helper()
	patched, err := s.deployments().Patch(s.Context(), name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{})
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

// hasReplicas waits until the Deployment asks for that many replicas.
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

// sentinel creates a Foo or a TDSet and waits until it is Ready. By then, the operator has seen and
// acted on all that happened before.
func (s *scenario) sentinel(name string) {
	s.Helper()
	s.askFor(name)
	s.becomesFine(name)
}

// askFor creates a Foo or a TDSet that asks for a Deployment of that name.
func (s *scenario) askFor(name string) {
	s.Helper()
	if s.Kind == chapters.TDSet {
		s.createTDSet(name, 1, always)
	} else {
		s.createFoo(name, name, 1)
	}
}

// becomesFine waits until what askFor has created is Ready.
func (s *scenario) becomesFine(name string) {
	s.Helper()
	if s.Kind == chapters.TDSet {
		s.becomesScheduled(name, 0)
	} else {
		s.becomesReady(name)
	}
}

// writes returns the operator's writes since the last call of it or of requests.
func (s *scenario) writes() []audit.Request {
	s.Helper()
	return slices.DeleteFunc(s.requests(), func(r audit.Request) bool { return !r.IsWrite() })
}

// requests returns the operator's requests since the last call, as the audit log has them.
func (s *scenario) requests() []audit.Request {
	s.Helper()
	// The log is written when answers leave, so once our own request is in it, the earlier ones are
	// too.
	end, marker := s.log, fmt.Sprintf("marker-%d", time.Now().UnixNano())
	s.eventually("the audit log has the marker", func() error {
		// Repeat the request each time, because a log that is too long continues in a new file.
		_, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(s.Context(), marker, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("get the marker: %w", err)
		}
		requests, err := end.Requests("")
		if err != nil || slices.ContainsFunc(requests, func(r audit.Request) bool { return r.Name == marker }) {
			return err
		}
		return errors.New("not there")
	})
	requests, err := s.log.Requests(audit.ServiceAccount(s.account, operator.ServiceAccount))
	s.must(err)
	return requests
}

// deploymentObject returns a Deployment without an owner, which isn't on the server yet.
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

// startOperator starts the program. It stops at the latest at the end of the test, and if the test
// has failed, its log is printed.
func startOperator(t testing.TB, binary string, env []string, args ...string) *operator.Process {
	t.Helper()
	program, err := operator.StartProcess(operator.Options{Binary: binary, Args: args, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		program.Stop()
		if found := operator.Panic(program.Log()); found != "" {
			t.Errorf("the operator must never log this: %s", found)
		}
		if t.Failed() {
			t.Logf("the operator's log:\n%s", program.Log())
		}
	})
	return program
}
