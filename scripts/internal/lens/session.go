package lens

// A session: one or two programs, each behind its own fault proxy, each in its own namespace.

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

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
	Recorder *Recorder
	observer *Observer
	client   kubernetes.Interface
	dynamic  dynamic.Interface
	sample   *unstructured.Unstructured // an example of the objects that the programs manage
	resource schema.GroupVersionResource

	acting  sync.Mutex // held during an action, so that there is only one at a time
	created int        // how many objects the page has created

	mutex    sync.Mutex // guards what Controls shows
	programs []*running
	objects  []string
	shown    *Shown // nil if there is no look
}

// running is a program behind its proxy.
type running struct {
	Program
	*operator.Replica
	namespace string
	flags     []string                     // of its webhooks
	stopped   bool                         // by the page
	faults    map[string]*faultproxy.Fault // those that are on
	called    bool                         // the API server calls its webhooks
}

// Start starts the programs. The caller must Close the session.
func Start(ctx context.Context, options Options) (s *Session, err error) {
	options.Target = rest.CopyConfig(options.Target)
	options.Target.UserAgent, options.Target.QPS = userAgent, -1
	s = &Session{Options: options, Recorder: &Recorder{}}
	if s.client, err = kubernetes.NewForConfig(options.Target); err != nil {
		return nil, err
	}
	if s.dynamic, err = dynamic.NewForConfig(options.Target); err != nil {
		return nil, err
	}
	samples, err := operator.ReadObjects(options.Programs[0].Chapter.Parts().Sample)
	if err != nil {
		return nil, err
	}
	s.sample = samples[0]
	kind := s.sample.GroupVersionKind()
	s.resource = kind.GroupVersion().WithResource(plural(kind.Kind))
	s.observer = NewObserver(s.Recorder, s.resource.Resource, false)
	for _, p := range options.Programs {
		if err := s.add(ctx, p); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// add gives a program its namespace, permissions and proxy, and starts it.
func (s *Session) add(ctx context.Context, one Program) error {
	p := &running{Program: one, namespace: s.Namespaces + one.Name, faults: map[string]*faultproxy.Fault{}}
	if err := s.Kubectl.ApplyCRD(ctx, one.Built.CRD); err != nil {
		return err
	}
	if err := operator.NewNamespace(ctx, s.client, s.dynamic, p.namespace, s.resource); err != nil {
		return err
	}
	s.set(func() { s.programs = append(s.programs, p) })
	if err := one.Built.Grant(ctx, s.client, p.namespace); err != nil {
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
	if one.Built.Webhooks == "" || !s.CanCall {
		return s.start(p)
	}
	return s.startWithWebhooks(ctx, p)
}

// startProxy starts the fault proxy between the API server and a program, and observes what passes.
func (s *Session) startProxy(ctx context.Context, p *running) (err error) {
	kubeconfig := filepath.Join(s.Dir, p.Name+".kubeconfig")
	direct := kubeconfig + ".direct"
	err = operator.WriteKubeconfig(ctx, s.client, s.Target, p.namespace, operator.ServiceAccount, direct)
	if err != nil {
		return err
	}
	if p.Replica, err = operator.Behind(s.Target, direct, kubeconfig); err != nil {
		return err
	}
	s.observer.Follow(p.Name, p.namespace, p.Proxy)
	return nil
}

func (s *Session) startWithWebhooks(ctx context.Context, p *running) error {
	dir := filepath.Join(s.Dir, p.Name+".webhooks")
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

// start starts a program, or starts it again.
func (s *Session) start(p *running) error {
	args := []string{"--kubeconfig", p.Kubeconfig, "--namespace", p.namespace, "-v=4"}
	if p.Chapter.Number() >= "05" {
		args = append(args[:4], "--zap-log-level=5", "--zap-time-encoding=rfc3339nano")
	}
	err := p.Start(operator.Options{
		Binary: p.Binary,
		Args:   append(args, p.flags...),
		Output: &process.Lines{Do: func(line string) { s.observer.logged(p.Name, line) }},
	})
	if err == nil {
		s.set(func() { p.stopped = false })
	}
	return err
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
		if p.Replica != nil {
			p.Close()
		}
		err = errors.Join(err, operator.DeleteNamespace(ctx, s.client, s.dynamic, p.namespace, s.resource))
	}
	return err
}
