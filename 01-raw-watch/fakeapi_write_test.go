// The writes that the API server in memory accepts, and those that it refuses.

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
)

func (a *fakeAPI) write(r *http.Request) (*unstructured.Unstructured, *apierrors.StatusError) {
	sent := &unstructured.Unstructured{}
	if body, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(body, &sent.Object) != nil {
		return nil, apierrors.NewBadRequest("the body is not JSON")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	target, toStatus := strings.CutSuffix(r.URL.Path, "/status")
	if r.Method == http.MethodPost {
		target += "/" + sent.GetName()
	}
	old := a.objects[target]
	conflict := apierrors.NewConflict(schema.GroupResource{}, target, errors.New("the object has been modified"))
	switch {
	case r.Method == http.MethodPost && old != nil:
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{}, target)
	case r.Method == http.MethodPost:
		sent.SetUID(types.UID(fmt.Sprintf("uid %d", len(a.history))))
		sent.SetGeneration(1)
		return a.commit(watch.Added, target, sent), nil
	case old == nil:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, target)
	case r.Method == http.MethodDelete:
		if uid, found, _ := unstructured.NestedString(sent.Object, "preconditions", "uid"); found && uid != string(old.GetUID()) {
			return nil, conflict
		}
		return a.commit(watch.Deleted, target, old.DeepCopy()), nil
	case sent.GetResourceVersion() != old.GetResourceVersion():
		return nil, conflict
	case toStatus:
		updated := old.DeepCopy()
		updated.Object["status"] = sent.Object["status"]
		return a.commit(watch.Modified, target, updated), nil
	}
	sent.Object["status"] = old.Object["status"]
	if !reflect.DeepEqual(sent.Object["spec"], old.Object["spec"]) {
		sent.SetGeneration(old.GetGeneration() + 1)
	}
	return a.commit(watch.Modified, target, sent), nil
}

// commit makes one change. It never modifies an object that the server has returned, but replaces
// it.
func (a *fakeAPI) commit(eventType watch.EventType, path string, object *unstructured.Unstructured) *unstructured.Unstructured {
	object.SetResourceVersion(strconv.Itoa(len(a.history) + 1))
	a.history = append(a.history, change{path, eventType, object})
	a.objects[path] = object
	if eventType == watch.Deleted {
		delete(a.objects, path)
	}
	close(a.changed)
	a.changed = make(chan struct{})
	return object
}
