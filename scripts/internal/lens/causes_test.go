package lens

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
)

// story tells an observer what happens, in short sentences.
type story struct {
	t *testing.T
	*observer
	now time.Time
}

func newStory(t *testing.T) *story {
	return &story{t, newObserver(NewRecorder(nil), "foos"), time.Now().Add(-time.Second)}
}

// later lets a millisecond pass, so that the order is clear.
func (s *story) later() time.Time {
	s.now = s.now.Add(time.Millisecond)
	return s.now
}

func (s *story) object(kind, name, version, owner string) {
	object := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	object.SetNamespace("default")
	object.SetName(name)
	object.SetResourceVersion(version)
	if owner != "" {
		isController := true
		object.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Foo", Name: owner, UID: "1", Controller: &isController}})
	}
	s.stored(plural(kind), object, false)
}

func (s *story) event(resource, name, version string) {
	at := s.later()
	s.received("03", faultproxy.WatchEvent{
		Watch: audit.Request{Resource: resource}, Type: "MODIFIED", Received: at, Delivered: at,
		Object: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version},
	})
}

func (s *story) log(format string, args ...any) {
	s.logged("03", fmt.Sprintf("I%s    2444 queue.go:1] ", s.later().Local().Format("0102 15:04:05.000000"))+fmt.Sprintf(format, args...))
}

func (s *story) request(verb, resource, name, version string) {
	s.requested("03", audit.Request{Verb: verb, Resource: resource, Namespace: "default", Name: name, Code: 200, ResourceVersion: version, Received: s.later(), Answered: s.later()})
}

// scaled is a chain of causes from a user's action to the program's request.
func (s *story) scaled() {
	s.acted(s.later(), "Scale web", "kubectl …", "foos default/web", "11", nil)
	s.object("Foo", "web", "11", "")
	s.event("foos", "web", "11")
	s.log(`"Event received" kind="Foo" object="default/web" resourceVersion="11"`)
	s.log(`"Key queued" foo="default/web"`)
	s.log(`"Work started" foo="default/web"`)
	s.request("update", "deployments", "web", "12")
	s.log(`"Work finished" foo="default/web" err=null`)
}

// links are the items and what caused them, as text.
func (s *story) links() (links []string) {
	batch, err := s.recorder.Since(s.t.Context(), 0)
	if err != nil {
		s.t.Fatal(err)
	}
	labels := map[int]string{}
	for _, item := range batch.Items {
		labels[item.ID] = string(item.Lane) + ": " + item.Label
	}
	for _, item := range batch.Items {
		for _, cause := range item.Causes {
			links = append(links, labels[item.ID]+" <- "+labels[cause])
		}
	}
	return links
}

func TestFromAnActionToAWrite(t *testing.T) {
	s := newStory(t)
	s.scaled()
	s.object("Deployment", "web", "12", "web")
	s.event("deployments", "web", "12")
	want := []string{
		"objects: foos default/web <- actions: Scale web",
		"events: MODIFIED foos default/web <- objects: foos default/web",
		"queue: default/web <- events: MODIFIED foos default/web",
		"work: default/web <- queue: default/web",
		"requests: update deployments default/web 200 <- work: default/web",
		"objects: deployments default/web <- requests: update deployments default/web 200",
		"events: MODIFIED deployments default/web <- objects: deployments default/web",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// The proxy may show an event before our own informer shows the object.
func TestAnEventBeforeItsObject(t *testing.T) {
	s := newStory(t)
	s.request("update", "deployments", "web", "12")
	s.event("deployments", "web", "12")
	s.object("Deployment", "web", "12", "web")
	want := []string{
		"events: MODIFIED deployments default/web <- objects: deployments default/web",
		"objects: deployments default/web <- requests: update deployments default/web 200",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// A key that is queued twice before a worker takes it is one item with two causes.
func TestKeysMerge(t *testing.T) {
	s := newStory(t)
	for _, version := range []string{"11", "12"} {
		s.event("foos", "web", version)
		s.log(`"Event received" kind="Foo" object="default/web" resourceVersion=%q`, version)
		s.log(`"Key queued" foo="default/web"`)
	}
	s.log(`"Work started" foo="default/web"`)
	want := []string{
		"queue: default/web <- events: MODIFIED foos default/web",
		"queue: default/web <- events: MODIFIED foos default/web",
		"work: default/web <- queue: default/web",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// Without a queue, as in 01 and 02, the events since the last work caused this one.
func TestWorkWithoutAQueue(t *testing.T) {
	s := newStory(t)
	s.object("Deployment", "backend", "10", "web")
	s.event("foos", "web", "11")
	s.event("deployments", "backend", "10")
	s.event("foos", "other", "12")
	s.log(`"Work started" foo="default/web"`)
	s.log(`"Work finished" foo="default/web" err="no"`)
	s.log(`"Work started" foo="default/web"`)
	want := []string{
		"events: MODIFIED deployments default/backend <- objects: deployments default/backend",
		"work: default/web <- events: MODIFIED foos default/web",
		"work: default/web <- events: MODIFIED deployments default/backend",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// In 01 and 02 there is no queue: the handler of an event does the work.
func TestTheHandlerWorks(t *testing.T) {
	s := newStory(t)
	s.event("foos", "web", "11")
	s.event("foos", "web", "12")
	for _, version := range []string{"11", "12"} {
		s.log(`"Event received" kind="Foo" object="default/web" resourceVersion=%q`, version)
		s.log(`"Work started" foo="default/web"`)
		s.log(`"Work finished" foo="default/web" err=null`)
	}
	want := []string{
		"work: default/web <- events: MODIFIED foos default/web",
		"work: default/web <- events: MODIFIED foos default/web",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// A failed key waits for its next try, and the failure is why.
func TestAFailureQueuesTheKeyAgain(t *testing.T) {
	s := newStory(t)
	s.log(`"Key queued" foo="default/web"`)
	for range 2 {
		s.log(`"Work started" foo="default/web"`)
		s.log(`"Work finished" foo="default/web" err="refused"`)
		s.now = s.now.Add(shortestBackoff)
	}
	want := []string{
		"work: default/web <- queue: default/web",
		"queue: default/web, failure 1 <- work: default/web",
		"work: default/web <- queue: default/web, failure 1",
		"queue: default/web, failure 2 <- work: default/web",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// An event doesn't wait for the backoff of its key, and the backoff still ends in a try of its own.
func TestAnEventDuringABackoff(t *testing.T) {
	s := newStory(t)
	s.log(`"Key queued" foo="default/web"`)
	s.log(`"Work started" foo="default/web"`)
	s.log(`"Work finished" foo="default/web" err="refused"`)
	s.log(`"Key queued" foo="default/web"`)
	s.log(`"Work started" foo="default/web"`)
	s.log(`"Work finished" foo="default/web" err=null`)
	s.now = s.now.Add(shortestBackoff)
	s.log(`"Work started" foo="default/web"`)
	want := []string{
		"work: default/web <- queue: default/web",
		"queue: default/web, failure 1 <- work: default/web",
		"work: default/web <- queue: default/web",
		"work: default/web <- queue: default/web, failure 1",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// A program sees nothing of other namespaces, so its cache isn't behind there.
func TestOtherNamespaces(t *testing.T) {
	s := newStory(t)
	s.watchesIn("03", "elsewhere")
	s.event("foos", "web", "10")
	s.object("Foo", "web", "11", "")
	batch, err := s.recorder.Since(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range batch.Items {
		if item.Lane == Cache {
			t.Errorf("got %+v", item)
		}
	}
}

// Two workers are busy at once, and each request belongs to one of them.
func TestRequestsOfTwoWorkers(t *testing.T) {
	s := newStory(t)
	s.log(`"Work started" foo="default/a"`)
	s.log(`"Work started" foo="default/b"`)
	s.request("patch", "foos/status", "b", "20")
	s.request("patch", "foos/status", "a", "21")
	s.log(`"Work finished" foo="default/a" err=null`)
	s.log(`"Work finished" foo="default/b" err=null`)
	want := []string{
		"requests: patch foos/status default/b 200 <- work: default/b",
		"requests: patch foos/status default/a 200 <- work: default/a",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// The cache is behind from the time at which the API server has a version until its event arrives.
func TestTheCacheIsBehind(t *testing.T) {
	s := newStory(t)
	s.event("foos", "web", "10") // the program watches Foos
	s.object("Foo", "web", "11", "")
	s.object("Deployment", "web", "12", "web") // which it doesn't watch yet
	behind := func() (open, closed int) {
		batch, err := s.recorder.Since(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range batch.Items {
			switch {
			case item.Lane == Cache && item.Until == 0:
				open++
			case item.Lane == Cache:
				closed++
			}
		}
		return open, closed
	}
	if open, closed := behind(); open != 1 || closed != 0 {
		t.Errorf("before the event: %d open, %d closed", open, closed)
	}
	s.event("foos", "web", "11")
	if open, closed := behind(); open != 0 || closed != 1 {
		t.Errorf("after the event: %d open, %d closed", open, closed)
	}
}

// Other clients' writes have no resourceVersion in the audit log, and neither has the answer to a
// delete. They are linked by object and time, whichever is seen first.
func TestWritesWithoutAVersion(t *testing.T) {
	s := newStory(t)
	s.object("Foo", "web", "10", "")
	at := time.Now()
	s.otherRequested(audit.Request{Verb: "patch", Resource: "foos", Namespace: "default", Name: "web", Code: 200, UserAgent: "kubectl/v1", Received: at.Add(-time.Millisecond), Answered: at})
	s.otherRequested(audit.Request{Verb: "patch", Resource: "foos", Namespace: "default", Name: "web", Code: 200, UserAgent: "kubectl/v1", Received: time.Now(), Answered: time.Now()})
	s.object("Foo", "web", "11", "")
	s.otherRequested(audit.Request{Verb: "patch", Resource: "foos", Namespace: "default", Name: "web", Code: 409, UserAgent: "kubectl/v1", Received: time.Now(), Answered: time.Now()})
	s.object("Foo", "web", "12", "") // nobody has written this one
	want := []string{
		"objects: foos default/web <- others: kubectl: patch foos default/web 200",
		"objects: foos default/web <- others: kubectl: patch foos default/web 200",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// The garbage collector deletes what the deleted Foo owned.
func TestTheGarbageCollectorHasACause(t *testing.T) {
	s := newStory(t)
	s.object("Deployment", "web", "10", "web")
	foo := &unstructured.Unstructured{Object: map[string]any{"kind": "Foo"}}
	foo.SetNamespace("default")
	foo.SetName("web")
	foo.SetResourceVersion("11")
	s.stored("foos", foo, true)
	s.otherRequested(audit.Request{
		Verb: "delete", Resource: "deployments", Namespace: "default", Name: "web", Code: 200, Received: time.Now().Add(time.Second), Answered: time.Now().Add(time.Second),
		UserAgent: "kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/0/generic-garbage-collector",
	})
	want := []string{"others: kube-controller-manager/generic-garbage-collector: delete deployments default/web 200 <- objects: foos default/web is deleted"}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
}

// A list brings a program up to date, as a watch does.
func TestAListEndsTheGap(t *testing.T) {
	s := newStory(t)
	s.event("foos", "web", "10") // the program watches Foos
	s.object("Foo", "web", "11", "")
	s.now = time.Now()
	s.request("list", "foos", "", "")
	s.log(`"Event received" kind="Foo" object="default/web" resourceVersion="11"`)
	s.log(`"Work started" foo="default/web"`)
	want := []string{
		"cache: foos default/web <- objects: foos default/web",
		"requests: list foos default/ 200 <- objects: foos default/web",
		"work: default/web <- requests: list foos default/ 200",
	}
	if difference := cmp.Diff(want, s.links()); difference != "" {
		t.Error(difference)
	}
	for _, item := range s.recorder.All() {
		if item.Lane == Cache && item.Until == 0 {
			t.Error("the program is still behind")
		}
	}
}

// A new watch may list the same version again. That is a new event, because the first one ended long
// ago.
func TestTheSameVersionAgain(t *testing.T) {
	s := newStory(t)
	at := s.later()
	event := func(delivered time.Time) {
		s.received("03", faultproxy.WatchEvent{
			Watch: audit.Request{Resource: "foos"}, Type: "ADDED", Received: at, Delivered: delivered,
			Object: metav1.ObjectMeta{Namespace: "default", Name: "web", ResourceVersion: "11"},
		})
	}
	event(time.Time{})
	event(at)
	ended := s.recorder.All()[0].Until
	at = s.later()
	event(time.Time{})
	event(at)
	items := s.recorder.All()
	if len(items) != 2 || items[0].Until != ended {
		t.Errorf("got %+v, want two events, of which the first ends at %v", items, ended)
	}
}

// A webhook is called while the API server handles a write, and its log line may come later.
func TestWebhookCalls(t *testing.T) {
	for _, logFirst := range []bool{true, false} {
		s := newStory(t)
		began := s.later()
		log := func() {
			for _, rest := range []string{
				"received request\t{\"namespace\":\"default\",\"name\":\"web\",\"resource\":{\"resource\":\"foos\"},\"requestID\":\"1\"}",
				"wrote response\t{\"requestID\":\"1\",\"allowed\":false}",
			} {
				s.logged("06", began.Add(time.Millisecond).Format(time.RFC3339Nano)+"\tDEBUG\tadmission\t"+rest)
			}
		}
		if logFirst {
			log()
		}
		s.acted(began, "Create web", "kubectl …", "foos default/web", "", errors.New("refused"))
		if !logFirst {
			log()
		}
		want := []string{"admission: foos default/web is refused <- actions: Create web"}
		if difference := cmp.Diff(want, s.links()); difference != "" {
			t.Error(difference)
		}
	}
}

// When the program ends, what it was doing ends as well.
func TestARestartEndsTheWork(t *testing.T) {
	s := newStory(t)
	s.log(`"Work started" foo="default/web"`)
	s.request("update", "deployments", "web", "12")
	s.log(`"Starting" server="https://127.0.0.1:1"`)
	for _, item := range s.recorder.All() {
		if item.Lane == Work && item.Until == 0 {
			t.Error("the work goes on")
		}
	}
	if difference := cmp.Diff([]string{"requests: update deployments default/web 200 <- work: default/web"}, s.links()); difference != "" {
		t.Error(difference)
	}
}

func TestFieldsOf(t *testing.T) {
	object := &unstructured.Unstructured{}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "03", Operation: "Apply", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{},"f:image":{}}}`)},
		{Manager: "kubectl", Operation: "Update", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:seen":{}}}}`)},
	})
	want := map[string][]string{"03 (Apply)": {"spec.image", "spec.replicas"}, "kubectl (Update)": {"metadata.labels.seen"}}
	if difference := cmp.Diff(want, fieldsOf(object)); difference != "" {
		t.Error(difference)
	}
}

func TestLater(t *testing.T) {
	for zone, want := range map[string]string{"": "Etc/GMT-1", "UTC": "Etc/GMT-1", "Etc/GMT-1": "Etc/GMT-2", "Etc/GMT-14": "Etc/GMT+12", "Etc/GMT+1": "UTC"} {
		if got := later(zone); got != want {
			t.Errorf("after %q comes %q, want %q", zone, got, want)
		}
	}
}

// A watch that fails sends an ERROR event, each time.
func TestErrorsOfWatches(t *testing.T) {
	s := newStory(t)
	for range 2 {
		at := s.later()
		failed := faultproxy.WatchEvent{Watch: audit.Request{Resource: "foos"}, Type: "ERROR", Received: at}
		s.received("03", failed) // from the API server
		failed.Delivered = at
		s.received("03", failed) // and passed on
	}
	var errors []string
	for _, item := range s.recorder.All() {
		if item.Lane == Events && item.Failed {
			errors = append(errors, item.Label)
		}
	}
	if want := []string{"ERROR foos", "ERROR foos"}; !slices.Equal(errors, want) {
		t.Errorf("got %q, want %q", errors, want)
	}
}
