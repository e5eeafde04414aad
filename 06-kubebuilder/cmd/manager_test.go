// What the manager is set to: what it waits for, and what its cache keeps and refuses.

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
)

var (
	foosResource = v1alpha1.GroupVersion.WithResource("foos")
	fooKind      = v1alpha1.GroupVersion.WithKind("Foo")
)

func TestWaitForCRD(t *testing.T) {
	for sentence, test := range map[string]struct {
		known    time.Duration // after which the server knows Foos; negative: never
		told     time.Duration // after which the program is told to stop; 0: it isn't
		want     time.Duration // after which it has returned
		wantErr  error
		wantSaid int
	}{
		"the CRD is there":                 {known: 0, want: 0, wantSaid: 0},
		"it is applied after a minute":     {known: time.Minute, want: time.Minute, wantSaid: 1},
		"it isn't applied before the end":  {known: -1, told: time.Minute, want: time.Minute, wantErr: context.Canceled, wantSaid: 1},
		"the end has come before it began": {known: -1, told: 1, want: 1, wantErr: context.Canceled, wantSaid: 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			log := utils.CaptureLog(t)
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if test.told > 0 {
					time.AfterFunc(test.told, stop)
				}
				began := time.Now()

				err := waitForCRD(ctx, laterMapper{known: test.known, began: began})

				if took := time.Since(began); took != test.want || !errors.Is(err, test.wantErr) {
					t.Errorf("it returned %v after %v, want %v after %v", err, took, test.wantErr, test.want)
				}
			})
			if said := strings.Count(log.String(), "is the CRD applied?"); said != test.wantSaid {
				t.Errorf("it said %d times what it waits for, want %d:\n%s", said, test.wantSaid, log)
			}
		})
	}
}

// laterMapper is a RESTMapper that knows Foos after a while.
type laterMapper struct {
	meta.RESTMapper
	known time.Duration
	began time.Time
}

func (m laterMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if m.known < 0 || time.Since(m.began) < m.known {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{Resource: foosResource, GroupVersionKind: fooKind}, nil
}

func TestCacheOptions(t *testing.T) {
	all := cacheOptions(options{})
	if len(all.DefaultNamespaces) != 0 || all.SyncPeriod != nil {
		t.Errorf("by default: the namespaces %v, resyncs every %v; want all, and controller-runtime's own", all.DefaultNamespaces, all.SyncPeriod)
	}
	some := cacheOptions(options{namespace: "blue", resync: time.Hour})
	if _, blue := some.DefaultNamespaces["blue"]; !blue || len(some.DefaultNamespaces) != 1 || *some.SyncPeriod != time.Hour {
		t.Errorf("the namespaces %v, resyncs every %v; want blue, and every hour", some.DefaultNamespaces, *some.SyncPeriod)
	}
}

// What is read is watched: of any other type the cache would have to begin to, and says instead
// that it doesn't, at once.
func TestTheCacheKeepsWhatIsWatched(t *testing.T) {
	config, api, namespace := newAPIServer(t)
	o := options{namespace: namespace, workers: 1, metricsAddress: "0", probeAddress: "0"}
	mgr, err := newManager(config, o)
	must(t, err)
	must(t, setUp(t.Context(), oneOfMany{mgr}, o))
	runManager(t, mgr)
	foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "example"}, Spec: v1alpha1.FooSpec{DeploymentName: "example"}}
	must(t, api.Create(t.Context(), foo))

	key := client.ObjectKeyFromObject(foo)
	for _, object := range []client.Object{&v1alpha1.Foo{}, &appsv1.Deployment{}} {
		eventually(t, "the cache has it", nil, func(ctx context.Context) bool { return mgr.GetClient().Get(ctx, key, object) == nil })
		// Who owns which field takes a third of the memory, and nobody here asks for it.
		if fields := object.GetManagedFields(); len(fields) > 0 {
			t.Errorf("a %T is kept with its managed fields", object)
		}
	}
	err = mgr.GetClient().Get(t.Context(), key, &corev1.Secret{})
	if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
		t.Errorf("a Secret: got the error %v, want that it isn't cached", err)
	}
}

// oneOfMany is a manager beside others in the same program. Else each controller would need a name
// of its own, for its metrics.
type oneOfMany struct{ ctrl.Manager }

func (m oneOfMany) GetControllerOptions() config.Controller {
	options := m.Manager.GetControllerOptions()
	options.SkipNameValidation = new(true)
	return options
}

// runManager runs a manager until the test ends.
func runManager(t *testing.T, mgr ctrl.Manager) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
}
