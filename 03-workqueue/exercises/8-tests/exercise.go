//go:build !solution

package tests

import (
	"testing/synctest"
	"time"
)

// T is the part of *testing.T that your tests may use. It has no Fatalf, so return if a test can't
// go on after an error.
type T interface {
	Errorf(format string, args ...any)
}

// Start runs the worker that you test, in this many goroutines, on a new queue. They stop after
// your test.
type Start func(goroutines int, sync func(key string) error) Queue

// Each of Tests runs in a testing/synctest bubble. The queue's first pause is 5 milliseconds long,
// and its longest is a minute. For a worker that keeps its promises, no test may report an error.
// For each worker that breaks one, at least one test must.
var Tests = []func(t T, start Start){
	testSuccess,
	// YOUR WORK: this single test accepts even the workers that break a promise.
}

// testSuccess checks that a key is processed once after each event.
func testSuccess(t T, start Start) {
	tries := 0
	queue := start(1, func(string) error {
		tries++
		return nil
	})
	queue.Add("web")
	time.Sleep(time.Hour) // takes no time in a bubble, because its clock moves while everyone waits
	synctest.Wait()
	if tries != 1 {
		t.Errorf("the key was processed %d times, want once", tries)
	}
}
