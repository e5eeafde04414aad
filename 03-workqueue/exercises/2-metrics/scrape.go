// Package diagnosis finds out from the metrics of a work queue whether it is ill.
package diagnosis

import "time"

// Scrape is what the metrics of one queue say at one time. Their names begin with workqueue_.
type Scrape struct {
	At time.Time

	Depth   float64 // depth: keys that wait for a worker
	Longest float64 // longest_running_processor_seconds

	// These only grow, but they begin with 0 again when the program is started again.
	Adds     float64 // adds_total
	Retries  float64 // retries_total: AddRateLimited and AddAfter
	Waits    float64 // queue_duration_seconds_count: keys that a worker has taken
	WaitTime float64 // queue_duration_seconds_sum: how long they had waited, added up
}

// Illness is the result of a diagnosis.
type Illness string

const (
	Healthy Illness = "healthy"
	Stuck   Illness = "stuck"    // a worker doesn't come back from a key
	Growing Illness = "growing"  // there is more work than the workers can do
	Failing Illness = "failing"  // many keys are retried
	HotLoop Illness = "hot loop" // the work on a key causes the next work on it
)
