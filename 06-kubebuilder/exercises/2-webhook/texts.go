// The messages to users, and the limits. You don't need to change anything here.

package webhook

import "fmt"

const (
	// reserved is the prefix of the names that are reserved for the platform.
	reserved = "platform-"
	// budget is how many replicas all Foos in a namespace may ask for together.
	budget = 20
)

// reservedName is the error for a reserved name.
const reservedName = `names that begin with "platform-" are reserved: choose another one`

// overBudget returns the error for more replicas than the other Foos leave room for.
func overBudget(others int32) string {
	return fmt.Sprintf("the other Foos of this namespace ask for %d replicas of %d: ask for at most %d, or scale others down",
		others, budget, max(0, budget-others))
}

// oneReplica is the warning about a single replica.
const oneReplica = "spec.replicas: with 1 replica, none is available while its Pod moves to another node; 2 or more are safer"

// goesAlong returns the warning about a Deployment that is deleted with its Foo.
func goesAlong(deployment string, available int32) string {
	return fmt.Sprintf("Deployment %q and its %d available Pods will be deleted with this Foo", deployment, available)
}
