// Your operator needs one Secret, so it reads it with Get. Its memory grows by all Secrets of the
// cluster, because the first read of a type starts an informer that caches every object of that
// type. On a cluster with many Helm releases, that may be gigabytes, and the Pod is killed.
//
// Cache less: only your own objects (a label selector), only your namespaces, only the metadata, or
// without the fields that you never read (a transform). Or cache none, and read from the server.

package pitfalls

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/05-controller-runtime/test/testenv"
)

const (
	secrets    = 200
	secretSize = 10_000 // bytes of data
	ours       = 4      // Secrets with our label
)

// withoutData is a transform. It is called before an object gets into the cache.
func withoutData(object any) (any, error) {
	if secret, ok := object.(*corev1.Secret); ok {
		secret.Data = nil
		secret.ManagedFields = nil
	}
	return object, nil
}

func TestCacheSize(t *testing.T) {
	c := newClusterWithSecrets(t)
	secretsOnly := func(by cache.ByObject) func(*ctrl.Options) {
		return func(options *ctrl.Options) {
			options.Cache.ByObject = map[client.Object]cache.ByObject{&corev1.Secret{}: by}
		}
	}
	onlyOurs := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{"app": "ours"})}
	// What is read: Secrets, or only their metadata.
	secret, secretList := &corev1.Secret{}, &corev1.SecretList{}
	metadata := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
	metadataList := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}}
	for _, test := range []struct {
		sentence string
		options  func(*ctrl.Options)
		object   client.Object
		list     client.ObjectList
		cached   int
		// The heap per Secret of the cluster, in bytes. The bounds leave room for other versions of
		// Go and of the libraries, and the differences are much bigger than that.
		atLeast, atMost int
	}{
		{
			sentence: "wrong: cache everything",
			options:  func(*ctrl.Options) {},
			object:   secret,
			list:     secretList,
			cached:   secrets,
			atLeast:  secretSize,
			atMost:   2 * secretSize,
		},
		{
			sentence: "right: a transform drops the data",
			options:  secretsOnly(cache.ByObject{Transform: withoutData}),
			object:   secret,
			list:     secretList,
			cached:   secrets,
			atMost:   secretSize / 3,
		},
		{
			sentence: "right: only the metadata",
			options:  func(*ctrl.Options) {},
			object:   metadata,
			list:     metadataList,
			cached:   secrets,
			atMost:   secretSize / 3,
		},
		{
			sentence: "right: only ours, by label",
			options:  secretsOnly(onlyOurs),
			object:   secret,
			list:     secretList,
			cached:   ours,
			atMost:   secretSize / 3,
		},
		{
			sentence: "right: only another namespace",
			options:  secretsOnly(cache.ByObject{Namespaces: map[string]cache.Config{"default": {}}}),
			object:   secret,
			list:     secretList,
			cached:   0,
			atMost:   secretSize / 3,
		},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			mgr := c.NewManager(t, test.options)
			start(t, mgr)
			before := heap()
			informer, err := mgr.GetCache().GetInformer(t.Context(), test.object) // as the first Get does
			must(t, err)
			if !informer.HasSynced() {
				t.Fatal("GetInformer has returned before the cache was filled")
			}
			perSecret := max(0, heap()-before) / secrets

			t.Logf("a Secret of %d bytes takes %d bytes of heap", secretSize, perSecret)
			if perSecret < test.atLeast || perSecret > test.atMost {
				t.Errorf("want %d to %d bytes", test.atLeast, test.atMost)
			}
			must(t, mgr.GetCache().List(t.Context(), test.list))
			if got := meta.LenList(test.list); got != test.cached {
				t.Errorf("the cache has %d Secrets, want %d", got, test.cached)
			}
		})
	}

	t.Run("wrong: read what isn't cached", func(t *testing.T) {
		mgr := c.NewManager(t, secretsOnly(onlyOurs))
		start(t, mgr)
		theirs := client.ObjectKey{Namespace: c.Namespace, Name: "s199"}
		err := mgr.GetClient().Get(t.Context(), theirs, &corev1.Secret{})
		t.Logf("Get from the cache: %v; from the server: %v", err, mgr.GetAPIReader().Get(t.Context(), theirs, &corev1.Secret{}))
		if !apierrors.IsNotFound(err) {
			t.Errorf("Get returned %v, want NotFound", err)
		}
	})
}

// newClusterWithSecrets has a namespace with Secrets, of which a few have our label.
func newClusterWithSecrets(t *testing.T) testenv.Cluster {
	t.Helper()
	c := testenv.New(t)
	for i := range secrets {
		secret := &corev1.Secret{
			ObjectMeta: c.Meta(fmt.Sprintf("s%d", i)),
			Data:       map[string][]byte{"release": make([]byte, secretSize)},
		}
		if i < ours {
			secret.Labels = map[string]string{"app": "ours"}
		}
		must(t, c.Create(t.Context(), secret))
	}
	return c
}

// heap returns the size of everything that is still in use.
func heap() int {
	runtime.GC()
	runtime.GC() // what the first one has only found to be unused is freed now
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
