package lens

// A session: one or two programs, each behind its own fault proxy, each in its own namespace.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/webhooks"
)

// Program is a program to show.
type Program struct {
	Name   string // the prefix of its lanes' titles, such as 03
	Built  program.Program
	Binary string
	// Flags are the program's own flags, such as those that make it log more.
	Flags []string
}

// Options say what to show.
type Options struct {
	Programs []Program
	Target   *rest.Config // with an administrator's credentials
	// Sample is an example of the objects that the programs manage.
	Sample   *unstructured.Unstructured
	Recorder *Recorder
	// AuditLog is the path of the API server's audit log.
	AuditLog string
	// Kubectl acts on the same cluster. CanCall reports whether its API server can reach programs
	// on this machine. Webhooks need that.
	Kubectl kubectl.Kubectl
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
	resource schema.GroupVersionResource // the sample's

	acting sync.Mutex // held during an action on a program, so that there is only one at a time

	mutex    sync.Mutex
	programs []*running
	number   int // of the next object
	objects  []string
	shown    *Shown // nil if there is no look
}

// running is a program with its proxy.
type running struct {
	Program
	namespace  string
	kubeconfig string
	proxy      *faultproxy.Proxy
	replica    *process.Replica
	faults     map[string]*faultproxy.Fault // those that are on
	// answers waits until the program serves its webhooks, and then lets the API server call them. It
	// is nil if there are none.
	answers func(context.Context) error
}

// Start starts the programs. The caller must Close the session.
func Start(ctx context.Context, options Options) (s *Session, err error) {
	options.Target = rest.CopyConfig(options.Target)
	options.Target.UserAgent = userAgent
	kind := options.Sample.GroupVersionKind()
	s = &Session{Options: options, resource: kind.GroupVersion().WithResource(plural(kind.Kind)), observer: newObserver(options.Recorder, plural(kind.Kind)), number: 1}
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

// add gives a program its namespace, permissions and proxy, and starts it.
func (s *Session) add(ctx context.Context, p Program) error {
	r := &running{Program: p, namespace: s.Namespaces + p.Name, kubeconfig: filepath.Join(s.Dir, p.Name+".kubeconfig"), faults: map[string]*faultproxy.Fault{}}
	s.programs = append(s.programs, r)
	if err := s.freshNamespace(ctx, r.namespace); err != nil {
		return err
	}
	if err := p.Built.Grant(ctx, s.client, r.namespace); err != nil {
		return err
	}
	direct := filepath.Join(s.Dir, p.Name+".direct")
	if err := operator.WriteKubeconfig(ctx, s.client, s.Target, r.namespace, operator.ServiceAccount, direct); err != nil {
		return err
	}
	proxy, err := faultproxy.Before(s.Target, direct, r.kubeconfig)
	if err != nil {
		return err
	}
	r.proxy = proxy
	s.observer.watchesIn(p.Name, r.namespace)
	proxy.KeepWrites()
	proxy.Follow(func(request audit.Request) { s.observer.requested(p.Name, request) })
	proxy.FollowEvents(func(event faultproxy.WatchEvent) { s.observer.received(p.Name, event) })
	if err := s.serveWebhooks(ctx, r); err != nil {
		return err
	}
	if err := s.follow(ctx, r.namespace); err != nil {
		return err
	}
	if err := s.followOthers(ctx, r); err != nil {
		return err
	}
	started, err := r.start(s.observer)
	if err != nil {
		return err
	}
	r.replica = started
	if r.answers == nil {
		return nil
	}
	return r.answers(ctx)
}

func (r *running) start(o *observer) (*process.Replica, error) {
	return process.StartReplica(process.Options{
		Binary: r.Binary,
		Args:   append([]string{"--kubeconfig", r.kubeconfig, "--namespace", r.namespace}, r.Flags...),
		Output: &lines{do: func(line string) { o.logged(r.Name, line) }},
	})
}

// freshNamespace deletes what an earlier session left behind, and creates the namespace again.
func (s *Session) freshNamespace(ctx context.Context, name string) error {
	if err := s.forget(ctx, name); err != nil {
		return err
	}
	for {
		_, err := s.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("namespace %s is still being deleted: %w", name, ctx.Err())
		}
	}
}

// forget deletes a namespace. It also removes the finalizers of the managed objects in it, because
// the program that would remove them isn't running any more.
func (s *Session) forget(ctx context.Context, namespace string) error {
	err := operator.Revoke(ctx, s.client, namespace)
	objects := s.dynamic.Resource(s.resource).Namespace(namespace)
	if all, failed := objects.List(ctx, metav1.ListOptions{}); failed == nil {
		for _, object := range all.Items {
			if len(object.GetFinalizers()) > 0 {
				_, failed := objects.Patch(ctx, object.GetName(), mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				err = errors.Join(err, ignoreNotFound(failed))
			}
		}
	}
	return errors.Join(err, ignoreNotFound(s.client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})))
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// follow shows each version of the objects in a namespace, as lens's own informer sees it.
func (s *Session) follow(ctx context.Context, namespace string) error {
	kinds := []schema.GroupVersionResource{s.resource, {Group: "apps", Version: "v1", Resource: "deployments"}}
	if s.Sample.GetKind() == chapters.TDSet {
		kinds = append(kinds, schema.GroupVersionResource{Version: "v1", Resource: "services"}, schema.GroupVersionResource{Version: "v1", Resource: "pods"},
			schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"})
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(s.dynamic, 0, namespace, nil)
	for _, kind := range kinds {
		see := func(object any, deleted bool) {
			if last, isTombstone := object.(cache.DeletedFinalStateUnknown); isTombstone {
				object = last.Obj
			}
			if seen, isObject := object.(*unstructured.Unstructured); isObject {
				s.observer.stored(kind.Resource, seen, deleted)
				s.list(kind, seen, deleted)
			}
		}
		_, err := factory.ForResource(kind).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { see(object, false) },
			UpdateFunc: func(_, object any) { see(object, false) },
			DeleteFunc: func(object any) { see(object, true) },
		})
		if err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("watch %s: %w", kind.Resource, context.Cause(ctx))
		}
	}
	return nil
}

// Close stops the programs, and deletes their namespaces.
func (s *Session) Close() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, r := range s.programs {
		if r.answers != nil { // first, so that nobody waits for a program that has ended
			err = errors.Join(err, webhooks.Delete(ctx, s.Kubectl))
		}
		if r.replica != nil {
			r.replica.Stop()
		}
		if r.proxy != nil {
			r.proxy.Close()
		}
		err = errors.Join(err, s.forget(ctx, r.namespace))
	}
	return err
}
