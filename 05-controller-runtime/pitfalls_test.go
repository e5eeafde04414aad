// What costs people days, as the README has it: each is shown first, and then what helps. The API server is a real one.

package main

import (
	"context"
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

func TestAReadAfterAWrite(t *testing.T) {
	for sentence, readYourWrites := range map[string]bool{
		"may not find what was written":     false,
		"waits for it, with ReadYourWrites": true,
	} {
		t.Run(sentence, func(t *testing.T) {
			config, _, namespace := newAPIServer(t)
			deliver := make(chan struct{}) // until it is closed, events wait before the cache
			mgr := newTestManager(t, config, namespace, func(options *ctrl.Options) {
				options.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}
				options.Cache.DefaultTransform = func(object any) (any, error) {
					if object.(metav1.Object).GetName() == "made" {
						<-deliver
					}
					return object, nil
				}
			})
			read := func(reader client.Reader, name string) error {
				return reader.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &corev1.ConfigMap{})
			}
			startManager(t, mgr)
			must(t, mgr.GetClient().Create(t.Context(), configMap(namespace, "before")))
			_ = read(mgr.GetClient(), "before") // the first read starts the cache

			must(t, mgr.GetClient().Create(t.Context(), configMap(namespace, "made")))
			if readYourWrites {
				close(deliver)
				must(t, read(mgr.GetClient(), "made"))
				return
			}
			err := read(mgr.GetClient(), "made")
			t.Logf("it is made; the cache says: %v", err)
			if !apierrors.IsNotFound(err) {
				t.Errorf("the cache says %v", err)
			}
			must(t, read(mgr.GetAPIReader(), "made"))
			close(deliver)
		})
	}
}

func TestWhoWokeMe(t *testing.T) {
	for _, test := range []struct { // in the order of the README
		sentence string
		filter   []builder.ForOption
		want     int
	}{
		{"its own write of the status", nil, 2},
		{"only the user, by GenerationChangedPredicate", []builder.ForOption{builder.WithPredicates(predicate.GenerationChangedPredicate{})}, 1},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			config, api, namespace := newAPIServer(t)
			mgr := newTestManager(t, config, namespace, nil)
			calls, written, later := 0, make(chan struct{}), make(chan struct{})
			// It writes the status if there is none: then there is nothing to do.
			reconciler := reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
				if key.Name == "later" {
					close(later)
					return ctrl.Result{}, nil
				}
				calls++
				foo := &v1alpha1.Foo{}
				if err := api.Get(ctx, key.NamespacedName, foo); err != nil || foo.Status.ObservedGeneration > 0 {
					return ctrl.Result{}, err
				}
				foo.Status.ObservedGeneration = foo.Generation
				defer close(written)
				return ctrl.Result{}, api.Status().Update(ctx, foo)
			})
			must(t, ctrl.NewControllerManagedBy(mgr).For(&v1alpha1.Foo{}, test.filter...).Complete(reconciler))
			startManager(t, mgr)

			must(t, api.Create(t.Context(), fooIn(namespace, "first")))
			<-written
			must(t, api.Create(t.Context(), fooIn(namespace, "later"))) // there is one worker: all events before this one's are dealt with
			<-later
			t.Logf("one Foo was created, and reconciled %d times", calls)
			if calls != test.want {
				t.Errorf("it was reconciled %d times, want %d", calls, test.want)
			}
		})
	}
}

func TestAGetThatHangs(t *testing.T) {
	environment, err := startAPIServer()
	must(t, err)
	config, _, namespace := newAPIServer(t)
	nobody, err := environment.AddUser(envtest.User{Name: "nobody"}, config) // who may do nothing
	must(t, err)
	secret := client.ObjectKey{Namespace: namespace, Name: "a"}

	ctx, giveUp := context.WithCancelCause(t.Context())
	refused := errors.New("the server refuses the watch")
	mgr := newTestManager(t, nobody.Config(), namespace, func(options *ctrl.Options) {
		options.Cache.DefaultWatchErrorHandler = func(_ context.Context, _ *toolscache.Reflector, err error) {
			if apierrors.IsForbidden(err) {
				giveUp(refused)
			}
		}
	})
	startManager(t, mgr)
	err = mgr.GetClient().Get(ctx, secret, &corev1.Secret{})
	t.Logf("from the cache, once somebody else gives up: %v", err)
	if context.Cause(ctx) != refused || apierrors.IsForbidden(err) {
		t.Errorf("it didn't wait for the cache: %v", err)
	}

	err = mgr.GetAPIReader().Get(t.Context(), secret, &corev1.Secret{})
	t.Logf("from the server: %v", err)
	if !apierrors.IsForbidden(err) {
		t.Errorf("the server answers %v", err)
	}

	strict := newTestManager(t, nobody.Config(), namespace, func(o *ctrl.Options) { o.Cache = cacheOptions(options{namespace: namespace}) })
	startManager(t, strict)
	err = strict.GetClient().Get(t.Context(), secret, &corev1.Secret{})
	t.Logf("with ReaderFailOnMissingInformer: %v", err)
	if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
		t.Errorf("the cache answers %v", err)
	}
}

func TestWhoseObjectIsIt(t *testing.T) {
	for _, test := range []struct { // in the order of the README
		sentence string
		shared   bool
	}{
		{"a copy", false},
		{"the cache's, with UnsafeDisableDeepCopy", true},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			config, api, namespace := newAPIServer(t)
			must(t, api.Create(t.Context(), configMap(namespace, "a")))
			mgr := newTestManager(t, config, namespace, func(options *ctrl.Options) { options.Cache.DefaultUnsafeDisableDeepCopy = &test.shared })
			startManager(t, mgr)
			var list, again corev1.ConfigMapList
			must(t, mgr.GetClient().List(t.Context(), &list))
			list.Items[0].Data["colour"] = "red" // nobody has said so to the server
			must(t, mgr.GetClient().List(t.Context(), &again))
			t.Logf("the cache says now that it is %s", again.Items[0].Data["colour"])
			if changed := again.Items[0].Data["colour"] == "red"; changed != test.shared {
				t.Errorf("the cache has changed: %v, want %v", changed, test.shared)
			}
		})
	}
}

func TestAnUpdateEachTime(t *testing.T) {
	for _, test := range []struct { // in the order of the README
		sentence string
		mutate   func(observed, desired *appsv1.Deployment)
		want     []controllerutil.OperationResult
	}{
		{"the whole spec is set", func(observed, desired *appsv1.Deployment) { observed.Spec = desired.Spec }, []controllerutil.OperationResult{
			controllerutil.OperationResultCreated, controllerutil.OperationResultUpdated, controllerutil.OperationResultUpdated,
		}},
		{"the fields that are meant are set", func(observed, desired *appsv1.Deployment) {
			if observed.CreationTimestamp.IsZero() {
				observed.Spec = desired.Spec
				return
			}
			observed.Spec.Replicas = desired.Spec.Replicas
			observed.Spec.Template.Spec.Containers[0].Image = desired.Spec.Template.Spec.Containers[0].Image
		}, []controllerutil.OperationResult{
			controllerutil.OperationResultCreated, controllerutil.OperationResultNone, controllerutil.OperationResultNone,
		}},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			_, api, namespace := newAPIServer(t)
			var said []controllerutil.OperationResult
			stored := map[string]bool{}
			for range test.want {
				desired := applied(desiredDeployment(aFoo("a", "a", 1)))
				unowned(desired)
				observed := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}
				result, err := controllerutil.CreateOrUpdate(t.Context(), api, observed, func() error {
					test.mutate(observed, desired)
					return nil
				})
				must(t, err)
				said = append(said, result)
				stored[observed.ResourceVersion] = true
			}
			t.Logf("it is called three times, and says: %s; the server has stored %d version", said, len(stored))
			if !slices.Equal(said, test.want) || len(stored) != 1 {
				t.Errorf("want %s, and one version", test.want)
			}
		})
	}
}

func TestNobodyCollectsTheGarbage(t *testing.T) {
	_, api, namespace := newAPIServer(t)
	foo := fooIn(namespace, "a")
	must(t, api.Create(t.Context(), foo))
	must(t, api.Apply(t.Context(), desiredDeployment(foo), fieldManager))
	must(t, api.Delete(t.Context(), foo))
	left := &appsv1.Deployment{}
	err := api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, left)
	t.Logf("the Foo is deleted. Its Deployment: error %v, %d replicas, %d available", err, *left.Spec.Replicas, left.Status.AvailableReplicas)
	if err != nil {
		t.Errorf("something has deleted the Deployment: %v", err)
	}
	// So a test asks for what the garbage collector will go by.
	if !metav1.IsControlledBy(left, foo) {
		t.Error("no owner reference says that it goes with its Foo")
	}
}

// newTestManager returns a manager with a cache of one namespace. Nothing runs yet.
func newTestManager(t *testing.T, config *rest.Config, namespace string, change func(*ctrl.Options)) ctrl.Manager {
	t.Helper()
	types, err := newScheme()
	must(t, err)
	options := ctrl.Options{
		Scheme:     types,
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:    server.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}, // each test makes its own
	}
	if change != nil {
		change(&options)
	}
	mgr, err := ctrl.NewManager(config, options)
	must(t, err)
	return mgr
}

// startManager runs mgr until the test ends.
func startManager(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache wasn't filled")
	}
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"colour": "blue"}}
}

func fooIn(namespace, name string) *v1alpha1.Foo {
	return &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1alpha1.FooSpec{DeploymentName: name}}
}
