// Jumps of the clock. The tests simulate the drift, and the ticks are those of a synctest bubble.

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/test/utils"
)

// In a synctest bubble, the wall clock and the monotonic clock stay together.
func TestReadDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drift := readDrift()
		time.Sleep(time.Minute)
		if got := drift(); got != 0 {
			t.Errorf("after a minute, the wall clock is ahead by %v", got)
		}
	})
}

func TestWatchClock(t *testing.T) {
	another := aTDSet(func(tdset *schedulev2.TDSet) { tdset.Name = "another" })
	for name, test := range map[string]struct {
		jumps map[int]time.Duration // how far the wall clock is set, by tick
		want  []int                 // the ticks at which all TDSets are enqueued
	}{
		"no jump":                    {nil, nil},
		"forward":                    {map[int]time.Duration{3: time.Hour}, []int{3}},
		"back":                       {map[int]time.Duration{3: -time.Hour}, []int{3}},
		"forward and back":           {map[int]time.Duration{2: time.Hour, 5: -time.Hour}, []int{2, 5}},
		"at each tick":               {map[int]time.Duration{1: time.Hour, 2: time.Hour}, []int{1, 2}},
		"by 250 ms":                  {map[int]time.Duration{4: 250 * time.Millisecond}, nil},
		"by 251 ms":                  {map[int]time.Duration{4: 251 * time.Millisecond}, []int{4}},
		"back by 251 ms":             {map[int]time.Duration{4: -251 * time.Millisecond}, []int{4}},
		"a slow slew, which adds up": {slew(60, 50*time.Millisecond), []int{6, 12, 18, 24, 30, 36, 42, 48, 54, 60}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, aTDSet(), another)
				c.informed()
				clocks := &setClocks{}
				queue := watchClock(t, c, clocks.drift)
				var enqueued []int
				for tick := 1; tick <= 60; tick++ {
					clocks.set(test.jumps[tick])
					time.Sleep(clockInterval)
					synctest.Wait()
					if keys := drained(queue); len(keys) > 0 {
						enqueued = append(enqueued, tick)
						if diff := cmp.Diff([]string{"default/another", "default/web"}, keys); diff != "" {
							t.Errorf("at tick %d, enqueued TDSets (-want +got):\n%s", tick, diff)
						}
					}
				}
				t.Logf("the clock is set: %s; all TDSets are enqueued in seconds: %v", describeJumps(test.jumps), enqueued)
				if diff := cmp.Diff(test.want, enqueued); diff != "" {
					t.Errorf("ticks at which all TDSets were enqueued (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// There is no caller for an error, so a lost jump is logged.
func TestALostJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, aTDSet())
		c.informed()
		c.refuseNext("list tdsets", errors.New("the cache is gone"))
		clocks := &setClocks{}
		queue := watchClock(t, c, clocks.drift)
		log := utils.CaptureLog(t)

		clocks.set(time.Hour)
		time.Sleep(clockInterval)
		synctest.Wait()

		if keys := drained(queue); len(keys) != 0 {
			t.Errorf("enqueued %v, want none", keys)
		}
		log.MustHave(t, "Lost a jump of the clock", "the cache is gone")
	})
}

// watchClock watches clocks until the test ends. The bubble finds a goroutine that doesn't stop
// with its context.
func watchClock(t *testing.T, c *cluster, drift func() time.Duration) queue {
	ctx, cancel := context.WithCancel(t.Context())
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(func() { cancel(); queue.ShutDown() })
	must(t, c.watchClock(drift)(ctx, queue))
	synctest.Wait() // it has read the clocks
	return queue
}

// drained removes and returns the keys in a queue.
func drained(queue queue) (keys []string) {
	for queue.Len() > 0 {
		key, _ := queue.Get()
		queue.Done(key)
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	return keys
}

// setClocks are two clocks, and tests set one of them.
type setClocks struct {
	lock sync.Mutex
	by   time.Duration
}

func (c *setClocks) set(by time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.by += by
}

func (c *setClocks) drift() time.Duration {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.by
}

// describeJumps describes jumps in order, such as "+1h0m0s in second 2".
func describeJumps(jumps map[int]time.Duration) string {
	var all []string
	for _, tick := range slices.Sorted(maps.Keys(jumps)) {
		text := fmt.Sprintf("%v in second %d", jumps[tick], tick)
		if jumps[tick] > 0 {
			text = "+" + text
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// slew returns a small jump at each tick.
func slew(ticks int, by time.Duration) map[int]time.Duration {
	jumps := map[int]time.Duration{}
	for tick := 1; tick <= ticks; tick++ {
		jumps[tick] = by
	}
	return jumps
}
