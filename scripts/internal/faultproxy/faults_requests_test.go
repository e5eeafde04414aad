package faultproxy

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/testkit"
)

func foo(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "samplecontroller.k8s.io/v1alpha1",
		"kind":       "Foo",
		"metadata":   map[string]any{"name": name, "resourceVersion": "1"},
	}}
}

func TestFailWrites(t *testing.T) {
	for code, is := range map[int]func(error) bool{
		http.StatusInternalServerError: apierrors.IsInternalError,
		http.StatusConflict:            apierrors.IsConflict,
		http.StatusServiceUnavailable:  apierrors.IsServiceUnavailable,
	} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			api, proxy, config := setup(t)
			client := foos(t, config)
			fault := proxy.FailWrites(code)
			if _, err := client.UpdateStatus(t.Context(), foo("x"), metav1.UpdateOptions{}); !is(err) {
				t.Errorf("a write: %v", err)
			}
			if _, err := client.List(t.Context(), metav1.ListOptions{}); err != nil {
				t.Errorf("a read: %v", err)
			}
			waitFor(t, fault, 1)
			fault.Stop()
			if _, err := client.Update(t.Context(), foo("x"), metav1.UpdateOptions{}); err != nil {
				t.Errorf("a write afterwards: %v", err)
			}
			if len(api.requests) != 2 {
				t.Errorf("%d requests reached the server, want the read and the second write", len(api.requests))
			}
			if diff := cmp.Diff([]int32{int32(code), 200, 200}, codes(proxy)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClientGoRepeatsA429(t *testing.T) {
	_, proxy, config := setup(t)
	fault := proxy.FailWrites(http.StatusTooManyRequests)
	go func() {
		if fault.Wait(t.Context(), 1) == nil {
			fault.Stop()
		}
	}()
	if _, err := foos(t, config).Create(t.Context(), foo("x"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]int32{429, 200}, codes(proxy)); diff != "" {
		t.Error(diff)
	}
}

func codes(proxy *Proxy) (codes []int32) {
	for _, request := range proxy.Requests() {
		codes = append(codes, request.Code)
	}
	return codes
}

func TestFaultsOfRequestsSpareLeasesAndEvents(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	proxy.FailWrites(500)
	proxy.Forbid()
	proxy.AfterWrite(1, func() { t.Error("a write was counted") })
	spared := []string{
		"PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/x",
		"GET /apis/coordination.k8s.io/v1/namespaces/a/leases/x",
		"POST /api/v1/namespaces/a/events",
		"PATCH /apis/events.k8s.io/v1/namespaces/a/events/x",
	}
	for _, request := range spared {
		send(t, client, proxy, request)
	}
	if len(api.requests) != len(spared) {
		t.Errorf("%d requests reached the server", len(api.requests))
	}
}

func TestForbid(t *testing.T) {
	_, proxy, config := setup(t)
	client := foos(t, config)
	fault := proxy.Forbid(Resource("foos/status"))
	if _, err := client.UpdateStatus(t.Context(), foo("x"), metav1.UpdateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the status: %v", err)
	}
	if _, err := client.Update(t.Context(), foo("x"), metav1.UpdateOptions{}); err != nil {
		t.Errorf("another resource: %v", err)
	}
	fault.Stop()
	if _, err := client.UpdateStatus(t.Context(), foo("x"), metav1.UpdateOptions{}); err != nil || fault.Hits() != 1 {
		t.Errorf("afterwards: %v; %v", err, fault)
	}
}

func TestAfterWrite(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	called, proceed := make(chan int), make(chan struct{})
	fault := proxy.AfterWrite(2, func() {
		called <- len(api.requests)
		<-proceed
	})
	send(t, client, proxy, "POST "+foosPath)

	answered := make(chan int)
	go func() { answered <- try(t, client, proxy, "PUT "+foosPath+"/x") }()
	if reached := receive(t, "the call", called); reached != 2 {
		t.Errorf("called after %d writes", reached)
	}
	if len(answered) > 0 {
		t.Error("the client got its answer before do returned")
	}
	close(proceed)
	if code := receive(t, "the answer", answered); code != 200 || fault.Hits() != 1 {
		t.Errorf("answered %d; %v", code, fault)
	}
	send(t, client, proxy, "PUT "+foosPath+"/x") // it isn't called again
}

func TestAWriteThatHangsIsOnItsWay(t *testing.T) {
	_, proxy, config := setup(t)
	client := foos(t, config)
	if _, err := client.Create(t.Context(), foo("x"), metav1.CreateOptions{}); err != nil || proxy.Writing() != 0 {
		t.Errorf("after the answer, %d writes are on their way; error %v", proxy.Writing(), err)
	}
	fault := proxy.Hang()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := client.Create(ctx, foo("y"), metav1.CreateOptions{})
		left <- err
	}()
	waitFor(t, fault, 1)
	if proxy.Writing() != 1 {
		t.Errorf("while a write hangs, %d are on their way", proxy.Writing())
	}
	leave()
	if err := <-left; err == nil {
		t.Error("the write was answered")
	}
	testkit.Await(t, timeout, "the write is gone", func() error { return number(proxy.Writing(), 0) })
}

func TestWritesHaveBodiesAndVersions(t *testing.T) {
	_, proxy, config := setup(t)
	if _, err := foos(t, config).Update(t.Context(), foo("x"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	write := proxy.Requests()[0]
	if metadataOf([]byte(write.Body)).Name != "x" || write.ResourceVersion != "1" {
		t.Errorf("it has the body %q and the version %q", write.Body, write.ResourceVersion)
	}
	if write.Received.IsZero() || write.Answered.Before(write.Received) {
		t.Errorf("received %v, answered %v", write.Received, write.Answered)
	}
}
