//go:build check || solution

// These tests check the promises of setUp: which Foos are reconciled after which events. A real
// manager with a real cache and controller runs in a bubble of testing/synctest, and watches
// objects in memory. More tests check the index function and the map function separately.
//
// As given, all events pass, and each event of a ConfigMap enqueues all Foos. `workshop test`
// checks these failures:
//
// fails: TestSetUp/a Foo is created
// says: reconciled: default/new (2 times); want default/new
//
// fails: TestSetUp/a Foo's spec changes
// says: reconciled: default/first (2 times); want default/first
//
// fails: TestSetUp/a Foo's spec and status change in one event
// says: reconciled: default/first (2 times); want default/first
//
// fails: TestSetUp/a Foo's labels change
// says: reconciled: default/first; want none
//
// fails: TestSetUp/a Foo's status is written
// says: reconciled: default/first; want none
//
// fails: TestSetUp/a ConfigMap's data change
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want default/first, default/second
//
// fails: TestSetUp/a ConfigMap's binary data change
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want default/first, default/second
//
// fails: TestSetUp/a key is removed from a ConfigMap
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want default/first, default/second
//
// fails: TestSetUp/a ConfigMap with the same name changes in another namespace
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want team/third
//
// fails: TestSetUp/a ConfigMap that no Foo names changes
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want none
//
// fails: TestSetUp/a ConfigMap that a Foo already names is created
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want default/waiting
//
// fails: TestSetUp/a ConfigMap is deleted
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want default/first, default/second
//
// fails: TestSetUp/a ConfigMap's labels change
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want none
//
// fails: TestSetUp/a ConfigMap's annotations change
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want none
//
// fails: TestSetUp/somebody else applies the values that a ConfigMap already has
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want none
//
// fails: TestSetUp/the ConfigMaps are resynced
// says: ; want none
//
// fails: TestSetUp/a Foo has switched to another ConfigMap, and its former one changes
// says: reconciled: default/first, default/plain, default/second, default/waiting, team/third; want default/second
//
// fails: TestIndexBySettings/a Foo that names a ConfigMap is indexed by that name
// says: indexBySettings returned [], want ["shop"]
//
// fails: TestFoosWith/a ConfigMap that two Foos name
// says: the map function lists Foos without the index
//
// fails: TestFoosWith/a ConfigMap with that name in another namespace
// says: default/waiting, team/third; want team/third
//
// fails: TestFoosWith/a ConfigMap that no Foo names
// says: default/waiting, team/third; want none
//
// fails: TestFoosWith/a ConfigMap that two Foos name, and the list fails
// says: the map function lists the Foos of all namespaces
//
// fails: TestFoosWith/a ConfigMap in a namespace without Foos
// says: default/waiting, team/third; want none

package watches

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

// At the start, each existing Foo causes a create event, and so does each ConfigMap. A key that is
// already queued isn't queued again, so the test doesn't check how often each Foo is reconciled.
func TestTheStart(t *testing.T) {
	inBubble(t, func(c *cluster) {
		c.settle()
		for _, foo := range foos() {
			if key := client.ObjectKeyFromObject(foo).String(); !slices.Contains(c.reconciled(), key) {
				c.Errorf("%s isn't reconciled when the controller starts: does setUp add a controller for Foos, and do its predicates let create events through?", key)
			}
		}
	})
}

// Before each event, there are two Foos that share a ConfigMap (first and second), one whose
// ConfigMap doesn't exist yet (waiting), one that names none (plain), and one in another namespace
// (third), which has a ConfigMap of the same name. After the event, the Foos in want must be
// reconciled, once each.
func TestSetUp(t *testing.T) {
	for sentence, test := range map[string]struct {
		happens func(*cluster)
		want    []string
		why     string
	}{
		"a Foo is created": {
			happens: func(c *cluster) { c.put(foo("default", "new", "shop")) },
			want:    []string{"default/new"},
			why:     "its reconciler then writes the Foo's status, and that event must not enqueue the Foo again",
		},
		"a Foo's spec changes": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) { foo.Spec.Replicas = new(int32(3)) })
			},
			want: []string{"default/first"},
			why:  "the spec is the desired state. But then the reconciler writes the status, and that event must not enqueue the Foo again",
		},
		"a Foo's annotation names another ConfigMap": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) { foo.Annotations[settingsAnnotation] = "other" })
			},
			want: []string{"default/first"},
			why:  "annotations are metadata, so their changes don't raise the generation. (Two predicates in WithPredicates must both let an event through.)",
		},
		"a Foo's annotation is removed": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) { foo.Annotations = nil })
			},
			want: []string{"default/first"},
			why:  "from now on it has no settings",
		},
		"a Foo's spec and status change in one event": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) {
					foo.Spec.Replicas = new(int32(3))
					foo.Status.AvailableReplicas++
				})
			},
			want: []string{"default/first"},
			why: "after a new list, several changes arrive as one event. So check which fields have changed, not which ones haven't.\n" +
				"(Then the reconciler writes the status, and that event must not enqueue the Foo again.)",
		},
		"a Foo's labels change": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) { foo.Labels = map[string]string{"team": "blue"} })
			},
			why: "neither its spec nor its annotation has changed",
		},
		"a Foo's status is written": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) { foo.Status.AvailableReplicas++ })
			},
			why: "its own reconciler writes the status, so there is nothing to do",
		},
		"a Foo with a finalizer is being deleted": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) {
					foo.DeletionTimestamp, foo.Finalizers = &metav1.Time{Time: time.Unix(0, 0)}, []string{"example.com/wait"}
				})
			},
			want: []string{"default/first"},
			why:  "this isn't a delete event yet, but an update that sets deletionTimestamp and raises the generation",
		},
		"a Foo is gone": {
			happens: func(c *cluster) { c.remove("default/first") },
			want:    []string{"default/first"},
			why:     "the reconciler may have to clean up after it",
		},

		"a ConfigMap's data change": {
			happens: func(c *cluster) {
				c.changeConfigMap("default/shop", func(m *corev1.ConfigMap) { m.Data["colour"] = "red" })
			},
			want: []string{"default/first", "default/second"},
			why:  "two Foos in its namespace name it. (A ConfigMap's generation is always 0, so it doesn't show the change.)",
		},
		"a ConfigMap's binary data change": {
			happens: func(c *cluster) {
				c.changeConfigMap("default/shop", func(m *corev1.ConfigMap) { m.BinaryData["logo"] = []byte{2} })
			},
			want: []string{"default/first", "default/second"},
			why:  "a ConfigMap has two fields for data",
		},
		"a key is removed from a ConfigMap": {
			happens: func(c *cluster) {
				c.changeConfigMap("default/shop", func(m *corev1.ConfigMap) { m.Data = nil })
			},
			want: []string{"default/first", "default/second"},
		},
		"a ConfigMap with the same name changes in another namespace": {
			happens: func(c *cluster) {
				c.changeConfigMap("team/shop", func(m *corev1.ConfigMap) { m.Data["colour"] = "red" })
			},
			want: []string{"team/third"},
			why:  "a Foo's ConfigMap is in the Foo's namespace",
		},
		"a ConfigMap that no Foo names changes": {
			happens: func(c *cluster) {
				c.changeConfigMap("default/kube-root-ca.crt", func(m *corev1.ConfigMap) { m.Data["ca.crt"] = "another" })
			},
			why: "no Foo gets its settings from it. Every namespace has such ConfigMaps",
		},
		"a ConfigMap that a Foo already names is created": {
			happens: func(c *cluster) { c.put(configMap("default", "other")) },
			want:    []string{"default/waiting"},
			why:     "the Foo has waited for it",
		},
		"a ConfigMap is deleted": {
			happens: func(c *cluster) { c.remove("default/shop") },
			want:    []string{"default/first", "default/second"},
			why:     "their settings are gone",
		},
		"a ConfigMap's labels change": {
			happens: func(c *cluster) {
				c.changeConfigMap("default/shop", func(m *corev1.ConfigMap) { m.Labels = map[string]string{"team": "blue"} })
			},
			why: "its data haven't changed, only its metadata",
		},
		"a ConfigMap's annotations change": {
			happens: func(c *cluster) {
				c.changeConfigMap("default/shop", func(m *corev1.ConfigMap) { m.Annotations = map[string]string{"reviewed": "yes"} })
			},
			why: "its data haven't changed, only its metadata",
		},
		"somebody else applies the values that a ConfigMap already has": {
			happens: func(c *cluster) {
				c.changeConfigMap("default/shop", func(m *corev1.ConfigMap) {
					m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "somebody", Operation: metav1.ManagedFieldsOperationApply}}
				})
			},
			why: "its data haven't changed, only managedFields and the resourceVersion",
		},
		"the ConfigMaps are resynced": {
			happens: func(*cluster) { time.Sleep(3 * time.Hour) }, // the handler misses the informer's first resync
			why:     "a resync is an update event in which the old and the new object are the same",
		},

		"a Foo has switched to another ConfigMap, and its former one changes": {
			happens: func(c *cluster) {
				c.changeFoo("default/first", func(foo *samplecontrollerv1alpha1.Foo) { foo.Annotations[settingsAnnotation] = "other" })
				c.settle()
				c.forget()
				c.changeConfigMap("default/shop", func(m *corev1.ConfigMap) { m.Data["colour"] = "red" })
			},
			want: []string{"default/second"},
			why:  "only the second Foo still names it",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, func(c *cluster) {
				c.settle()
				c.forget()
				test.happens(c)
				c.settle()
				if got := c.reconciled(); !slices.Equal(got, test.want) {
					t.Errorf("reconciled: %s; want %s\n%s", inWords(got), inWords(test.want), test.why)
				}
			})
		})
	}
}

func TestIndexBySettings(t *testing.T) {
	for sentence, test := range map[string]struct {
		foo  *samplecontrollerv1alpha1.Foo
		want []string
		why  string
	}{
		"a Foo that names a ConfigMap is indexed by that name": {
			foo:  foo("default", "example", "shop"),
			want: []string{"shop"},
			why:  "return only the name, because the cache adds the namespace",
		},
		"a Foo without annotations isn't indexed": {
			foo: foo("default", "example", ""),
		},
		"a Foo with only another annotation isn't indexed": {
			foo: annotated(foo("default", "example", ""), "example.com/team", "blue"),
			why: "most Foos have some annotation, such as kubectl's. Otherwise they would all be indexed by the empty name",
		},
		"a Foo whose annotation is empty isn't indexed": {
			foo: annotated(foo("default", "example", ""), settingsAnnotation, ""),
			why: "no ConfigMap has an empty name",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			defer explainPanic(t)
			if got := indexBySettings(test.foo); !slices.Equal(got, test.want) {
				t.Errorf("indexBySettings returned %q, want %q\n%s", got, test.want, test.why)
			}
		})
	}
}

func TestFoosWith(t *testing.T) {
	for sentence, test := range map[string]struct {
		configMap *corev1.ConfigMap
		listFails error
		want      []string
	}{
		"a ConfigMap that two Foos name": {
			configMap: configMap("default", "shop"),
			want:      []string{"default/first", "default/second"},
		},
		"a ConfigMap with that name in another namespace": {
			configMap: configMap("team", "shop"),
			want:      []string{"team/third"},
		},
		"a ConfigMap that no Foo names": {
			configMap: configMap("default", "kube-root-ca.crt"),
		},
		"a ConfigMap in a namespace without Foos": {
			configMap: configMap("empty", "shop"),
		},
		"a ConfigMap that two Foos name, and the list fails": {
			configMap: configMap("default", "shop"),
			listFails: errors.New("the cache can't be read"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			defer explainPanic(t)
			var asked []client.ListOptions
			var answered error
			builder := fake.NewClientBuilder().WithScheme(newScheme(t)).WithIndex(&samplecontrollerv1alpha1.Foo{}, bySettings, indexBySettings)
			for _, foo := range foos() {
				builder.WithObjects(foo)
			}
			foos := builder.WithInterceptorFuncs(interceptor.Funcs{
				List: func(ctx context.Context, foos client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
					asked = append(asked, *(&client.ListOptions{}).ApplyOptions(options))
					if test.listFails != nil {
						return test.listFails
					}
					answered = foos.List(ctx, into, options...)
					return answered
				},
			}).Build()

			var got []string
			for _, key := range foosWith(foos)(t.Context(), test.configMap) {
				got = append(got, key.String())
			}

			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("the map function returned %s; want %s", inWords(got), inWords(test.want))
			}
			if answered != nil {
				t.Errorf("the map function's List failed: %v", answered)
			}
			for _, options := range asked {
				if options.Namespace == "" {
					t.Error("the map function lists the Foos of all namespaces")
				}
				if options.FieldSelector == nil || options.FieldSelector.Empty() {
					t.Error("the map function lists Foos without the index, so at each event of any ConfigMap, the cache reads and copies all Foos")
				}
			}
		})
	}
}

// inWords lists names, with the number of times if a name occurs more than once. Equal names must
// be next to each other.
func inWords(names []string) string {
	var words []string
	for len(names) > 0 {
		name, times := names[0], 0
		for len(names) > 0 && names[0] == name {
			names, times = names[1:], times+1
		}
		if times > 1 {
			name += fmt.Sprintf(" (%d times)", times)
		}
		words = append(words, name)
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// foos returns the Foos that exist at the start.
func foos() []*samplecontrollerv1alpha1.Foo {
	return []*samplecontrollerv1alpha1.Foo{
		foo("default", "first", "shop"),
		foo("default", "second", "shop"),
		foo("default", "waiting", "other"),
		foo("default", "plain", ""),
		foo("team", "third", "shop"),
	}
}

// foo returns a Foo that gets its settings from a ConfigMap, or has none.
func foo(namespace, name, settings string) *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{
		TypeMeta:   metav1.TypeMeta{APIVersion: samplecontrollerv1alpha1.GroupVersion.String(), Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))},
	}
	if settings != "" {
		annotated(foo, settingsAnnotation, settings)
	}
	return foo
}

func annotated(foo *samplecontrollerv1alpha1.Foo, key, value string) *samplecontrollerv1alpha1.Foo {
	metav1.SetMetaDataAnnotation(&foo.ObjectMeta, key, value)
	return foo
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{"colour": "blue"},
		BinaryData: map[string][]byte{"logo": {1}},
	}
}

func newScheme(t *testing.T) *apiruntime.Scheme {
	scheme := apiruntime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), samplecontrollerv1alpha1.Install(scheme)); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// cluster has Foos and ConfigMaps, and counts the calls of the reconciler.
type cluster struct {
	*testing.T
	mutex   sync.Mutex
	objects map[string]client.Object // "Foo default/first", for example
	streams map[string]*cachetesting.FakeControllerSource
	calls   map[string]int // of the reconciler, by key
}

// inBubble runs a test in a bubble of testing/synctest, with setUp's controller.
func inBubble(t *testing.T, test func(*cluster)) {
	defer func() {
		if problem := recover(); problem != nil {
			t.Errorf("setUp, or a goroutine that it has started, waits forever: %v", problem)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{
			T:       t,
			objects: map[string]client.Object{},
			streams: map[string]*cachetesting.FakeControllerSource{
				"Foo":       cachetesting.NewFakeControllerSource(),
				"ConfigMap": cachetesting.NewFakeControllerSource(),
			},
			calls: map[string]int{},
		}
		for _, stream := range c.streams {
			defer stream.Shutdown()
		}
		for _, foo := range foos() {
			foo.Status.ObservedGeneration = 1
			c.put(foo)
		}
		c.put(configMap("default", "shop"))
		c.put(configMap("team", "shop"))
		c.put(configMap("default", "kube-root-ca.crt"))

		mgr := c.newManager()
		c.setUp(mgr)
		if t.Failed() {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- mgr.Start(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the manager ended with an error: %v", err)
			}
		}()
		test(c)
	})
}

// setUp calls the exercise's setUp with a timeout. Nothing runs yet, so there is nothing to wait
// for.
func (c *cluster) setUp(mgr ctrl.Manager) {
	defer explainPanic(c.T)
	ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
	defer cancel()
	if err := setUp(ctx, mgr, reconcile.Func(c.reconcile)); err != nil {
		c.Errorf("setUp returned an error: %v", err)
	}
}

// reconcile is a reconciler that writes the Foo's status if it is out of date.
func (c *cluster) reconcile(_ context.Context, key ctrl.Request) (ctrl.Result, error) {
	c.mutex.Lock()
	c.calls[key.String()]++
	foo, _ := c.objects["Foo "+key.String()].(*samplecontrollerv1alpha1.Foo)
	c.mutex.Unlock()
	if foo == nil || !foo.DeletionTimestamp.IsZero() || foo.Status.ObservedGeneration == foo.Generation {
		return ctrl.Result{}, nil
	}
	foo = foo.DeepCopy()
	foo.Status.ObservedGeneration = foo.Generation
	c.put(foo)
	return ctrl.Result{}, nil
}

// settle waits until nothing is left to do.
func (c *cluster) settle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

// forget forgets which Foos were reconciled.
func (c *cluster) forget() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.calls = map[string]int{}
}

// reconciled returns the keys that were reconciled since the last forget, each as often as it was.
func (c *cluster) reconciled() (keys []string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, key := range slices.Sorted(maps.Keys(c.calls)) {
		keys = append(keys, slices.Repeat([]string{key}, c.calls[key])...)
	}
	return keys
}

// put creates or replaces an object, and sends the event.
func (c *cluster) put(object client.Object) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	kind := object.GetObjectKind().GroupVersionKind().Kind
	name := kind + " " + client.ObjectKeyFromObject(object).String()
	_, exists := c.objects[name]
	c.objects[name] = object
	sent := object.DeepCopyObject()
	if exists {
		c.streams[kind].Modify(sent)
	} else {
		c.streams[kind].Add(sent)
	}
}

// remove deletes the Foo with that key or, if there is none, the ConfigMap.
func (c *cluster) remove(key string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	kind := "ConfigMap"
	if _, exists := c.objects["Foo "+key]; exists {
		kind = "Foo"
	}
	object := c.objects[kind+" "+key]
	delete(c.objects, kind+" "+key)
	c.streams[kind].Delete(object.DeepCopyObject())
}

// changeFoo changes a Foo. Like the API server, it raises the generation if the spec changes or a
// deletion begins.
func (c *cluster) changeFoo(key string, change func(*samplecontrollerv1alpha1.Foo)) {
	before := c.objects["Foo "+key].(*samplecontrollerv1alpha1.Foo)
	foo := before.DeepCopy()
	change(foo)
	if !equality.Semantic.DeepEqual(before.Spec, foo.Spec) || before.DeletionTimestamp.IsZero() != foo.DeletionTimestamp.IsZero() {
		foo.Generation++
	}
	c.put(foo)
}

func (c *cluster) changeConfigMap(key string, change func(*corev1.ConfigMap)) {
	configMap := c.objects["ConfigMap "+key].(*corev1.ConfigMap).DeepCopy()
	change(configMap)
	c.put(configMap)
}
