// Namespaces that are being deleted. The API server refuses to create anything in them. Their
// objects will be deleted soon, but until then every event would cause another refused write. This
// file is here for production and is the same in every chapter, so read it last.

package main

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

// terminatingOwners remembers objects whose namespace is being deleted. The cache has a limit, so
// that it stays small. An object that it has forgotten costs one more write.
type terminatingOwners struct {
	once sync.Once
	uids *lru.Cache
}

func (t *terminatingOwners) cache() *lru.Cache {
	t.once.Do(func() { t.uids = lru.New(10_000) })
	return t.uids
}

// refused reports whether err means that owner's namespace is being deleted. If so, it remembers
// owner.
func (t *terminatingOwners) refused(owner metav1.Object, err error) bool {
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return false
	}
	t.cache().Add(owner.GetUID(), nil)
	return true
}

// has reports whether a write for owner was refused before.
func (t *terminatingOwners) has(owner metav1.Object) bool {
	_, found := t.cache().Get(owner.GetUID())
	return found
}
