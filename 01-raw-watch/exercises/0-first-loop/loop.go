package firstloop

// Loop runs a controller's loop, and returns the number of Pods after each pass. It only counts
// Pods, where a real controller would create and delete them.
func Loop(desired, actual, passes int) (after []int) {
	for range passes {
		actual += Missing(desired, actual)
		after = append(after, actual)
	}
	return after
}
