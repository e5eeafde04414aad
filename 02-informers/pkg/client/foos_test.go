// The requests that the client sends, and how it decodes the responses.

package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

const (
	allFoos = "/apis/samplecontroller.k8s.io/v1alpha1/foos"
	ourFoos = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos"
)

var foo = &samplecontrollerv1alpha1.Foo{
	TypeMeta:   metav1.TypeMeta{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo"},
	ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example", ResourceVersion: "7"},
	Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(3))},
	Status:     samplecontrollerv1alpha1.FooStatus{AvailableReplicas: 2},
}

// decoded compares objects that the client has decoded. They have no apiVersion and kind, because
// their Go type stands in for both.
var decoded = cmpopts.IgnoreTypes(metav1.TypeMeta{})

func TestReads(t *testing.T) {
	list := &samplecontrollerv1alpha1.FooList{
		TypeMeta: metav1.TypeMeta{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "FooList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "42"},
		Items:    []samplecontrollerv1alpha1.Foo{*foo},
	}
	for name, test := range map[string]struct {
		read     func(ctx context.Context, c Interface) (any, error)
		want     string // the request
		response []any
		result   any
	}{
		"a list of all namespaces": {
			read: func(ctx context.Context, c Interface) (any, error) {
				return c.Foos("").List(ctx, metav1.ListOptions{})
			},
			want:     "GET " + allFoos,
			response: []any{list},
			result:   list,
		},
		"a page of a list of one namespace": {
			read: func(ctx context.Context, c Interface) (any, error) {
				return c.Foos("default").List(ctx, metav1.ListOptions{Limit: 500, ResourceVersion: "0"})
			},
			want:     "GET " + ourFoos + "?limit=500&resourceVersion=0",
			response: []any{list},
			result:   list,
		},
		"a watch with the options of an informer": {
			read: func(ctx context.Context, c Interface) (any, error) {
				stream, err := c.Foos("default").Watch(ctx, metav1.ListOptions{
					SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
				})
				if err != nil {
					return nil, err
				}
				defer stream.Stop()
				return []watch.Event{<-stream.ResultChan(), <-stream.ResultChan()}, nil
			},
			want: "GET " + ourFoos + "?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			response: []any{
				map[string]any{"type": "ADDED", "object": foo},
				map[string]any{"type": "DELETED", "object": foo},
			},
			result: []watch.Event{{Type: watch.Added, Object: foo}, {Type: watch.Deleted, Object: foo}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
				got = r.Method + " " + r.URL.String()
				send(w, http.StatusOK, test.response...)
			})

			result, err := test.read(t.Context(), c)

			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.result, result, decoded); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// A status goes to its own endpoint, in a whole Foo, because the server needs the Foo's
// resourceVersion to detect a conflict.
func TestUpdateStatus(t *testing.T) {
	stored := foo.DeepCopy()
	stored.ResourceVersion = "8"
	var request string
	var sent samplecontrollerv1alpha1.Foo
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		request = r.Method + " " + r.URL.String()
		json.NewDecoder(r.Body).Decode(&sent)
		send(w, http.StatusOK, stored)
	})

	inCache := foo.DeepCopy()
	inCache.TypeMeta = metav1.TypeMeta{} // as in a cache; the request must have it nevertheless
	got, err := c.Foos("default").UpdateStatus(t.Context(), inCache, metav1.UpdateOptions{})

	if err != nil {
		t.Fatal(err)
	}
	if want := "PUT " + ourFoos + "/example/status"; request != want {
		t.Errorf("got the request %s, want %s", request, want)
	}
	if diff := cmp.Diff(foo, &sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored, got, decoded); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// If the server refuses a request, the caller gets the reason, and can check it with apierrors.
func TestErrors(t *testing.T) {
	refusal := apierrors.NewConflict(samplecontrollerv1alpha1.GroupVersion.WithResource("foos").GroupResource(), "example", errors.New("it has changed")).ErrStatus
	refusal.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) { send(w, int(refusal.Code), refusal) })

	_, listErr := c.Foos("").List(t.Context(), metav1.ListOptions{})
	_, watchErr := c.Foos("").Watch(t.Context(), metav1.ListOptions{})
	_, updateErr := c.Foos(foo.Namespace).UpdateStatus(t.Context(), foo, metav1.UpdateOptions{})

	for verb, err := range map[string]error{"list": listErr, "watch": watchErr, "update": updateErr} {
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: got the error %v, want a conflict", verb, err)
		}
	}
}

// newClient returns a client for a server with this handler.
func newClient(t *testing.T, response http.HandlerFunc) Interface {
	server := httptest.NewServer(response)
	t.Cleanup(server.Close)
	c, err := NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func send(w http.ResponseWriter, code int, objects ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	for _, object := range objects {
		json.NewEncoder(w).Encode(object)
	}
}
