//go:build check || solution

// These tests check the promises of Reconcile. The server is controller-runtime's fake client. The
// cache of ConfigMaps is another fake client, with the ConfigMaps that the server had when the
// cache last caught up. Each test decides when it does. (Foos are always up to date, because each
// type has its own watch.)
//
// As given, Reconcile only asks the cache, and lets the server choose a name. `workshop test`
// checks these failures:
//
// fails: TestOneForEachFoo/a Foo gets a ConfigMap
// says: want [example of this Foo, with a new ID]
//
// fails: TestOneForEachFoo/the Foo is reconciled again after the cache has caught up
// says: want [example of this Foo, with a new ID]
//
// fails: TestOneForEachFoo/the Foo is reconciled again before the cache has caught up
// says: the Foo has 2 ConfigMaps at once: example
//
// fails: TestOneForEachFoo/the program restarts before the cache has caught up
// says: the Foo has 2 ConfigMaps at once: example
//
// fails: TestOneForEachFoo/another replica creates it at the last moment
// says: the Foo has 2 ConfigMaps at once: example
//
// fails: TestOneForEachFoo/the response to the create is lost
// says: the Foo has 2 ConfigMaps at once: example
//
// fails: TestOneForEachFoo/there are two Foos
// says: want [example of this Foo, with a new ID; other of the other Foo, with a new ID]
//
// fails: TestWhoseIsIt/the Foo controls the ConfigMap
// says: the Foo has 2 ConfigMaps at once: example
//
// fails: TestWhoseIsIt/nobody controls the ConfigMap
// says: the condition Ready has the reason "Available", want "ErrResourceExists"
//
// fails: TestWhoseIsIt/nobody controls the ConfigMap, and the cache has it
// says: the condition Ready has the reason "Available", want "ErrResourceExists"
//
// fails: TestWhoseIsIt/an earlier Foo with the same name controls the ConfigMap
// says: the condition Ready has the reason "Available", want "ErrResourceExists"
//
// fails: TestWhoseIsIt/nobody controls the ConfigMap, which is created at the last moment
// says: the condition Ready has the reason "Available", want "ErrResourceExists"
//
// fails: TestWhoseIsIt/an earlier Foo controlled the ConfigMap, which is deleted now
// says: want [example of this Foo, with a new ID]
//
// fails: TestWhoseIsIt/the Foo controls the ConfigMap, which is being deleted
// says: the condition Ready has the reason "Available", want "Terminating"
//
// fails: TestWhoseIsIt/the Foo controlled the ConfigMap, which is gone at last
// says: the Foo has 2 ConfigMaps at once: example
//
// fails: TestWhoseIsIt/the Foo controlled the ConfigMap, which is gone, but the cache is behind
// says: want [example of this Foo, with a new ID]
//
// fails: TestWhoseIsIt/the Foo controlled the ConfigMap, which is deleted just before the server answers
// says: the Foo has 2 ConfigMaps at once: example
//
// fails: TestServerErrors/the server can't be asked, and the Foo controls the ConfigMap
// says: Reconcile returned no error, want one, because otherwise nothing retries it
//
// fails: TestServerErrors/the server can't be asked, and nobody controls the ConfigMap
// says: Reconcile returned no error, want one, because otherwise nothing retries it
//
// fails: TestServerErrors/the server can't be asked at first
// says: the Foo has 2 ConfigMaps at once: example

package twice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

// scenario is a sequence of steps, and the state that is expected afterwards. The cache stays empty
// unless a step fills it.
type scenario struct {
	steps []func(*cluster)
	want  []string // the ConfigMaps on the server
	ready string   // the reason of the condition Ready; "": there is none
	why   string
}

func TestOneForEachFoo(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"a Foo gets a ConfigMap": {
			steps: steps(reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
			why:   "the name follows from the Foo, so that everyone can find its ID",
		},
		"the Foo is reconciled again after the cache has caught up": {
			steps: steps(reconcile, catchUp, reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
		},
		"the Foo is reconciled again before the cache has caught up": {
			steps: steps(reconcile, reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
			why:   "the cache is behind, so an object may exist even if the cache has none. Only the server can refuse a second one",
		},
		"the program restarts before the cache has caught up": {
			steps: steps(reconcile, restart, reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
			why:   "the new process remembers nothing, and its cache may also be behind, because it lists from an API server that is behind",
		},
		"another replica creates it at the last moment": {
			steps: steps(atTheLastMoment(anotherReplica), reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
			why:   "whatever you ask before the create may be out of date when the create arrives",
		},
		"the response to the create is lost": {
			steps: steps(loseResponse, reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
			why:   "an error doesn't prove that nothing was created",
		},
		"there are two Foos": {
			steps: steps(reconcile, reconcileOther),
			want:  []string{"example of this Foo, with a new ID", "other of the other Foo, with a new ID"},
			ready: "Available",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestWhoseIsIt(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"the Foo controls the ConfigMap": {
			steps: steps(put("example", ours), reconcile),
			want:  []string{`example of this Foo, with the ID "first"`},
			ready: "Available",
			why:   "AlreadyExists means here that the desired state is reached",
		},
		"nobody controls the ConfigMap": {
			steps: steps(put("example", nobodys), reconcile),
			want:  []string{`example of nobody, with the ID "first"`},
			ready: "ErrResourceExists",
			why:   "the name doesn't say whose it is: check its controller",
		},
		"nobody controls the ConfigMap, and the cache has it": {
			steps: steps(put("example", nobodys), catchUp, reconcile),
			want:  []string{`example of nobody, with the ID "first"`},
			ready: "ErrResourceExists",
			why:   "the name doesn't say whose it is: check its controller",
		},
		"an earlier Foo with the same name controls the ConfigMap": {
			steps: steps(put("example", ofAnEarlierFoo), reconcile),
			want:  []string{`example of an earlier Foo, with the ID "first"`},
			ready: "ErrResourceExists",
			why:   "names are reused, UIDs aren't. The garbage collector will delete this one",
		},
		"nobody controls the ConfigMap, which is created at the last moment": {
			steps: steps(atTheLastMoment(put("example", nobodys)), reconcile),
			want:  []string{`example of nobody, with the ID "first"`},
			ready: "ErrResourceExists",
			why:   "whatever you ask before the create may be out of date when the create arrives",
		},
		"an earlier Foo controlled the ConfigMap, which is deleted now": {
			steps: steps(put("example", ofAnEarlierFoo), reconcile, remove, catchUp, reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
		},
		"the Foo controls the ConfigMap, which is being deleted": {
			steps: steps(put("example", ours, held), remove, reconcile),
			want:  []string{`example of this Foo, with the ID "first", being deleted`},
			ready: "Terminating",
			why:   "when it is gone, that causes an event, and then the name is free",
		},
		"the Foo controlled the ConfigMap, which is gone at last": {
			steps: steps(put("example", ours, held), remove, reconcile, release, catchUp, reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
		},
		"the Foo controlled the ConfigMap, which is gone, but the cache is behind": {
			steps: steps(put("example", ours), catchUp, reconcile, remove, reconcile, catchUp, reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
		},
		"the Foo controlled the ConfigMap, which is deleted just before the server answers": {
			steps: steps(put("example", ours), beforeTheAnswer(remove), reconcile),
			want:  []string{"example of this Foo, with a new ID"},
			ready: "Available",
			why:   "it is gone by now, and no event will come: without an error, Reconcile isn't called again",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestServerErrors(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"the server can't be asked, and the Foo controls the ConfigMap": {
			steps: steps(put("example", ours), breakServerReads, fail),
			want:  []string{`example of this Foo, with the ID "first"`},
			why:   "Reconcile can't know whose it is, so it must write nothing, and return an error to be called again",
		},
		"the server can't be asked, and nobody controls the ConfigMap": {
			steps: steps(put("example", nobodys), breakServerReads, fail),
			want:  []string{`example of nobody, with the ID "first"`},
			why:   "Reconcile can't know whose it is, so it must write nothing, and return an error to be called again",
		},
		"the server can't be asked at first": {
			steps: steps(put("example", ours), breakServerReads, fail, repairServerReads, reconcile),
			want:  []string{`example of this Foo, with the ID "first"`},
			ready: "Available",
		},
		"the create fails": {
			steps: steps(breakCreate, fail),
		},
		"the cache can't be read": {
			steps: steps(breakCache, fail),
			why:   "an error of the cache doesn't mean that there is no ConfigMap",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestNothingToDo(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"the cache has it, and Ready says so": {
			steps: steps(put("example", ours), catchUp, reconcile, sendNothing(reconcile)),
			want:  []string{`example of this Foo, with the ID "first"`},
			ready: "Available",
			why:   "this runs after each event of each Foo: reading the cache costs nothing, but each request to the server does",
		},
		"the Foo is being deleted": {
			steps: steps(deleteFoo, sendNothing(reconcile)),
		},
		"the Foo is gone": {
			steps: steps(deleteFoo, releaseFoo, sendNothing(reconcile)),
		},
	} {
		t.Run(sentence, test.run)
	}
}

func (s scenario) run(t *testing.T) {
	// In a bubble, waiting for the cache takes no time.
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		defer func() {
			if t.Failed() && s.why != "" {
				t.Log(s.why)
			}
		}()
		for _, step := range s.steps {
			step(c)
		}
		if got := c.describe(); !slices.Equal(got, s.want) {
			t.Errorf("the ConfigMaps are [%s], want [%s]", strings.Join(got, "; "), strings.Join(s.want, "; "))
		}
		if got := c.ready(); got != s.ready {
			t.Errorf("the condition Ready has the reason %q, want %q", got, s.ready)
		}
	})
}

var errDisk = apierrors.NewInternalError(errors.New("the disk is full"))

// cluster is a server, a cache of its ConfigMaps, and a Reconciler that uses both.
type cluster struct {
	*testing.T
	server     client.WithWatch
	cache      client.WithWatch
	reconciler *Reconciler
	sent       []string          // by the Reconciler, in its last call
	reads      int               // from the cache, in its last call
	ids        map[string]string // of this Foo's ConfigMaps, by name, as they were at first
	most       int               // ConfigMaps that this Foo has had at the same time

	cacheErr, apiReaderErr, createErr error
	lostErr                           error          // returned once by a create that succeeded
	lastMoment                        func(*cluster) // called once, right before a create
	beforeAnswer                      func(*cluster) // called once, right before the server answers a read
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{T: t, ids: map[string]string{}}
	c.server = newFake(t, fake.NewClientBuilder().
		WithStatusSubresource(&samplecontrollerv1alpha1.Foo{}).
		WithObjects(newFoo("example"), newFoo("other")))
	catchUp(c)
	restart(c)
	return c
}

func newFake(t *testing.T, builder *fake.ClientBuilder) client.WithWatch {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), samplecontrollerv1alpha1.Install(scheme)); err != nil {
		t.Fatal(err)
	}
	return builder.WithScheme(scheme).Build()
}

func newFoo(name string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:  "default",
			Name:       name,
			UID:        types.UID("uid of " + name),
			Generation: 1,
			Finalizers: []string{metav1.FinalizerDeleteDependents},
		},
		Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: name},
	}
}

// client returns the Reconciler's client, which reads ConfigMaps from the cache and writes to the
// server.
func (c *cluster) client() client.Client {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		Get: func(ctx context.Context, server client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
			if _, ok := into.(*samplecontrollerv1alpha1.Foo); ok {
				return server.Get(ctx, key, into, opts...)
			}
			if err := c.readCache(); err != nil {
				return err
			}
			return c.cache.Get(ctx, key, into, opts...)
		},
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			if _, ok := into.(*samplecontrollerv1alpha1.FooList); ok {
				return server.List(ctx, into, opts...)
			}
			if err := c.readCache(); err != nil {
				return err
			}
			return c.cache.List(ctx, into, opts...)
		},
		Create: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			if c.apiReaderErr != nil && (slices.Contains(c.sent, "get") || slices.Contains(c.sent, "list")) {
				c.Error("the server didn't answer Reconcile's read, but Reconcile sent a create all the same")
			}
			c.sent = append(c.sent, "create")
			if c.createErr != nil {
				return c.createErr
			}
			c.now(&c.lastMoment)
			if err := server.Create(ctx, object, opts...); err != nil {
				return err
			}
			c.count()
			lost := c.lostErr
			c.lostErr = nil
			return lost
		},
		Update: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			c.sent = append(c.sent, "update")
			return server.Update(ctx, object, opts...)
		},
		Patch: func(ctx context.Context, server client.WithWatch, object client.Object, by client.Patch, opts ...client.PatchOption) error {
			c.sent = append(c.sent, "patch")
			return server.Patch(ctx, object, by, opts...)
		},
		Apply: func(ctx context.Context, server client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			c.sent = append(c.sent, "apply")
			c.now(&c.lastMoment)
			return server.Apply(ctx, object, opts...)
		},
		Delete: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			c.sent = append(c.sent, "delete")
			return server.Delete(ctx, object, opts...)
		},
		SubResourceUpdate: func(
			ctx context.Context, server client.Client, name string, object client.Object, opts ...client.SubResourceUpdateOption,
		) error {
			c.sent = append(c.sent, "update the "+name)
			return server.SubResource(name).Update(ctx, object, opts...)
		},
	})
}

// apiReader returns the Reconciler's other client, which reads from the server.
func (c *cluster) apiReader() client.Reader {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		Get: func(ctx context.Context, server client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
			if err := c.askServer("get"); err != nil {
				return err
			}
			return server.Get(ctx, key, into, opts...)
		},
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			if err := c.askServer("list"); err != nil {
				return err
			}
			if selector := (&client.ListOptions{}).ApplyOptions(opts).FieldSelector; selector != nil {
				if _, found := selector.RequiresExactMatch(byOwner); found {
					return apierrors.NewBadRequest(`"owner" is not a known field selector: only "metadata.name", "metadata.namespace"`)
				}
			}
			return server.List(ctx, into, opts...)
		},
	})
}

func (c *cluster) readCache() error {
	if c.reads++; c.reads > 100 {
		c.Fatal("one call of Reconcile reads the cache more than 100 times, so this worker can do nothing else: don't wait for the cache,",
			"let the server decide")
	}
	return c.cacheErr
}

func (c *cluster) askServer(verb string) error {
	c.sent = append(c.sent, verb)
	if len(c.sent) > 100 {
		c.Fatal("one call of Reconcile sends more than 100 requests: return an error, and the queue retries with a backoff")
	}
	c.now(&c.beforeAnswer)
	return c.apiReaderErr
}

// now runs the step that was planned for this moment, once.
func (c *cluster) now(happens *func(*cluster)) {
	if step := *happens; step != nil {
		*happens = nil
		step(c)
	}
}

func steps(steps ...func(*cluster)) []func(*cluster) { return steps }

// reconcile reconciles the Foo until it asks for no further call, as the queue would, but at most
// five times.
func reconcile(c *cluster) { settle(c, "example") }

func reconcileOther(c *cluster) { settle(c, "other") }

func settle(c *cluster, name string) {
	var result ctrl.Result
	var err error
	for range 5 {
		if result, err = call(c, c.reconciler, name); err == nil && result.IsZero() {
			return
		}
	}
	if err != nil {
		c.Fatalf("Reconcile returns an error each time, so it is retried forever: %v", err)
	}
}

// fail reconciles the Foo once, and expects an error.
func fail(c *cluster) {
	if _, err := call(c, c.reconciler, "example"); err == nil {
		c.Error("Reconcile returned no error, want one, because otherwise nothing retries it")
	}
}

func call(c *cluster, r *Reconciler, name string) (ctrl.Result, error) {
	c.sent, c.reads = nil, 0
	result, err := r.Reconcile(c.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}})
	c.count()
	return result, err
}

// sendNothing runs a step, and expects that nothing is sent to the server.
func sendNothing(step func(*cluster)) func(*cluster) {
	return func(c *cluster) {
		step(c)
		if len(c.sent) > 0 {
			c.Errorf("Reconcile sent [%s], want nothing", strings.Join(c.sent, "; "))
		}
	}
}

// restart restarts the program. The cache keeps its objects.
func restart(c *cluster) { c.reconciler = &Reconciler{Client: c.client(), APIReader: c.apiReader()} }

// anotherReplica reconciles the Foo in another replica of the program, which led a moment ago.
func anotherReplica(c *cluster) {
	other := &Reconciler{Client: c.client(), APIReader: c.apiReader()}
	if _, err := call(c, other, "example"); err != nil {
		c.Errorf("the other replica, which was first, returned an error, want none: %v", err)
	}
}

// catchUp fills the cache with everything that the server has.
func catchUp(c *cluster) {
	builder := fake.NewClientBuilder().WithIndex(&corev1.ConfigMap{}, byOwner, indexByOwner)
	for _, found := range c.configMaps() {
		builder = builder.WithObjects(&found)
	}
	c.cache = newFake(c.T, builder)
}

func atTheLastMoment(step func(*cluster)) func(*cluster) {
	return func(c *cluster) { c.lastMoment = step }
}

func beforeTheAnswer(step func(*cluster)) func(*cluster) {
	return func(c *cluster) { c.beforeAnswer = step }
}

func loseResponse(c *cluster) {
	c.lostErr = apierrors.NewTimeoutError("the response didn't arrive in time", 1)
}

func breakServerReads(c *cluster)  { c.apiReaderErr = errDisk }
func repairServerReads(c *cluster) { c.apiReaderErr = nil }
func breakCreate(c *cluster)       { c.createErr = errDisk }
func breakCache(c *cluster)        { c.cacheErr = errors.New("the cache has not started") }

// put creates a ConfigMap, but not with the Reconciler under test.
func put(name string, changes ...func(*corev1.ConfigMap)) func(*cluster) {
	return func(c *cluster) {
		configMap := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Data:       map[string]string{"id": "first"},
		}
		for _, change := range changes {
			change(configMap)
		}
		c.noError(c.server.Create(c.Context(), configMap))
		c.count()
	}
}

func controlledBy(foo *samplecontrollerv1alpha1.Foo) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(foo, schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo"))}
}

func ours(configMap *corev1.ConfigMap) { configMap.OwnerReferences = controlledBy(newFoo("example")) }

func nobodys(*corev1.ConfigMap) {}

func ofAnEarlierFoo(configMap *corev1.ConfigMap) {
	earlier := newFoo("example")
	earlier.UID = "uid of an earlier example"
	configMap.OwnerReferences = controlledBy(earlier)
}

// held adds a finalizer, so that the ConfigMap still exists after it is deleted, until it is
// released.
func held(configMap *corev1.ConfigMap) { configMap.Finalizers = []string{"example.com/held"} }

var example = client.ObjectKey{Namespace: "default", Name: "example"}

// remove deletes the ConfigMap, if there is one.
func remove(c *cluster) {
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: example.Namespace, Name: example.Name}}
	delete(c.ids, example.Name)
	c.noError(client.IgnoreNotFound(c.server.Delete(c.Context(), configMap)))
}

// release removes the finalizer of a ConfigMap that is being deleted.
func release(c *cluster) {
	configMap := &corev1.ConfigMap{}
	c.noError(c.server.Get(c.Context(), example, configMap))
	configMap.Finalizers = nil
	delete(c.ids, example.Name)
	c.noError(c.server.Update(c.Context(), configMap))
}

func deleteFoo(c *cluster) { c.noError(c.server.Delete(c.Context(), newFoo("example"))) }

func releaseFoo(c *cluster) {
	foo := &samplecontrollerv1alpha1.Foo{}
	c.noError(c.server.Get(c.Context(), example, foo))
	foo.Finalizers = nil
	c.noError(c.server.Update(c.Context(), foo))
}

// configMaps returns the ConfigMaps that the server has.
func (c *cluster) configMaps() []corev1.ConfigMap {
	c.Helper()
	var list corev1.ConfigMapList
	c.noError(c.server.List(c.Context(), &list))
	return list.Items
}

// count checks what must always be true: this Foo has only one ConfigMap, and its ID never changes.
func (c *cluster) count() {
	c.Helper()
	var names []string
	for _, configMap := range c.configMaps() {
		if !metav1.IsControlledBy(&configMap, newFoo("example")) {
			continue
		}
		names = append(names, configMap.Name)
		before, known := c.ids[configMap.Name]
		if c.ids[configMap.Name] = configMap.Data["id"]; known && before != configMap.Data["id"] {
			c.Errorf("the ID in %s has changed, so clients that read the first one have a wrong one now", configMap.Name)
		}
	}
	if len(names) > max(1, c.most) {
		c.Errorf("the Foo has %d ConfigMaps at once: %s", len(names), strings.Join(names, ", "))
	}
	c.most = max(c.most, len(names))
}

// describe describes all ConfigMaps on the server.
func (c *cluster) describe() (all []string) {
	ids := map[string]string{} // the ConfigMap that has it, by ID
	for _, configMap := range c.configMaps() {
		owner := "nobody"
		switch found := metav1.GetControllerOf(&configMap); {
		case found == nil:
		case found.UID == "uid of example":
			owner = "this Foo"
		case found.UID == "uid of other":
			owner = "the other Foo"
		default:
			owner = "an earlier Foo"
		}
		id := "a new ID"
		if known := configMap.Data["id"]; known == "" || known == "first" {
			id = fmt.Sprintf("the ID %q", known)
		} else if other, found := ids[known]; found {
			id = "the ID that " + other + " has too"
		}
		ids[configMap.Data["id"]] = configMap.Name
		words := fmt.Sprintf("%s of %s, with %s", configMap.Name, owner, id)
		if !configMap.DeletionTimestamp.IsZero() {
			words += ", being deleted"
		}
		all = append(all, words)
	}
	return all
}

// ready returns the reason of this Foo's condition Ready, or "" if there is no condition or no Foo.
func (c *cluster) ready() string {
	foo := &samplecontrollerv1alpha1.Foo{}
	err := c.server.Get(c.Context(), example, foo)
	c.noError(client.IgnoreNotFound(err))
	if ready := meta.FindStatusCondition(foo.Status.Conditions, "Ready"); ready != nil {
		return ready.Reason
	}
	return ""
}

func (c *cluster) noError(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}
