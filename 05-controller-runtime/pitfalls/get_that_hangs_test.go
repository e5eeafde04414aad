// Your program isn't allowed to read Secrets, so you expect a Get of one to return a 403. But it
// doesn't return at all: the first read of a type starts an informer for that type and waits until
// the informer has listed all its objects. The list is forbidden, so the informer retries forever,
// and your worker waits just as long.
//
// Set ReaderFailOnMissingInformer, as chapter 06 does in its manager. A read of a type that has no
// informer is then an error at once. To read such a type from the server, use GetAPIReader.

package pitfalls

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestGetUnwatched(t *testing.T) {
	c := testenv.New(t)
	nobody, err := c.Server.AddUser(envtest.User{Name: "nobody"}, nil) // has no permissions
	must(t, err)
	c.Config = nobody.Config()
	secret := client.ObjectKey{Namespace: c.Namespace, Name: "a"}

	t.Run("wrong: read from the cache", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		forbidden := errors.New("the informer's list was forbidden")
		mgr := c.NewManager(t, func(options *ctrl.Options) {
			options.Cache.DefaultWatchErrorHandler = func(
				_ context.Context, _ *toolscache.Reflector, err error,
			) {
				if apierrors.IsForbidden(err) {
					cancel(forbidden) // otherwise Get would never return
				}
			}
		})
		start(t, mgr)
		err := mgr.GetClient().Get(ctx, secret, &corev1.Secret{})
		t.Logf("Get, once the test cancels it: %v", err)
		if context.Cause(ctx) != forbidden || apierrors.IsForbidden(err) {
			t.Errorf("Get returned %v, want it to wait for the informer until it is cancelled", err)
		}
	})

	t.Run("right: set ReaderFailOnMissingInformer", func(t *testing.T) {
		mgr := c.NewManager(t, func(options *ctrl.Options) {
			options.Cache.ReaderFailOnMissingInformer = true
		})
		start(t, mgr)
		err := mgr.GetClient().Get(t.Context(), secret, &corev1.Secret{})
		t.Logf("Get: %v", err)
		if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
			t.Errorf("Get returned %v, want ErrResourceNotCached", err)
		}
	})

	t.Run("right: read from the server", func(t *testing.T) {
		err := c.NewManager(t).GetAPIReader().Get(t.Context(), secret, &corev1.Secret{})
		t.Logf("Get: %v", err)
		if !apierrors.IsForbidden(err) {
			t.Errorf("Get returned %v, want Forbidden", err)
		}
	})
}
