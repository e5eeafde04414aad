package lens

// A session: one or two programs, each behind its own fault proxy, each in its own namespace.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
)

// Program is a program to show.
type Program struct {
	Name    string // the prefix of its lanes' titles, such as 03
	Chapter chapters.Chapter
	Built   program.Program
	Binary  string
}

// Options say what to show.
type Options struct {
	Programs []Program    // all for the same kind
	Target   *rest.Config // with an administrator's credentials
	Recorder *Recorder
	// AuditLog is the path of the API server's audit log. It may not exist.
	AuditLog string
	// Kubectl acts on the same cluster. CanCall reports whether its API server can reach programs
	// on this machine. Webhooks need that.
	Kubectl cluster.Kubectl
	CanCall bool
	// Namespaces is the prefix of the namespaces' names. The program's name follows it.
	Namespaces string
	// Dir is for kubeconfigs and certificates. The caller removes it.
	Dir string
}

// Session is the running programs, and what the page can do with them.
type Session struct {
	Options
	observer *observer
	client   kubernetes.Interface
	dynamic  dynamic.Interface
	sample   *unstructured.Unstructured // an example of the objects that the programs manage
	resource schema.GroupVersionResource

	acting sync.Mutex // held during an action, so that there is only one at a time

	mutex    sync.Mutex // guards what Controls shows
	programs []*running
	created  int // how many objects the page has created
	objects  []string
	shown    *Shown // nil if there is no look
}

// running is a program with its proxy.
type running struct {
	Program
	namespace  string
	kubeconfig string
	flags      []string // of its webhooks
	proxy      *faultproxy.Proxy
	process    *process.Replica             // nil while it is stopped
	faults     map[string]*faultproxy.Fault // those that are on
	called     bool                         // the API server calls its webhooks
}

// Start starts the programs. The caller must Close the session.
func Start(ctx context.Context, options Options) (s *Session, err error) {
	options.Target = rest.CopyConfig(options.Target)
	options.Target.UserAgent, options.Target.QPS = userAgent, -1
	s = &Session{Options: options}
	for _, p := range options.Programs {
		if err := s.Kubectl.ApplyCRD(ctx, p.Built.CRD); err != nil {
			return nil, err
		}
		if s.sample, err = readSample(p.Chapter); err != nil {
			return nil, err
		}
	}
	kind := s.sample.GroupVersionKind()
	s.resource = kind.GroupVersion().WithResource(plural(kind.Kind))
	s.observer = newObserver(options.Recorder, s.resource.Resource)
	if s.client, err = kubernetes.NewForConfig(options.Target); err != nil {
		return nil, err
	}
	if s.dynamic, err = dynamic.NewForConfig(options.Target); err != nil {
		return nil, err
	}
	for _, p := range options.Programs {
		if err := s.add(ctx, p); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func readSample(chapter chapters.Chapter) (*unstructured.Unstructured, error) {
	content, err := os.ReadFile(chapter.Parts().Sample)
	if err != nil {
		return nil, err
	}
	sample := &unstructured.Unstructured{}
	return sample, yaml.Unmarshal(content, &sample.Object)
}

// add gives a program its namespace, permissions and proxy, and starts it.
func (s *Session) add(ctx context.Context, one Program) error {
	p := &running{
		Program: one, namespace: s.Namespaces + one.Name, faults: map[string]*faultproxy.Fault{},
		kubeconfig: filepath.Join(s.Dir, one.Name+".kubeconfig"),
	}
	s.programs = append(s.programs, p)
	if err := s.freshNamespace(ctx, p.namespace); err != nil {
		return err
	}
	if err := p.Built.Grant(ctx, s.client, p.namespace); err != nil {
		return err
	}
	if err := s.startProxy(ctx, p); err != nil {
		return err
	}
	if err := s.follow(ctx, p.namespace); err != nil {
		return err
	}
	if err := s.followOthers(ctx, p.namespace); err != nil {
		return err
	}
	if p.Built.Webhooks == "" || !s.CanCall {
		return s.start(p)
	}
	dir := p.kubeconfig + ".webhooks"
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	local, configurations, err := p.Built.PrepareWebhooks(ctx, s.Kubectl, dir, p.namespace)
	if err != nil {
		return err
	}
	p.flags = local.Flags()
	if err := s.start(p); err != nil {
		return err
	}
	if err := local.Await(ctx); err != nil {
		return err
	}
	p.called = true
	return s.Kubectl.Apply(ctx, configurations)
}

// startProxy starts the fault proxy between the API server and a program, and observes what passes.
func (s *Session) startProxy(ctx context.Context, p *running) (err error) {
	direct := p.kubeconfig + ".direct"
	if err := operator.WriteKubeconfig(ctx, s.client, s.Target, p.namespace, operator.ServiceAccount, direct); err != nil {
		return err
	}
	if p.proxy, err = faultproxy.Before(s.Target, direct, p.kubeconfig); err != nil {
		return err
	}
	s.observer.watchesIn(p.Name, p.namespace)
	p.proxy.Follow(func(request audit.Request) { s.observer.requested(p.Name, request) })
	p.proxy.FollowEvents(func(event faultproxy.WatchEvent) { s.observer.received(p.Name, event) })
	return nil
}

// start starts a program, or starts it again.
func (s *Session) start(p *running) error {
	logs := []string{"-v=4"}
	if p.Chapter.Number() >= "05" {
		logs = []string{"--zap-log-level=5", "--zap-time-encoding=rfc3339nano"}
	}
	started, err := process.StartReplica(process.Options{
		Binary: p.Binary,
		Args:   slices.Concat([]string{"--kubeconfig", p.kubeconfig, "--namespace", p.namespace}, logs, p.flags),
		Output: &process.Lines{Do: func(line string) { s.observer.logged(p.Name, line) }},
	})
	if err == nil {
		s.set(func() { p.process = started })
	}
	return err
}

// freshNamespace deletes what an earlier session left behind, and creates the namespace again.
func (s *Session) freshNamespace(ctx context.Context, name string) error {
	if err := s.forget(ctx, name); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := s.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // it is still being deleted
			return false, nil
		}
		return err == nil, err
	})
}

// forget deletes a namespace of an earlier session, or of this one.
func (s *Session) forget(ctx context.Context, namespace string) error {
	return operator.DeleteNamespace(ctx, s.client, s.dynamic, namespace, s.resource)
}

// Close stops the programs, and deletes their namespaces.
func (s *Session) Close() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.acting.Lock()
	defer s.acting.Unlock()
	for _, p := range s.programs {
		if p.called { // first, so that nobody waits for a program that has ended
			err = errors.Join(err, program.DeleteWebhooks(ctx, s.Kubectl))
		}
		if p.process != nil {
			p.process.Stop()
		}
		if p.proxy != nil {
			p.proxy.Close()
		}
		err = errors.Join(err, s.forget(ctx, p.namespace))
	}
	return err
}
