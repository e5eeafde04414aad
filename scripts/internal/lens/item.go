// Package lens shows what happens inside an operator while it happens. It runs a chapter's program
// behind the fault proxy, collects what the proxy, the API server and the program's log report,
// works out what caused what, and serves a page with all of it on one time axis.
//
// session.go runs the programs, follow.go observes the cluster, and actions.go and changes.go do what
// the page's buttons ask for. observer.go, writes.go, arrivals.go and work.go turn all of that into
// items and link them. recorder.go keeps the items, and server.go serves them to the page. looks.go
// has the chapters' scenarios.
package lens

import "time"

// Lane is a row of the page.
type Lane string

const (
	Actions   Lane = "actions"   // what you did
	Objects   Lane = "objects"   // each version of an object, as the API server stored it
	Others    Lane = "others"    // what other clients sent
	Requests  Lane = "requests"  // what the program sent
	Events    Lane = "events"    // what its watches received
	Cache     Lane = "cache"     // when its cache was behind the API server
	Queue     Lane = "queue"     // keys that wait for a worker
	Work      Lane = "work"      // reconcile calls
	Admission Lane = "admission" // calls to its webhooks
)

// Item is something that happened: one mark in one lane.
type Item struct {
	ID      int    `json:"id"`
	Lane    Lane   `json:"lane"`
	Program string `json:"program,omitempty"` // such as 03, or "" if it belongs to no program
	// At and Until are in milliseconds since the Unix epoch. Until is 0 while the item still lasts,
	// and equal to At if it took no time.
	At    float64 `json:"at"`
	Until float64 `json:"until,omitempty"`
	Label string  `json:"label"`
	// Explain describes the item to readers who don't know its lane yet.
	Explain string `json:"explain"`
	// Object is what the item is about, such as deployments default/web, and Version its
	// resourceVersion.
	Object  string `json:"object,omitempty"`
	Version string `json:"version,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
	// Conflict means that it failed with 409, because the object had changed since it was read. That
	// is normal, and leads to another try.
	Conflict bool `json:"conflict,omitempty"`
	// Detail is text such as a request's body or an object, and may be "".
	Detail string `json:"detail,omitempty"`
	// Fields has the fields of a version of an object, such as spec.replicas, by the field manager
	// that owns them.
	Fields map[string][]string `json:"fields,omitempty"`
	// Causes are the IDs of the items that caused this one.
	Causes []int `json:"causes,omitempty"`
}

func milliseconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1000 }
