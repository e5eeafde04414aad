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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
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
			log := captureLog(t)
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
	for reads, test := range map[string]struct {
		change    func(*options)
		kept      []client.Object
		notCached []client.Object
	}{
		"typed": {
			waysToRead["typed"],
			[]client.Object{&v1alpha1.Foo{}, &appsv1.Deployment{}},
			[]client.Object{&corev1.Secret{}}, // what is asked for without a type isn't cached either: there the server answers
		},
		"unstructured": {
			waysToRead["unstructured"],
			[]client.Object{untyped(fooKind), untyped(appsv1.SchemeGroupVersion.WithKind("Deployment"))},
			[]client.Object{&corev1.Secret{}, untyped(corev1.SchemeGroupVersion.WithKind("Secret")), &v1alpha1.Foo{}, &appsv1.Deployment{}},
		},
	} {
		t.Run(reads, func(t *testing.T) {
			a := newAudience(t, test.change)
			a.create(example)
			a.makeByHand(deploymentOf(aFoo("other", "example", 1)))
			a.settle()
			key := client.ObjectKey{Namespace: a.namespace, Name: "example"}
			for _, object := range test.kept {
				must(t, a.mgr.GetClient().Get(t.Context(), key, object))
				// Who owns which field takes a third of the memory, and nobody here asks for it.
				if fields := object.GetManagedFields(); len(fields) > 0 {
					t.Errorf("a %T is kept with its managed fields", object)
				}
			}
			for _, object := range test.notCached {
				err := a.mgr.GetClient().Get(t.Context(), key, object)
				if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
					t.Errorf("a %T: got the error %v, want that it isn't cached", object, err)
				}
			}
		})
	}
}
