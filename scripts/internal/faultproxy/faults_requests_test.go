package faultproxy

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
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
	for sentence, test := range map[string]struct {
		code  int
		is    func(error) bool
		wants string
	}{
		"500": {500, apierrors.IsInternalError, "Internal error occurred: made by the fault proxy"},
		"409": {409, apierrors.IsConflict, `Operation cannot be fulfilled on foos.samplecontroller.k8s.io "x": ` +
			`the object has been modified; please apply your changes to the latest version and try again`},
		"another": {503, apierrors.IsServiceUnavailable, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			api, proxy, config := setup(t)
			client := foos(t, config)
			fault := proxy.FailWrites(2, test.code)
			for range 2 {
				_, err := client.UpdateStatus(t.Context(), foo("x"), metav1.UpdateOptions{})
				if !test.is(err) || test.wants != "" && err.Error() != test.wants {
					t.Errorf("got %v, want %s", err, test.wants)
				}
				if _, err := client.List(t.Context(), metav1.ListOptions{}); err != nil {
					t.Errorf("a read: %v", err)
				}
			}
			waitFor(t, fault, 2)
			if _, err := client.Update(t.Context(), foo("x"), metav1.UpdateOptions{}); err != nil {
				t.Errorf("the third write: %v", err)
			}
			var reached []string
			for range len(api.requests) {
				reached = append(reached, (<-api.requests).Method)
			}
			if diff := cmp.Diff([]string{"GET", "GET", "PUT"}, reached); diff != "" {
				t.Errorf("what reached the server: %s", diff)
			}
			if len(proxy.Writes()) != 3 || proxy.Writes()[0].Code != int32(test.code) {
				t.Errorf("what the client has tried: %v", proxy.Writes())
			}
		})
	}
}

func TestClientGoRepeatsA429(t *testing.T) {
	_, proxy, config := setup(t)
	fault := proxy.FailWrites(1, http.StatusTooManyRequests)
	if _, err := foos(t, config).Create(t.Context(), foo("x"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	var codes []int32
	for _, write := range proxy.Writes() {
		codes = append(codes, write.Code)
	}
	if diff := cmp.Diff([]int32{429, 200}, codes); diff != "" || fault.Hits() != 1 {
		t.Error(diff, fault)
	}
}

func TestA429SaysWhenToComeBack(t *testing.T) {
	_, proxy, config := setup(t)
	proxy.FailWrites(1, http.StatusTooManyRequests)
	answer, err := httpClient(t, config).Post(proxy.Address()+foosPath, "application/json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 429 || answer.Header.Get("Retry-After") != "1" {
		t.Errorf("%s, Retry-After %q", answer.Status, answer.Header.Get("Retry-After"))
	}
}

func TestFaultsOfRequestsSpareLeasesAndEvents(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	proxy.FailWrites(100, 500)
	proxy.Forbid()
	proxy.AfterWrite(1, func(r audit.Request) { t.Errorf("counted: %v", r) })
	spared := []string{
		"PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/x",
		"GET /apis/coordination.k8s.io/v1/namespaces/a/leases/x",
		"POST /api/v1/namespaces/a/events",
		"PATCH /apis/events.k8s.io/v1/namespaces/a/events/x",
	}
	for _, request := range spared {
		send(t, client, proxy, request)
	}
	if len(api.requests) != len(spared) || len(proxy.Writes()) != 0 {
		t.Errorf("%d requests reached the server; writes: %v", len(api.requests), proxy.Writes())
	}
}

func TestAFaultCanBeMeantForSomeRequests(t *testing.T) {
	_, proxy, config := setup(t)
	client := httpClient(t, config)
	proxy.FailWrites(10, 500, Resource("foos/status"), Verb("update", "patch"))
	proxy.FailWrites(1, 503, func(r audit.Request) bool { return r.Name == "y" })
	for request, want := range map[string]int{
		"PUT " + foosPath + "/x":          200,
		"PUT " + foosPath + "/x/status":   500,
		"PATCH " + foosPath + "/x/status": 500,
		"POST " + foosPath:                200,
		"DELETE " + foosPath + "/y":       503,
	} {
		if got := try(t, client, proxy, request); got != want {
			t.Errorf("%s: %d, want %d", request, got, want)
		}
	}
}

func TestForbid(t *testing.T) {
	_, proxy, config := setup(t)
	client := foos(t, config)
	fault := proxy.Forbid(Resource("foos", "foos/status"))
	const user = `User "system:serviceaccount:a:foo-controller" cannot `
	_, list := client.List(t.Context(), metav1.ListOptions{})
	_, create := client.Create(t.Context(), foo("x"), metav1.CreateOptions{})
	_, update := client.UpdateStatus(t.Context(), foo("x"), metav1.UpdateOptions{})
	_, watch := client.Watch(t.Context(), metav1.ListOptions{})
	for want, err := range map[string]error{
		`foos.samplecontroller.k8s.io is forbidden: ` + user + `list resource "foos" in API group "samplecontroller.k8s.io" in the namespace "a"`:              list,
		`foos.samplecontroller.k8s.io is forbidden: ` + user + `create resource "foos" in API group "samplecontroller.k8s.io" in the namespace "a"`:            create,
		`foos.samplecontroller.k8s.io "x" is forbidden: ` + user + `update resource "foos/status" in API group "samplecontroller.k8s.io" in the namespace "a"`: update,
		`foos.samplecontroller.k8s.io is forbidden: ` + user + `watch resource "foos" in API group "samplecontroller.k8s.io" in the namespace "a"`:             watch,
	} {
		if !apierrors.IsForbidden(err) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if fault.Hits() != 4 {
		t.Error(fault)
	}
	fault.Stop()
	if _, err := client.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

func TestAfterWrite(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	var reached int
	called, goOn := make(chan audit.Request), make(chan struct{})
	fault := proxy.AfterWrite(2, func(r audit.Request) {
		reached = len(api.requests)
		called <- r
		<-goOn
	})
	send(t, client, proxy, "POST "+foosPath)

	answered := make(chan int)
	go func() { answered <- try(t, client, proxy, "PUT "+foosPath+"/x") }()
	if request := receive(t, "the call", called); request.Name != "x" || request.Code != 200 || reached != 2 {
		t.Errorf("called for %v, after %d writes", request, reached)
	}
	if len(answered) > 0 || fault.Hits() != 0 {
		t.Error("the client got its answer before do returned")
	}
	close(goOn)
	if code := receive(t, "the answer", answered); code != 200 {
		t.Errorf("answered %d", code)
	}
	waitFor(t, fault, 1)
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
