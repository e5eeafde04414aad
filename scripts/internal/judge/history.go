package judge

// Everything that happens to the objects of a scenario, as watches show it.

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/operators/scripts/internal/operator"
)

// snapshot is an object as it was at some time. Of a deleted object, it is the last one.
type snapshot struct {
	at     time.Time // when the judge saw it
	event  watch.EventType
	object *unstructured.Unstructured
}

func (v snapshot) evidence() Evidence { return Evidence{v.at, title(v.object), asYAML(v.object)} }

// history has the versions of all objects of some kinds in a namespace, in the order of their
// arrival.
type history struct {
	mutex    sync.Mutex
	versions []snapshot
	present  map[types.UID]*unstructured.Unstructured
}

// follow begins the history of what the scenario watches, with the existing objects.
func (s *scenario) follow() {
	h, page := &history{present: map[types.UID]*unstructured.Unstructured{}}, s.page
	s.history = h
	namespace := s.namespace
	if s.isClusterScoped {
		namespace = metav1.NamespaceAll
	}
	s.must(operator.Follow(s.ctx, s.dynamic, namespace, s.watched(),
		func(resource schema.GroupVersionResource, event watch.EventType, now *unstructured.Unstructured) {
			h.add(event, now)
			if page != nil {
				page.Stored(resource.Resource, now, event == watch.Deleted)
			}
		}))
}

func (h *history) add(event watch.EventType, version *unstructured.Unstructured) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	before := h.present[version.GetUID()]
	if event == watch.Modified && before != nil && before.GetResourceVersion() == version.GetResourceVersion() {
		return // a new list
	}
	h.versions = append(h.versions, snapshot{time.Now(), event, version})
	if event == watch.Deleted {
		delete(h.present, version.GetUID())
	} else {
		h.present[version.GetUID()] = version
	}
}

// objects returns those that exist and that include accepts, sorted by kind and name.
func (h *history) objects(include func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	h.mutex.Lock()
	all := slices.Collect(maps.Values(h.present))
	h.mutex.Unlock()
	// Without the mutex, because include may ask for other objects.
	objects := slices.DeleteFunc(all, func(object *unstructured.Unstructured) bool { return !include(object) })
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int { return strings.Compare(title(a), title(b)) })
	return objects
}

// now returns an object as it is, or nil if it is gone.
func (h *history) now(object *unstructured.Unstructured) *unstructured.Unstructured {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.present[object.GetUID()]
}

// since returns the versions that arrived after that time.
func (h *history) since(when time.Time) []snapshot {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	first := slices.IndexFunc(h.versions, func(v snapshot) bool { return v.at.After(when) })
	if first < 0 {
		return nil
	}
	return slices.Clone(h.versions[first:])
}

// of returns all versions of an object.
func (h *history) of(object *unstructured.Unstructured) []snapshot {
	return slices.DeleteFunc(h.since(time.Time{}), func(v snapshot) bool { return v.object.GetUID() != object.GetUID() })
}

// asOf returns the objects that existed at that resourceVersion and that include accepts, as they were.
// It compares versions of different resources, which works only if they are stored in the same etcd,
// as they are in the judge's clusters. Otherwise, the result is a guess.
func (h *history) asOf(
	resourceVersion string, include func(*unstructured.Unstructured) bool,
) []*unstructured.Unstructured {
	existing := map[types.UID]*unstructured.Unstructured{}
	for _, v := range h.since(time.Time{}) {
		order, err := resourceversion.CompareResourceVersion(v.object.GetResourceVersion(), resourceVersion)
		switch {
		case err != nil || order > 0 || !include(v.object):
		case v.event == watch.Deleted:
			delete(existing, v.object.GetUID())
		default:
			existing[v.object.GetUID()] = v.object
		}
	}
	return slices.Collect(maps.Values(existing))
}

// title names an object in findings: Deployment web.
func title(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}
