// Package lens shows what happens inside an operator while it happens. It runs a chapter's program
// behind the fault proxy, collects what the proxy, the API server and the program's log say, works
// out what caused what, and serves a page with all of it on one time axis.
//
// causes.go turns observations into items and links them, recorder.go keeps them, and server.go
// serves them to the page. session.go, webhooks.go and others.go run the programs and observe them,
// actions.go does what the buttons say, and looks.go has the prepared scenarios of the chapters.
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
	Cache     Lane = "cache"     // while it was behind the API server
	Queue     Lane = "queue"     // keys that wait
	Work      Lane = "work"      // reconcile calls
	Admission Lane = "admission" // calls of its webhooks
)

// Item is something that happened: one mark in one lane.
type Item struct {
	ID      int    `json:"id"`
	Lane    Lane   `json:"lane"`
	Program string `json:"program,omitempty"` // such as 03; "" if it isn't a program's
	// At and Until are milliseconds since the epoch. Until is 0 while the item lasts, and At if it
	// happened in an instant.
	At    float64 `json:"at"`
	Until float64 `json:"until,omitempty"`
	Label string  `json:"label"`
	// Explain is one sentence for readers who don't know the lane yet.
	Explain string `json:"explain"`
	// Object is what the item is about, such as deployments default/web, and Version its
	// resourceVersion.
	Object  string `json:"object,omitempty"`
	Version string `json:"version,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
	// Detail is text such as a request's body or an object, and may be "".
	Detail string `json:"detail,omitempty"`
	// Fields are those of a version of an object, by the manager that owns them, such as spec.replicas.
	Fields map[string][]string `json:"fields,omitempty"`
	// Causes are the IDs of the items that caused this one.
	Causes []int `json:"causes,omitempty"`
}

func milliseconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1000 }
