//go:build !solution

// Package firstloop is the heart of every controller: it compares the desired state with the actual
// state, and acts on the difference.
package firstloop

// Missing returns how many Pods the controller has to create, so that there are as many as desired.
// If the result is negative, it has to delete Pods instead.
func Missing(desired, actual int) int {
	// YOUR WORK: fix this line.
	return desired
}
