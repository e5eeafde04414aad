// The clock, and what is done when it jumps. Its readings are the test's own; its ticks are those of a bubble.

package controller

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/test/utils"
)

// Schedules go by the wall clock. What has the other's reading as well is compared by that. (In a bubble, no time has it.)
func TestTheWallClockAlone(t *testing.T) {
	for name, got := range map[string]time.Time{
		"Now of RealClock":       RealClock{}.Now(),
		"the wall of readClocks": readClocks()().wall,
	} {
		if got != got.Round(0) {
			t.Errorf("%s has the monotonic clock's reading: %v", name, got)
		}
	}
}

func TestRealClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, began := RealClock{}, time.Now()
		time.Sleep(time.Minute)
		if got, want := clock.Now(), began.Add(time.Minute); !got.Equal(want) {
			t.Errorf("Now is %v, want %v", got, want)
		}
		if got, want := clock.Until(began.Add(time.Hour)), 59*time.Minute; got != want {
			t.Errorf("Until is %v, want %v", got, want)
		}
		if got, want := clock.Until(began), -time.Minute; got != want {
			t.Errorf("Until what is over is %v, want %v", got, want)
		}
	})
}

func TestJumped(t *testing.T) {
	for name, test := range map[string]struct {
		wall, monotonic time.Duration // passed between two readings
		want            bool
	}{
		"both go on":                             {time.Second, time.Second, false},
		"it is set forward":                      {time.Hour, time.Second, true},
		"it is set back":                         {-time.Hour, time.Second, true},
		"it is set back by what has passed":      {0, time.Second, true},
		"it follows the network's time":          {time.Second + 500*time.Microsecond, time.Second, false},
		"the machine was slow, and both went on": {time.Minute, time.Minute, false},
		"a quarter of a second is none":          {time.Second + 250*time.Millisecond, time.Second, false},
		"more is":                                {time.Second + 251*time.Millisecond, time.Second, true},
		"back as well as forward":                {time.Second - 251*time.Millisecond, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := reading{wall: noon, monotonic: time.Hour}
			now := reading{wall: noon.Add(test.wall), monotonic: time.Hour + test.monotonic}
			if got := jumped(before, now); got != test.want {
				t.Errorf("jumped = %v, want %v", got, test.want)
			}
		})
	}
}

// readClocks reads this machine's clocks. In a bubble they go together.
func TestReadClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := readClocks()
		before := read()
		time.Sleep(time.Minute)
		now := read()
		if wall := now.wall.Sub(before.wall); wall != time.Minute || now.monotonic-before.monotonic != time.Minute {
			t.Errorf("in a minute, %v have passed on the wall and %v otherwise", wall, now.monotonic-before.monotonic)
		}
	})
}

func TestWatchClock(t *testing.T) {
	another := aTDSet(func(tdset *v1.TDSet) { tdset.Name = "another" })
	for name, test := range map[string]struct {
		jumps map[int]time.Duration // by how much the wall clock is set, at which tick
		want  []int                 // the ticks at which all TDSets are looked at
	}{
		"no jump":                    {nil, nil},
		"forward, and all looks":     {map[int]time.Duration{3: time.Hour}, []int{3}},
		"back":                       {map[int]time.Duration{3: -time.Hour}, []int{3}},
		"forward and back":           {map[int]time.Duration{2: time.Hour, 5: -time.Hour}, []int{2, 5}},
		"at each tick":               {map[int]time.Duration{1: time.Hour, 2: time.Hour}, []int{1, 2}},
		"by less than matters, once": {map[int]time.Duration{4: 200 * time.Millisecond}, nil},
		"a slow slew, which adds up": {slew(60, 50*time.Millisecond), []int{6, 12, 18, 24, 30, 36, 42, 48, 54, 60}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, aTDSet(), another)
				c.informed()
				clocks := &setClocks{start: time.Now()}
				queue := watchClock(t, c, clocks.read)
				var looked []int
				for tick := 1; tick <= 60; tick++ {
					clocks.set(test.jumps[tick])
					time.Sleep(lookAtClock)
					synctest.Wait()
					if keys := drained(queue); len(keys) > 0 {
						looked = append(looked, tick)
						if diff := cmp.Diff([]string{"default/another", "default/web"}, keys); diff != "" {
							t.Errorf("at tick %d, TDSets (-want +got):\n%s", tick, diff)
						}
					}
				}
				t.Logf("the clock is set, by second: %v; the seconds in which all TDSets are looked at: %v", test.jumps, looked)
				if diff := cmp.Diff(test.want, looked); diff != "" {
					t.Errorf("ticks at which all were looked at (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// There is nobody to return an error to. That a jump is lost is said.
func TestAJumpThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, aTDSet())
		c.informed()
		c.refuseNext("list tdsets", errors.New("the cache is gone"))
		clocks := &setClocks{start: time.Now()}
		queue := watchClock(t, c, clocks.read)
		log := utils.CaptureLog(t)

		clocks.set(time.Hour)
		time.Sleep(lookAtClock)
		synctest.Wait()

		if keys := drained(queue); len(keys) != 0 {
			t.Errorf("TDSets: %v, want none", keys)
		}
		log.MustHave(t, "Lost a jump of the clock", "the cache is gone")
	})
}

// watchClock watches clocks until the test ends. A goroutine that goes on after its context has ended would be found by the bubble.
func watchClock(t *testing.T, c *cluster, read func() reading) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	ctx, cancel := context.WithCancel(t.Context())
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(func() { cancel(); queue.ShutDown() })
	must(t, c.watchClock(read)(ctx, queue))
	synctest.Wait() // it has read the clocks
	return queue
}

// drained takes out what is in a queue.
func drained(queue workqueue.TypedRateLimitingInterface[reconcile.Request]) (keys []string) {
	for queue.Len() > 0 {
		key, _ := queue.Get()
		queue.Done(key)
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	return keys
}

// setClocks are two clocks, of which one is set now and then.
type setClocks struct {
	lock  sync.Mutex
	start time.Time
	by    time.Duration
}

func (c *setClocks) set(by time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.by += by
}

func (c *setClocks) read() reading {
	c.lock.Lock()
	defer c.lock.Unlock()
	now := time.Now()
	return reading{wall: now.Round(0).Add(c.by), monotonic: now.Sub(c.start)}
}

// slew sets a clock at each of so many ticks, by a little.
func slew(ticks int, by time.Duration) map[int]time.Duration {
	jumps := map[int]time.Duration{}
	for tick := 1; tick <= ticks; tick++ {
		jumps[tick] = by
	}
	return jumps
}
