package lens

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
)

// story tells an observer what happens, in short sentences. All is about objects named web in the
// namespace default, unless a sentence says otherwise.
type story struct {
	*Observer
	now time.Time
}

func newStory() *story {
	return &story{NewObserver(&Recorder{}, "foos", false), time.Now().Add(-time.Second)}
}

// later lets a millisecond pass, so that the order is clear.
func (s *story) later() time.Time {
	s.now = s.now.Add(time.Millisecond)
	return s.now
}

// stores stores a version. A Deployment belongs to the Foo of the same name.
func (s *story) stores(kind, resourceVersion string) { s.seen(kind, resourceVersion, false) }

func (s *story) seen(kind, resourceVersion string, deleted bool) {
	seen := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	seen.SetNamespace("default")
	seen.SetName("web")
	seen.SetResourceVersion(resourceVersion)
	if deleted {
		seen.SetDeletionTimestamp(&metav1.Time{Time: s.now})
	}
	if kind == "Deployment" {
		isController := true
		seen.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Foo", Name: "web", UID: "1", Controller: &isController}})
	}
	s.Stored(plural(kind), seen, deleted)
}

func (s *story) event(resource, resourceVersion string) {
	s.sends(resource, resourceVersion)
	s.delivers(resource, resourceVersion)
}

func (s *story) sends(resource, resourceVersion string) {
	s.received("03", watchEvent(resource, resourceVersion, s.later(), time.Time{}))
}

func (s *story) delivers(resource, resourceVersion string) {
	s.received("03", watchEvent(resource, resourceVersion, s.now, s.now))
}

func watchEvent(resource, resourceVersion string, received, delivered time.Time) faultproxy.WatchEvent {
	return faultproxy.WatchEvent{
		Watch: audit.Request{Resource: resource}, Type: "MODIFIED", Received: received, Delivered: delivered,
		Object: metav1.ObjectMeta{Namespace: "default", Name: "web", ResourceVersion: resourceVersion},
	}
}

func (s *story) log(format string, args ...any) {
	at := s.later().Local().Format("0102 15:04:05.000000")
	s.logged("03", fmt.Sprintf("I%s    2444 queue.go:1] ", at)+fmt.Sprintf(format, args...))
}

func (s *story) handles(resourceVersion string) {
	s.log(`"Event received" kind="Foo" object="default/web" resourceVersion=%q`, resourceVersion)
}
func (s *story) queues() { s.log(`"Key queued" foo="default/web"`) }
func (s *story) starts() { s.log(`"Work started" foo="default/web"`) }
func (s *story) ends()   { s.log(`"Work finished" foo="default/web" err=null`) }
func (s *story) fails()  { s.log(`"Work finished" foo="default/web" err="refused"`) }

// zap logs a line as chapters 05 to 07 do.
func (s *story) zap(message, more string) {
	at := s.later().UTC().Format(time.RFC3339Nano)
	s.logged("03", at+"\tDEBUG\t"+message+"\t"+`{"name": "web", "namespace": "default"`+more+"}")
}

func (s *story) request(verb, resource, name, resourceVersion string) {
	s.requested("03", audit.Request{
		Verb: verb, Resource: resource, Namespace: "default", Name: name, Code: 200, ResourceVersion: resourceVersion,
		Received: s.later(), Answered: s.later(),
	})
}

// other is a request of another client, at the time at which lens's informer sees what it wrote.
func (s *story) other(client, verb, resource string, code int32) {
	s.otherRequested(audit.Request{
		Verb: verb, Resource: resource, Namespace: "default", Name: "web", Code: code, UserAgent: client,
		Received: time.Now().Add(-time.Millisecond), Answered: time.Now(),
	})
}

// scaled is a chain of causes from a user's action to the program's request.
func (s *story) scaled() {
	item := actionItem(s.later(), "Scale web", "kubectl …")
	s.acted(item, object{"foos", "default", "web"}, "11")
	s.stores("Foo", "11")
	s.event("foos", "11")
	s.handles("11")
	s.queues()
	s.starts()
	s.request("update", "deployments", "web", "12")
	s.ends()
}

// links are the items and what caused them, as text.
func (s *story) links() (links []string) {
	labels := map[int]string{}
	for _, item := range s.Recorder.All() {
		labels[item.ID] = string(item.Lane) + ": " + item.Label
	}
	for _, item := range s.Recorder.All() {
		for _, cause := range item.Causes {
			links = append(links, labels[item.ID]+" <- "+labels[cause])
		}
	}
	return links
}

// lasts reports whether an item of a lane hasn't ended.
func (s *story) lasts(lane Lane) bool {
	return slices.ContainsFunc(s.Recorder.All(), func(item Item) bool { return item.Lane == lane && item.Until == 0 })
}

func TestWhatCausedWhat(t *testing.T) {
	for sentence, test := range map[string]struct {
		tell func(*story)
		want []string
	}{
		"from an action to a write": {
			func(s *story) {
				s.scaled()
				s.stores("Deployment", "12")
				s.event("deployments", "12")
			},
			[]string{
				"objects: foos default/web <- actions: Scale web",
				"events: MODIFIED foos default/web <- objects: foos default/web",
				"queue: default/web <- events: MODIFIED foos default/web",
				"work: default/web <- queue: default/web",
				"requests: update deployments default/web 200 <- work: default/web",
				"objects: deployments default/web <- requests: update deployments default/web 200",
				"events: MODIFIED deployments default/web <- objects: deployments default/web",
			},
		},
		"the proxy may show an event before lens's own informer shows the object": {
			func(s *story) {
				s.request("update", "deployments", "web", "12")
				s.event("deployments", "12")
				s.stores("Deployment", "12")
			},
			[]string{
				"events: MODIFIED deployments default/web <- objects: deployments default/web",
				"objects: deployments default/web <- requests: update deployments default/web 200",
			},
		},
		"a key that is queued twice before a worker takes it is one item with two causes": {
			func(s *story) {
				for _, resourceVersion := range []string{"11", "12"} {
					s.event("foos", resourceVersion)
					s.handles(resourceVersion)
					s.queues()
				}
				s.starts()
			},
			[]string{
				"queue: default/web <- events: MODIFIED foos default/web",
				"queue: default/web <- events: MODIFIED foos default/web",
				"work: default/web <- queue: default/web",
			},
		},
		"in 01 and 02 the handler of an event does the work": {
			func(s *story) {
				s.event("foos", "11")
				s.event("foos", "12")
				for _, resourceVersion := range []string{"11", "12"} {
					s.handles(resourceVersion)
					s.starts()
					s.fails()
				}
			},
			[]string{
				"work: default/web <- events: MODIFIED foos default/web",
				"work: default/web <- events: MODIFIED foos default/web",
			},
		},
		"a failed key waits for its next try": {
			func(s *story) {
				s.queues()
				for range 2 {
					s.starts()
					s.fails()
				}
			},
			[]string{
				"work: default/web <- queue: default/web",
				"queue: default/web, failure 1 <- work: default/web",
				"work: default/web <- queue: default/web, failure 1",
				"queue: default/web, failure 2 <- work: default/web",
			},
		},
		"an event doesn't wait for the backoff of its key, and the backoff still ends in a try of its own": {
			func(s *story) {
				s.queues()
				s.starts()
				s.fails()
				s.queues()
				s.starts()
				s.ends()
				s.starts()
			},
			[]string{
				"work: default/web <- queue: default/web",
				"queue: default/web, failure 1 <- work: default/web",
				"work: default/web <- queue: default/web",
				"work: default/web <- queue: default/web, failure 1",
			},
		},
		"controller-runtime's queue is worked out from events, failures and requeues": {
			func(s *story) {
				s.stores("Deployment", "12")
				s.event("foos", "11")
				s.event("deployments", "12")
				s.zap("Reconciling", "")
				s.zap("Reconciler error", `, "error": "refused"`)
				s.zap("Reconciling", "")
				s.zap("Reconcile done, requeueing after 30s", "")
				s.event("foos", "13")
				s.zap("Reconciling", "")
			},
			[]string{
				"events: MODIFIED deployments default/web <- objects: deployments default/web",
				"queue: default/web <- events: MODIFIED foos default/web",
				"queue: default/web <- events: MODIFIED deployments default/web",
				"work: default/web <- queue: default/web",
				"queue: default/web, failure 1 <- work: default/web",
				"work: default/web <- queue: default/web, failure 1",
				"queue: default/web, after 30s <- work: default/web",
				"queue: default/web <- events: MODIFIED foos default/web",
				"work: default/web <- queue: default/web",
			},
		},
		"two workers are busy at once": {
			func(s *story) {
				s.log(`"Work started" foo="default/a"`)
				s.log(`"Work started" foo="default/b"`)
				s.request("patch", "foos/status", "b", "20")
				s.request("patch", "foos/status", "a", "21")
				s.log(`"Work finished" foo="default/a" err=null`)
				s.log(`"Work finished" foo="default/b" err=null`)
			},
			[]string{
				"requests: patch foos/status default/b 200 <- work: default/b",
				"requests: patch foos/status default/a 200 <- work: default/a",
			},
		},
		// Other clients' writes have no resourceVersion in the audit log.
		"writes without a version are linked by object and time, whichever is seen first": {
			func(s *story) {
				s.stores("Foo", "10")
				s.other("kubectl/v1", "patch", "foos", 200)
				s.other("kubectl/v1", "patch", "foos", 200)
				s.stores("Foo", "11")
				s.other("kubectl/v1", "patch", "foos", 409)
				s.stores("Foo", "12") // nobody has written this one
			},
			[]string{
				"objects: foos default/web <- others: kubectl: patch foos default/web 200",
				"objects: foos default/web <- others: kubectl: patch foos default/web 200",
			},
		},
		"the garbage collector deletes what the deleted Foo owned": {
			func(s *story) {
				s.request("create", "deployments", "web", "10")
				s.stores("Deployment", "10")
				s.seen("Foo", "11", true)
				s.other("kube-controller-manager/v1 (linux) kubernetes/0/generic-garbage-collector", "delete", "deployments", 200)
			},
			[]string{
				"objects: deployments default/web <- requests: create deployments default/web 200",
				"others: kube-controller-manager/generic-garbage-collector: delete deployments default/web 200" +
					" <- objects: foos default/web is deleted",
			},
		},
		"the last finalizer is removed, and lens's informer sees the deletion before the proxy sees the answer": {
			func(s *story) {
				s.request("patch", "foos/status", "web", "10")
				began := time.Now()
				s.seen("Foo", "12", true)
				s.requested("03", audit.Request{
					Verb: "patch", Resource: "foos", Namespace: "default", Name: "web", Code: 200, ResourceVersion: "11",
					Received: began, Answered: time.Now(),
				})
			},
			[]string{"objects: foos default/web is deleted <- requests: patch foos default/web 200"},
		},
		"a list brings a program what a delayed event didn't": {
			func(s *story) {
				s.stores("Foo", "11")
				s.sends("foos", "11")
				s.now = time.Now()
				s.request("list", "foos", "", "")
				s.handles("11")
				s.starts()
			},
			[]string{
				"events: MODIFIED foos default/web <- objects: foos default/web",
				"requests: list foos default 200 <- objects: foos default/web",
				"work: default/web <- requests: list foos default 200",
			},
		},
		"a webhook is called while the API server handles a write": {
			func(s *story) {
				began := s.later()
				s.zapWebhook(began)
				item := actionItem(began, "Create web", "kubectl …")
				item.Failed = true
				s.acted(item, object{"foos", "default", "web"}, "")
			},
			[]string{"admission: foos default/web is refused <- actions: Create web"},
		},
		"nobody knows the program's log": {
			func(s *story) {
				s.withoutLogs = true
				began := s.later()
				s.Wrote(began, "create Foo web", "foos", "default", "web", "10")
				s.stores("Foo", "10")
				s.event("foos", "10")
				s.request("create", "deployments", "web", "11")
				s.stores("Deployment", "11")
				s.request("get", "services", "any", "")
			},
			[]string{
				"objects: foos default/web <- actions: create Foo web",
				"events: MODIFIED foos default/web <- objects: foos default/web",
				"requests: create deployments default/web 200 <- events: MODIFIED foos default/web",
				"objects: deployments default/web <- requests: create deployments default/web 200",
				"requests: get services default/any 200 <- events: MODIFIED foos default/web",
			},
		},
		"the work of a program that is killed has sent requests": {
			func(s *story) {
				s.starts()
				s.request("update", "deployments", "web", "12")
				s.log(`"Starting" server="https://127.0.0.1:1"`)
			},
			[]string{"requests: update deployments default/web 200 <- work: default/web"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStory()
			test.tell(s)
			if difference := cmp.Diff(test.want, s.links()); difference != "" {
				t.Error(difference)
			}
		})
	}
}

// zapWebhook logs a refused call of a webhook.
func (s *story) zapWebhook(began time.Time) {
	at := began.Add(time.Millisecond / 2).Format(time.RFC3339Nano)
	for _, rest := range []string{
		`received request` + "\t" + `{"namespace":"default","name":"web","resource":{"resource":"foos"},"requestID":"1"}`,
		`wrote response` + "\t" + `{"requestID":"1","allowed":false}`,
	} {
		s.logged("06", at+"\tDEBUG\tadmission\t"+rest)
	}
}

// The cache is behind from the time at which the API server has a version until it arrives.
func TestTheCacheIsBehind(t *testing.T) {
	for sentence, arrives := range map[string]func(*story){
		"its event arrives":      func(s *story) { s.event("foos", "11") },
		"the program has listed": func(s *story) { s.now = time.Now(); s.request("list", "foos", "", "") },
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStory()
			s.stores("Foo", "10")
			if s.lasts(Cache) {
				t.Error("a program that doesn't watch Foos is behind")
			}
			s.event("foos", "10")
			s.stores("Foo", "11")
			if !s.lasts(Cache) {
				t.Error("the program isn't behind")
			}
			arrives(s)
			if s.lasts(Cache) {
				t.Error("the program is still behind")
			}
		})
	}
	s := newStory()
	s.watchesIn("03", "elsewhere")
	s.event("foos", "10")
	s.stores("Foo", "11")
	if s.lasts(Cache) {
		t.Error("a program is behind in a namespace that it doesn't watch")
	}
}

// A watch that fails sends an ERROR event, each time.
func TestErrorsOfWatches(t *testing.T) {
	s := newStory()
	for range 2 {
		failed := faultproxy.WatchEvent{Watch: audit.Request{Resource: "foos"}, Type: "ERROR", Received: s.later()}
		s.received("03", failed) // from the API server
		failed.Delivered = s.now
		s.received("03", failed) // and passed on
	}
	items := s.Recorder.All()
	if len(items) != 2 || items[1].Label != "ERROR foos" || !items[1].Failed {
		t.Errorf("got %+v, want two errors", items)
	}
}

// A conflict is an answer like any other, and isn't shown as a failure.
func TestAConflictIsNormal(t *testing.T) {
	s := newStory()
	s.queues()
	s.starts()
	s.requested("03", audit.Request{
		Verb: "update", Resource: "foos/status", Namespace: "default", Name: "web", Code: 409,
		Received: s.later(), Answered: s.later(),
	})
	s.log(`"Work finished" foo="default/web" err=%q`,
		`update the status: Operation cannot be fulfilled on foos "web": the object has been modified`)
	for _, item := range s.Recorder.All()[1:] { // the request, the work, and the wait for the next try
		if !item.Conflict {
			t.Errorf("%+v isn't a conflict", item)
		}
	}
}

// If a retry is due while an event has queued the key already, the queue holds the key once, and no
// call follows that only the retry has caused.
func TestARetryMergesWithAQueuedKey(t *testing.T) {
	s := newStory()
	s.queues()
	s.starts()
	s.fails()
	s.now = s.now.Add(10 * time.Millisecond) // the retry was due after 5
	s.queues()
	s.starts()
	if s.lasts(Queue) {
		t.Error("the key still waits for its next try")
	}
}

func TestARestartEndsTheWork(t *testing.T) {
	s := newStory()
	s.queues()
	s.starts()
	s.log(`"Starting" server="https://127.0.0.1:1"`)
	if s.lasts(Work) || s.lasts(Queue) {
		t.Error("the work goes on")
	}
}

func TestWorkIsExplained(t *testing.T) {
	for want, tell := range map[string]func(*story){
		"there was nothing to do":       func(s *story) { s.starts(); s.ends() },
		"Nothing retries it":            func(s *story) { s.starts(); s.fails() },
		"It failed. It will be retried": func(s *story) { s.queues(); s.starts(); s.fails() },
	} {
		s := newStory()
		tell(s)
		if !slices.ContainsFunc(s.Recorder.All(), func(item Item) bool {
			return item.Lane == Work && strings.Contains(item.Explain, want)
		}) {
			t.Errorf("no work says %q: %+v", want, s.Recorder.All())
		}
	}
}
