//go:build solution

package tests

import (
	"errors"
	"slices"
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
	testPauses,
	testAnotherKey,
	testOneAtATime,
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

var errFailed = errors.New("the server is down")

// testPauses checks that a failing key is tried again after pauses that double, and that after a
// success they begin again with the shortest one.
func testPauses(t T, start Start) {
	const failures = 8
	var tries []time.Time
	queue := start(1, func(string) error {
		tries = append(tries, time.Now())
		if len(tries) <= failures {
			return errFailed
		}
		return nil
	})
	for event := range 2 {
		tries = nil
		queue.Add("web")
		time.Sleep(time.Hour)
		synctest.Wait()
		var got, want []time.Duration
		for i := 1; i < len(tries); i++ {
			got = append(got, tries[i].Sub(tries[i-1]))
		}
		for i := range failures {
			want = append(want, 5*time.Millisecond<<i)
		}
		if !slices.Equal(got, want) {
			t.Errorf("event %d: the pauses between the tries are %v, want %v", event+1, got, want)
		}
	}
}

// testAnotherKey checks that a key is processed at once while another one fails.
func testAnotherKey(t T, start Start) {
	processed := 0
	queue := start(1, func(key string) error {
		if key == "failing" {
			return errFailed
		}
		processed++
		return nil
	})
	queue.Add("failing")
	synctest.Wait()
	queue.Add("web")
	synctest.Wait()
	if processed != 1 {
		t.Errorf("while another key fails, the key was processed %d times, want once", processed)
	}
}

// testOneAtATime checks that an event during the work on a key waits until that work has ended.
func testOneAtATime(t T, start Start) {
	working, most, tries := 0, 0, 0
	queue := start(2, func(string) error {
		tries++
		working++
		most = max(most, working)
		time.Sleep(time.Second)
		working--
		return nil
	})
	queue.Add("web")
	time.Sleep(time.Millisecond)
	queue.Add("web")
	time.Sleep(time.Hour)
	synctest.Wait()
	if most != 1 || tries != 2 {
		t.Errorf("the key was processed %d times, by up to %d goroutines at the same time; want twice, by one at a time", tries, most)
	}
}
