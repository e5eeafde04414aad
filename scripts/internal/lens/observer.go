package lens

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
)

// Observer turns what is observed into items, and links each to what caused it.
//
// A write's answer has the object's new resourceVersion, and so do the version that the API server
// then stores and the events that carry it to the programs: see writes.go and arrivals.go. The
// programs' logs say which event led to which key, and when the work on a key began and ended: see
// work.go.
type Observer struct {
	Recorder *Recorder
	resource string // of the kind that the programs manage, such as foos
	// Nobody knows the programs' logs. Then a request is linked to the event before it.
	withoutLogs bool

	mutex    sync.Mutex
	objects  map[object]*objectState
	uids     map[types.UID]object
	versions map[version]*versionState
	programs map[string]*programState // by name
}

// object identifies an object of the API server, and version one of its versions.
type object struct{ resource, namespace, name string }

type version struct {
	object
	resourceVersion string
}

// objectOf returns the object that a request is about. Its subresources belong to it.
func objectOf(r audit.Request) object {
	return object{r.GroupResource().Resource, r.Namespace, r.Name}
}

// key is how work queues identify an object.
func (o object) key() string { return o.namespace + "/" + o.name }

// String is how items name an object: deployments default/web.
func (o object) String() string {
	return strings.TrimSpace(o.resource + " " + strings.Trim(o.key(), "/"))
}

// In the types below, an int is the ID of an item, or 0 if there is none.

// objectState is what is known about an object.
type objectState struct {
	owner   object // that controls it, if any
	newest  version
	deleted int
	writes  []int // requests and actions that changed it, or tried to
	// What has yet to be linked by time: writes that don't name a version (those of other clients, and
	// deletes), versions that nobody seems to have written, and calls of webhooks.
	unversioned []int
	unwritten   []*versionState
	calls       []int
}

// versionState is what is known about a version: who wrote it, the item that shows it, and the
// events that were seen before that item. freed means that the object was deleted because its last
// finalizer was removed.
type versionState struct {
	writer, stored int
	early          []int
	freed          bool
}

// programState is what is known about a program.
type programState struct {
	name      string
	namespace string // the only one that it watches, or ""
	retries   retries
	watches   map[string]bool // the resources that it has listed or watched
	arrivals  map[version]*arrival
	behind    map[object]int // the items that last in the lane of its cache
	keys      map[string]*keyState
	logged    int            // the last event that its log mentioned
	requests  []sent         // those that belong to no reconcile call yet
	calls     map[string]int // of its webhooks, by request ID
}

// retries is how a program retries failed work, which its log reveals.
type retries int

const (
	never       retries = iota // 01 and 02: the handler of an event works, and there is no queue
	itsOwnQueue                // 03 and 04: the log says when a key is queued
	framework                  // 05 to 07: controller-runtime's log doesn't
)

// arrival is how a version came to a program.
type arrival struct {
	event int // that carries it
	by    int // that event, or a list; 0 while it hasn't arrived
}

// keyState is what a program does about a key.
type keyState struct {
	news     []int   // the events since the last work on it
	logged   int     // the last event that the log mentioned
	queued   int     // the item that lasts while it waits for a worker
	waiting  int     // the one that lasts while it waits for its next try, or for the time it asked for
	working  int     // the reconcile call that lasts
	failures int     // how often the work has failed in a row
	due      float64 // when the retry after a failure is due, in client-go's queue
}

// sent is a request of a program.
type sent struct {
	item     int
	object   object
	received float64
}

// NewObserver returns an observer of programs that manage this resource, such as foos. It may not be
// told their logs.
func NewObserver(recorder *Recorder, resource string, withoutLogs bool) *Observer {
	return &Observer{
		Recorder: recorder, resource: resource, withoutLogs: withoutLogs,
		objects: map[object]*objectState{}, uids: map[types.UID]object{}, versions: map[version]*versionState{}, programs: map[string]*programState{},
	}
}

// Follow observes a program that only watches this namespace, or all if it is "", through its proxy.
func (o *Observer) Follow(name, namespace string, proxy *faultproxy.Proxy) {
	o.watchesIn(name, namespace)
	proxy.Follow(func(request audit.Request) { o.requested(name, request) })
	proxy.FollowEvents(func(event faultproxy.WatchEvent) { o.received(name, event) })
}

// Wrote records what the actor of the page has done since began. If that was a write of an object,
// resourceVersion is the one in the answer, or "" after a deletion. Otherwise, all after text is "".
// A nil Observer records nothing.
func (o *Observer) Wrote(began time.Time, text, resource, namespace, name, resourceVersion string) {
	if o == nil {
		return
	}
	item := Item{Lane: Actions, At: milliseconds(began), Until: milliseconds(time.Now()), Label: text}
	o.acted(item, object{resource, namespace, name}, resourceVersion)
}

// watchesIn records that a program only watches this namespace.
func (o *Observer) watchesIn(name, namespace string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.program(name).namespace = namespace
}

func (o *Observer) program(name string) *programState {
	p := o.programs[name]
	if p == nil {
		p = &programState{
			name: name, watches: map[string]bool{}, arrivals: map[version]*arrival{}, behind: map[object]int{},
			keys: map[string]*keyState{}, calls: map[string]int{},
		}
		o.programs[name] = p
	}
	return p
}

// of returns the state of an object, a version or a key.
func of[K comparable, State any](states map[K]*State, one K) *State {
	if states[one] == nil {
		states[one] = new(State)
	}
	return states[one]
}

// managed returns the managed object that an object belongs to, if any.
func (o *Observer) managed(one object) (managed object, found bool) {
	for range 4 { // a Pod, its ReplicaSet, its Deployment, and the managed object
		if one.resource == o.resource {
			return one, true
		}
		one = of(o.objects, one).owner
	}
	return object{}, false
}

// during reports whether an item lasted at that time, or had ended only slack milliseconds before.
func (o *Observer) during(id int, at, slack float64) bool {
	item := o.Recorder.Get(id)
	return at >= item.At && at <= item.Until+slack
}

// end ends an item that lasts, if there is one, and adds to its explanation.
func (o *Observer) end(id int, at float64, explain string) {
	o.Recorder.Update(id, func(item *Item) {
		item.Until = at
		item.Explain += explain
	})
}
