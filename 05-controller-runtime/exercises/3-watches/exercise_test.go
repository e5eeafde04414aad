//go:build check || solution

// These tests check the promises of setUp: which Foos are reconciled after which events. For each
// event, a manager watches two namespaces of a real API server.
//
// As given, all events pass, and each event of a ConfigMap enqueues all Foos. `workshop test`
// checks these failures:
//
// fails: TestIndexBySettings/a Foo that names a ConfigMap
// says: indexBySettings returned [], want ["shop"]
//
// fails: TestFoosWith
// says: the map function lists the Foos of all namespaces
//
// fails: TestSetUp/a Foo's labels change
// says: reconciled: [default/first], want []
//
// fails: TestSetUp/a Foo's status is written
// says: reconciled: [default/first], want []
//
// fails: TestSetUp/a ConfigMap's data change
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want [default/first default/second]
//
// fails: TestSetUp/a ConfigMap's binary data change
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want [default/first default/second]
//
// fails: TestSetUp/a ConfigMap with the same name changes in another namespace
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want [team/third]
//
// fails: TestSetUp/a ConfigMap that a Foo already names is created
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want [default/waiting]
//
// fails: TestSetUp/a ConfigMap that no Foo names is created
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want []
//
// fails: TestSetUp/a ConfigMap is deleted
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want [default/first default/second]
//
// fails: TestSetUp/a ConfigMap's metadata change
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want []
//
// fails: TestSetUp/a Foo has switched to another ConfigMap, and its former one changes
// says: reconciled: [default/first default/plain default/second default/waiting team/third], want [default/second]

package watches

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, "../..") }

func TestIndexBySettings(t *testing.T) {
	for sentence, test := range map[string]struct {
		annotations map[string]string
		want        []string
		why         string
	}{
		"a Foo that names a ConfigMap": {
			annotations: map[string]string{settingsAnnotation: "shop"},
			want:        []string{"shop"},
			why:         "return only the name, because the cache adds the namespace",
		},
		"a Foo with only another annotation": {
			annotations: map[string]string{"example.com/team": "blue"},
			why:         "most Foos have some annotation, such as kubectl's. Otherwise they would all be indexed by the empty name",
		},
		"a Foo whose annotation is empty": {
			annotations: map[string]string{settingsAnnotation: ""},
			why:         "no ConfigMap has an empty name",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "example", Annotations: test.annotations}}
			if got := indexBySettings(foo); !slices.Equal(got, test.want) {
				t.Errorf("indexBySettings returned %q, want %q\n%s", got, test.want, test.why)
			}
		})
	}
}

// listed is a cache that remembers the options of the last list.
type listed struct {
	client.Reader
	options client.ListOptions
}

func (l *listed) List(_ context.Context, _ client.ObjectList, options ...client.ListOption) error {
	l.options.ApplyOptions(options)
	return nil
}

func TestFoosWith(t *testing.T) {
	var foos listed
	foosWith(&foos)(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}})
	if foos.options.Namespace != "default" {
		t.Error("the map function lists the Foos of all namespaces")
	}
	if foos.options.FieldSelector == nil || foos.options.FieldSelector.String() != bySettings+"=shop" {
		t.Error("the map function lists Foos without the index, so at each event of any ConfigMap, the cache reads and copies all Foos")
	}
}

// Before each event, there are two Foos that share a ConfigMap (first and second), one whose
// ConfigMap doesn't exist yet (waiting), one that names none (plain), and one in another namespace
// (third), which has a ConfigMap of the same name. After the event, the Foos in want must be
// reconciled.
func TestSetUp(t *testing.T) {
	tests := map[string]struct {
		happens func(*cluster)
		want    []string
		why     string
	}{
		"a Foo is created": {
			happens: func(c *cluster) { c.must(c.Create(c.Context(), c.foo("default", "new", "shop"))) },
			want:    []string{"default/new"},
		},
		"a Foo's spec changes": {
			happens: func(c *cluster) {
				c.changeFirst(func(foo *samplecontrollerv1alpha1.Foo) { foo.Spec.Replicas = new(int32(3)) })
			},
			want: []string{"default/first"},
			why:  "the spec is the desired state",
		},
		"a Foo's annotation names another ConfigMap": {
			happens: func(c *cluster) {
				c.changeFirst(func(foo *samplecontrollerv1alpha1.Foo) { foo.Annotations[settingsAnnotation] = "other" })
			},
			want: []string{"default/first"},
			why:  "annotations are metadata, so their changes don't raise the generation. (Two predicates in WithPredicates must both let an event through.)",
		},
		"a Foo's annotation is removed": {
			happens: func(c *cluster) {
				c.changeFirst(func(foo *samplecontrollerv1alpha1.Foo) { foo.Annotations = nil })
			},
			want: []string{"default/first"},
			why:  "from now on it has no settings",
		},
		"a Foo's labels change": {
			happens: func(c *cluster) {
				c.changeFirst(func(foo *samplecontrollerv1alpha1.Foo) { foo.Labels = map[string]string{"team": "blue"} })
			},
			why: "neither its spec nor its annotation has changed",
		},
		"a Foo's status is written": {
			happens: func(c *cluster) {
				foo := c.first()
				foo.Status.AvailableReplicas = 1
				c.must(c.Status().Update(c.Context(), foo))
			},
			why: "its own reconciler writes the status, so there is nothing to do",
		},
		"a Foo with a finalizer is being deleted": {
			happens: func(c *cluster) {
				c.changeFirst(func(foo *samplecontrollerv1alpha1.Foo) { foo.Finalizers = []string{"example.com/wait"} })
				c.must(c.Delete(c.Context(), c.first()))
			},
			want: []string{"default/first"},
			why:  "this isn't a delete event yet, but an update that sets deletionTimestamp and raises the generation",
		},
		"a Foo is gone": {
			happens: func(c *cluster) { c.must(c.Delete(c.Context(), c.first())) },
			want:    []string{"default/first"},
			why:     "the reconciler may have to clean up after it",
		},

		"a ConfigMap's data change": {
			happens: func(c *cluster) {
				c.changeShop("default", func(m *corev1.ConfigMap) { m.Data = nil })
			},
			want: []string{"default/first", "default/second"},
			why:  "two Foos in its namespace name it. (A ConfigMap's generation is always 0, so it doesn't show the change.)",
		},
		"a ConfigMap's binary data change": {
			happens: func(c *cluster) {
				c.changeShop("default", func(m *corev1.ConfigMap) { m.BinaryData["logo"] = []byte{2} })
			},
			want: []string{"default/first", "default/second"},
			why:  "a ConfigMap has two fields for data",
		},
		"a ConfigMap with the same name changes in another namespace": {
			happens: func(c *cluster) {
				c.changeShop("team", func(m *corev1.ConfigMap) { m.Data["color"] = "red" })
			},
			want: []string{"team/third"},
			why:  "a Foo's ConfigMap is in the Foo's namespace",
		},
		"a ConfigMap that a Foo already names is created": {
			happens: func(c *cluster) { c.must(c.Create(c.Context(), c.configMap("default", "other"))) },
			want:    []string{"default/waiting"},
			why:     "the Foo has waited for it",
		},
		"a ConfigMap that no Foo names is created": {
			happens: func(c *cluster) { c.must(c.Create(c.Context(), c.configMap("default", "unrelated"))) },
			why:     "no Foo gets its settings from it. Every namespace has such ConfigMaps",
		},
		"a ConfigMap is deleted": {
			happens: func(c *cluster) { c.must(c.Delete(c.Context(), c.configMap("default", "shop"))) },
			want:    []string{"default/first", "default/second"},
			why:     "their settings are gone",
		},
		"a ConfigMap's metadata change": {
			happens: func(c *cluster) {
				c.changeShop("default", func(m *corev1.ConfigMap) { m.Labels, m.Annotations = m.Data, m.Data })
			},
			why: "its data haven't changed, only its labels, annotations and managedFields",
		},
		"a Foo has switched to another ConfigMap, and its former one changes": {
			happens: func(c *cluster) {
				c.changeFirst(func(foo *samplecontrollerv1alpha1.Foo) { foo.Annotations[settingsAnnotation] = "other" })
				c.waitFor("default/first")
				c.forget()
				c.changeShop("default", func(m *corev1.ConfigMap) { m.Data["color"] = "red" })
			},
			want: []string{"default/second"},
			why:  "only the second Foo still names it",
		},
	}
	clusters := map[string]*cluster{}
	for sentence := range tests {
		clusters[sentence] = start(t)
	}
	for sentence, test := range tests {
		clusters[sentence].waitFor("default/first", "default/plain", "default/second", "default/waiting", "team/third")
		clusters[sentence].forget()
		test.happens(clusters[sentence])
	}
	time.Sleep(time.Second) // for Foos that shouldn't be reconciled
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			c := clusters[sentence]
			c.waitFor(test.want...)
			if got := c.reconciled(); !slices.Equal(got, test.want) {
				t.Errorf("reconciled: %v, want %v\n%s", got, test.want, test.why)
			}
		})
	}
}

// cluster is a real API server with a manager that runs setUp's controller for two namespaces.
type cluster struct {
	*testing.T
	client.Client
	namespaces map[string]string // the real names of default and team

	mutex sync.Mutex
	calls []string // the Foos that were reconciled since the last forget
}

// start starts the controller, which then reconciles all Foos.
func start(t *testing.T) *cluster {
	server, other := testenv.New(t), testenv.New(t)
	c := &cluster{T: t, Client: server, namespaces: map[string]string{"default": server.Namespace, "team": other.Namespace}}
	for _, object := range []client.Object{
		c.configMap("default", "shop"),
		c.configMap("team", "shop"),
		c.foo("default", "first", "shop"),
		c.foo("default", "second", "shop"),
		c.foo("default", "waiting", "other"),
		c.foo("default", "plain", ""),
		c.foo("team", "third", "shop"),
	} {
		c.must(c.Create(t.Context(), object))
	}
	mgr := server.NewManager(t, func(options *ctrl.Options) {
		options.Cache.DefaultNamespaces[other.Namespace] = cache.Config{}
	})
	if err := setUp(t.Context(), mgr, reconcile.Func(c.reconcile)); err != nil {
		t.Fatalf("setUp returned an error: %v", err)
	}
	testenv.Start(t, mgr)
	return c
}

func (c *cluster) reconcile(_ context.Context, key ctrl.Request) (ctrl.Result, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for name, namespace := range c.namespaces {
		if key.Namespace == namespace {
			c.calls = append(c.calls, name+"/"+key.Name)
		}
	}
	return ctrl.Result{}, nil
}

// waitFor waits up to five seconds until these Foos have been reconciled.
func (c *cluster) waitFor(foos ...string) {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		got := c.reconciled()
		if !slices.ContainsFunc(foos, func(foo string) bool { return !slices.Contains(got, foo) }) {
			return
		}
	}
}

func (c *cluster) reconciled() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(c.calls)))
}

func (c *cluster) forget() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.calls = nil
}

// foo returns a Foo that gets its settings from a ConfigMap, or has none.
func (c *cluster) foo(namespace, name, settings string) *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespaces[namespace], Name: name},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))},
	}
	if settings != "" {
		foo.Annotations = map[string]string{settingsAnnotation: settings}
	}
	return foo
}

func (c *cluster) configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespaces[namespace], Name: name},
		Data:       map[string]string{"color": "blue"},
		BinaryData: map[string][]byte{"logo": {1}},
	}
}

// first returns the first Foo as it is stored.
func (c *cluster) first() *samplecontrollerv1alpha1.Foo {
	foo := c.foo("default", "first", "")
	c.must(c.Get(c.Context(), client.ObjectKeyFromObject(foo), foo))
	return foo
}

func (c *cluster) changeFirst(change func(*samplecontrollerv1alpha1.Foo)) {
	foo := c.first()
	change(foo)
	c.must(c.Update(c.Context(), foo))
}

func (c *cluster) changeShop(namespace string, change func(*corev1.ConfigMap)) {
	configMap := c.configMap(namespace, "shop")
	change(configMap)
	c.must(c.Update(c.Context(), configMap))
}

func (c *cluster) must(err error) {
	c.Helper()
	testenv.Must(c.T, err)
}
