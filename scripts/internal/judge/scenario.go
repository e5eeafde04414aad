package judge

// A scenario is where a check looks at the operator: a namespace of its own, an account of its own,
// and processes of its own, each behind a proxy of its own.

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/lens"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
)

const (
	// manager is the judge's name in managedFields.
	manager = "judge"
	// namePrefix is that of the namespaces of all checks.
	namePrefix = "judge-"
)

// judgesLabels find what the judge leaves if it is killed.
var judgesLabels = map[string]string{"app.kubernetes.io/managed-by": manager}

// scenario is used by one check.
type scenario struct {
	*attempt
	*judge
	namespace  string
	dir        string // for files
	binary     string // the operator's
	kubeconfig string // the operator's, not through a proxy
	history    *history
	made       map[types.UID]bool // objects of the kinds that the operator owns, which the judge created
	replicas   []*replica         // all that were ever started
	// The webhook configurations that are installed, and the address that they have, or "".
	installed   []*unstructured.Unstructured
	installedAt string
}

// newScenario returns a scenario without an operator.
func (j *judge) newScenario(t *attempt) *scenario {
	s := &scenario{attempt: t, judge: j, binary: j.command[0], made: map[types.UID]bool{}}
	about := metav1.ObjectMeta{GenerateName: namePrefix, Labels: judgesLabels}
	namespace, err := s.client.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: about}, metav1.CreateOptions{})
	s.must(err)
	s.namespace = namespace.Name
	s.cleanup(s.tidy)
	s.must(s.permissions.Grant(s.ctx, s.client, s.namespace))
	s.dir, err = os.MkdirTemp("", "judge-")
	s.must(err)
	s.cleanup(func() { os.RemoveAll(s.dir) })
	s.kubeconfig = filepath.Join(s.dir, "kubeconfig")
	s.must(operator.WriteKubeconfig(s.ctx, s.client, s.target, s.namespace, operator.ServiceAccount, s.kubeconfig))
	s.prepare()
	s.cleanup(s.collect) // before tidy
	return s
}

// isAnothers reports whether a namespace is that of another check.
func (s *scenario) isAnothers(namespace string) bool {
	return strings.HasPrefix(namespace, namePrefix) && namespace != s.namespace
}

// prepare creates what the samples of this kind need, and begins the history.
func (s *scenario) prepare() {
	if s.isRecorded && !s.result.Check.Alone { // which has a thousand objects
		s.page = lens.NewObserver(&lens.Recorder{}, s.ofSamples[0].Resource, true)
	}
	s.must(s.apply(s.ctx, s.namespace, s.config.InNamespace...))
	s.follow()
	for _, object := range s.history.objects(s.isOwnedKind) {
		s.made[object.GetUID()] = true // it is here before the operator is
	}
}

// accountResources are those of the objects that an operator's account consists of.
var accountResources = []schema.GroupVersionResource{
	corev1.SchemeGroupVersion.WithResource("serviceaccounts"),
	rbacv1.SchemeGroupVersion.WithResource("roles"), rbacv1.SchemeGroupVersion.WithResource("rolebindings"),
}

// watched are the resources whose history the scenario keeps.
func (j *judge) watched() []schema.GroupVersionResource { return slices.Concat(j.ofSamples, j.ofOwned) }

// tidy removes all that the scenario has made. Finalizers don't stop it. It waits until the namespace
// is gone if the check has made many objects, or if the operator can't be told to act on one namespace
// only: the next check's operator would see them, too.
func (s *scenario) tidy() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), longest) // cost has a thousand objects
	defer cancel()
	managed := slices.Clone(accountResources)
	for _, kind := range s.kinds {
		managed = append(managed, kind.watched()...)
	}
	if s.isClusterScoped {
		s.removeSamples(ctx)
	}
	s.must(operator.DeleteNamespace(ctx, s.client, s.dynamic, s.namespace, managed...))
	if !s.isAlone() && !s.result.Check.Alone {
		return
	}
	isGone := func(ctx context.Context) (bool, error) {
		_, err := s.client.CoreV1().Namespaces().Get(ctx, s.namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	}
	_ = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, isGone) // this check has been judged anyway
}

// isOwnSample reports whether an object is one of this scenario's samples. (The history of samples
// without a namespace has all of them.)
func (s *scenario) isOwnSample(object *unstructured.Unstructured) bool {
	return slices.Contains(s.ofSamples, s.mapping(object).Resource) &&
		(!s.isClusterScoped || strings.HasPrefix(object.GetName(), s.namespace+"-"))
}

// removeSamples removes the samples that don't go with the scenario's namespace.
func (s *scenario) removeSamples(ctx context.Context) {
	for _, sample := range s.history.objects(s.isOwnSample) {
		noFinalizers := []byte(`{"metadata":{"finalizers":null}}`)
		_, err := s.api(sample).Patch(ctx, sample.GetName(), types.MergePatchType, noFinalizers, metav1.PatchOptions{})
		s.must(operator.IgnoreNotFound(err))
		s.must(operator.IgnoreNotFound(s.api(sample).Delete(ctx, sample.GetName(), metav1.DeleteOptions{})))
	}
}

// collect copies what the operator has logged, and what is recorded, into the result. The operator has
// been stopped.
func (s *scenario) collect() {
	for _, r := range s.replicas {
		r.Stop()
		if panicked := operator.Panic(r.Log()); panicked != "" {
			s.found(Error, []Evidence{{time.Now(), panicked, from(r.Log(), panicked)}}, "the operator panics")
		}
	}
	if len(s.result.Findings) > 0 && s.page != nil {
		s.result.Recorded = s.page.Recorder.All()
	}
	if len(s.result.Findings) > 0 || s.result.Why != "" {
		for _, r := range s.replicas {
			s.result.Log += process.Tail(r.Log(), 50)
		}
	}
}

// from returns the lines of a log from that text on.
func from(log, text string) string {
	lines := strings.SplitAfterN(log[strings.Index(log, text):], "\n", 30)
	return strings.Join(lines[:min(len(lines), 29)], "")
}
