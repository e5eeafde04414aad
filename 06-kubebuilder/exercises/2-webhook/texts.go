// What users read, and the limits that it is about. Given: there is nothing to do here.

package webhook

import "fmt"

const (
	// reserved is what the names of Deployments that belong to the platform begin with.
	reserved = "platform-"
	// budget is how many replicas the Foos of a namespace may ask for together.
	budget = 20
)

// reservedName says what to do about a name that is reserved.
const reservedName = `names that begin with "platform-" are reserved: choose another one`

// overBudget says what to do about replicas for which there is no room beside the others'.
func overBudget(others int32) string {
	return fmt.Sprintf("the other Foos of this namespace ask for %d replicas of %d: ask for at most %d, or scale others down",
		others, budget, max(0, budget-others))
}

// oneReplica is a warning.
const oneReplica = "spec.replicas: with 1 there is none while its Pod moves to another node; 2 or more are safer"

// goesAlong is a warning.
func goesAlong(deployment string, available int32) string {
	return fmt.Sprintf("Deployment %q and its %d available Pods will be deleted with this Foo", deployment, available)
}
