// What differs where containers are real: what the node has to have, and what isn't asked there.

package contract

import (
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/program"
)

// Images are what the tests' Pods run. Where containers are real, the node has to have them: any program will do that answers HTTP on
// ports 80 and 8000 with its Pod's name, and that bears with another of its kind in its Pod. Images whose names have "broken" in
// them aren't here: nobody is to have those.
func Images() []string {
	return []string{"nginx:latest", "example.com/app:1", "example.com/app:2", "example.com/someone-elses:1", "example.com/sidecar:1"}
}

// Image is that of a program which is to run in the cluster, unless TEST_IMAGES names another: FROM scratch, with the program alone.
func Image(p program.Program) string { return p.Name + ":in-cluster" }

// AtOnce is how many tests may run at a time where containers are real: the one node holds 110 Pods, and a test has a dozen.
const AtOnce = 4

// The names of what is left out that is no fault.
const (
	ManyPods    = "crowds of three hundred"
	URLWebhooks = "webhooks at a URL"
)

// LeftOut says what isn't asked where containers are real, and why: faults by their names, and else in words. inCluster is about
// programs that run there themselves.
func LeftOut(inCluster bool) map[string]string {
	left := map[string]string{
		ManyPods:    "they are about requests, and the one node holds 110 Pods",
		URLWebhooks: "the API server, in a container, can't reach this machine's loopback: the chapters' test/e2e has webhooks by their Service",
	}
	for _, fault := range faults.All() {
		if inCluster && fault.NeedsProxy() {
			left[fault.Name] = "the proxy that makes it listens on this machine's loopback only, where no Pod gets to"
		}
	}
	return left
}
