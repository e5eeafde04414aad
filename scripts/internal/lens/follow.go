package lens

// What lens itself sees of the cluster: the versions of objects, from its own informers, and the
// requests of other clients, from the API server's audit log.

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/operator"
)

// userAgent identifies lens's own requests, which the lane of other clients leaves out.
const userAgent = "lens"

// follow shows each version of the objects in a namespace.
func (s *Session) follow(ctx context.Context, namespace string) error {
	kinds := []schema.GroupVersionResource{s.resource, deployments}
	if s.sample.GetKind() == chapters.TDSet {
		kinds = append(kinds,
			schema.GroupVersionResource{Version: "v1", Resource: "services"},
			schema.GroupVersionResource{Version: "v1", Resource: "pods"},
			schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"})
	}
	return operator.Follow(ctx, s.dynamic, namespace, kinds, func(
		of schema.GroupVersionResource, event watch.EventType, seen *unstructured.Unstructured,
	) {
		deleted := event == watch.Deleted
		s.observer.Stored(of.Resource, seen, deleted)
		if seen.GetKind() == s.sample.GetKind() {
			s.list(seen.GetName(), deleted)
		}
	})
}

// list keeps the names of the managed objects, for the page's choice.
func (s *Session) list(name string, deleted bool) {
	s.set(func() {
		at := slices.Index(s.objects, name)
		switch {
		case deleted && at >= 0:
			s.objects = slices.Delete(s.objects, at, at+1)
		case !deleted && at < 0:
			s.objects = append(s.objects, name)
		}
	})
}

// followOthers shows the requests of other clients in a program's namespace until ctx ends.
func (s *Session) followOthers(ctx context.Context, namespace string) error {
	log := audit.Log{Path: s.AuditLog}
	if err := log.SkipToEnd(); errors.Is(err, os.ErrNotExist) {
		return nil // this cluster keeps its log elsewhere, so the lane stays empty
	} else if err != nil {
		return err
	}
	account := audit.ServiceAccount(namespace, operator.ServiceAccount)
	go func() {
		for ctx.Err() == nil {
			requests, err := log.Requests("")
			if err != nil {
				s.Recorder.Add(Item{
					Lane: Others, At: milliseconds(time.Now()), Failed: true,
					Label: "the audit log can't be read", Explain: err.Error(),
				})
				return
			}
			for _, request := range requests {
				isOurs := request.User == account || strings.HasPrefix(request.UserAgent, userAgent)
				isServers := strings.HasPrefix(request.UserAgent, "kube-apiserver/") // its own reads
				if request.Namespace == namespace && !isOurs && !isServers {
					s.observer.otherRequested(request)
				}
			}
			_ = sleep(ctx, 200*time.Millisecond)
		}
	}()
	return nil
}
