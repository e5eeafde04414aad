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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/controller"
	"example.com/operators/07-tdset-operator/test/utils"
)

var tdsetKind = schedulev1.GroupVersion.WithKind("TDSet")

func TestWaitForCRD(t *testing.T) {
	for sentence, test := range map[string]struct {
		kind     string        // which the server doesn't know at first; "": all
		known    time.Duration // after which it knows that too; negative: never
		told     time.Duration // after which the program is told to stop; 0: it isn't
		want     time.Duration // after which it has returned
		wantErr  error
		wantSaid int
	}{
		"the CRD is there":                 {known: 0, want: 0, wantSaid: 0},
		"it is applied after a minute":     {known: time.Minute, want: time.Minute, wantSaid: 1},
		"Deployments come later still":     {kind: "Deployment", known: time.Hour, want: time.Hour, wantSaid: 1},
		"Services do":                      {kind: "Service", known: time.Hour, want: time.Hour, wantSaid: 1},
		"Pods do":                          {kind: "Pod", known: time.Hour, want: time.Hour, wantSaid: 1},
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

				err := waitForCRD(ctx, laterMapper{kind: test.kind, known: test.known, began: began})

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

// laterMapper is a RESTMapper that knows a kind, or all of them, after a while.
type laterMapper struct {
	meta.RESTMapper
	kind  string
	known time.Duration
	began time.Time
}

func (m laterMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if (m.kind == "" || m.kind == kind.Kind) && (m.known < 0 || time.Since(m.began) < m.known) {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{}, nil
}

func TestCacheOptions(t *testing.T) {
	all := cacheOptions(options{})
	if len(all.DefaultNamespaces) != 0 || all.SyncPeriod != nil {
		t.Errorf("by default: the namespaces %v, resyncs every %v; want all, and controller-runtime's own", all.DefaultNamespaces, all.SyncPeriod)
	}
	for _, kept := range all.ByObject {
		if of, other := (labels.Set{"schedule.rs/tdset": "any"}), (labels.Set{"app": "any"}); !kept.Label.Matches(of) || kept.Label.Matches(other) {
			t.Errorf("the Pods that are kept are those with the labels %v, want TDSets'", kept.Label)
		}
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
	mapper, err := newMapper(config)
	must(t, err)
	mgr, err := newManager(config, mapper, o)
	must(t, err)
	must(t, setUp(t.Context(), oneOfMany{mgr}, o))
	runManager(t, mgr)
	tdset := tdsetOf(namespace)
	must(t, api.Create(t.Context(), tdset))
	label := map[string]string{controller.TDSetLabel: tdset.Name}
	evicted := podOf(namespace, "evicted", label)
	must(t, api.Create(t.Context(), podOf(namespace, "another", nil)))
	must(t, api.Create(t.Context(), evicted))
	evicted.Status.Phase = corev1.PodFailed
	must(t, api.Status().Update(t.Context(), evicted))
	must(t, api.Create(t.Context(), podOf(namespace, tdset.Name, label)))

	key := client.ObjectKeyFromObject(tdset)
	for _, object := range []client.Object{&schedulev1.TDSet{}, &appsv1.Deployment{}, &corev1.Service{}, metadataOfPods()} {
		eventually(t, "the cache has it", nil, func(ctx context.Context) bool { return mgr.GetClient().Get(ctx, key, object) == nil })
		// Who owns which field takes a third of the memory, and nobody here asks for it.
		if fields := object.GetManagedFields(); len(fields) > 0 {
			t.Errorf("a %T is kept with its managed fields", object)
		}
	}
	// What happened to these came before that Pod.
	for name, what := range map[string]string{"another": "that isn't a TDSet's", "evicted": "that has finished"} {
		if err := mgr.GetClient().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, metadataOfPods()); !apierrors.IsNotFound(err) {
			t.Errorf("a Pod %s: got the error %v, want that there is none", what, err)
		}
	}
	for what, object := range map[string]client.Object{"a Secret": &corev1.Secret{}, "a whole Pod": &corev1.Pod{}} {
		err := mgr.GetClient().Get(t.Context(), key, object)
		if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
			t.Errorf("%s: got the error %v, want that it isn't cached", what, err)
		}
	}
}

// tdsetOf returns a TDSet that asks for all that there is to ask for, and needs no Pods: nobody
// makes any here.
func tdsetOf(namespace string) *schedulev1.TDSet {
	return &schedulev1.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "example"},
		Spec: schedulev1.TDSetSpec{
			Container:        schedulev1.Container{Image: "nginx", Port: 80},
			Service:          &schedulev1.Service{Port: 8080},
			SchedulingConfig: []schedulev1.Scheduling{{StartTime: 0, EndTime: 24, Replica: 2}},
			DefaultReplica:   1,
		},
	}
}

func podOf(namespace, name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "any", Image: "any"}}},
	}
}

// metadataOfPods returns an object to read the metadata of a Pod into.
func metadataOfPods() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
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
	go func() { ended <- start(ctx, mgr) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
}
