package lens

// The looks: a prepared scenario for each chapter, which shows what the chapter is about.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
)

// Look is a scenario. When it has been played, the page stops and selects one item.
type Look struct {
	Title string
	// Text says what to look at.
	Text string
	// span is how much of the time axis the page shows.
	span  time.Duration
	steps []step
	// selects reports whether an item is the one to select. The last one counts.
	selects func(Item) bool
}

// step presses a button, or waits.
type step struct {
	action  string
	seconds int // of the action, if not the usual ones
	pass    time.Duration
}

func press(action string) step         { return step{action: action} }
func pass(duration time.Duration) step { return step{pass: duration} }

// idle waits until nothing has happened for a while.
var idle = step{}

// quiet is how long that is, and restless how long a program may take until then.
const (
	quiet    = 700 * time.Millisecond
	restless = 15 * time.Second
)

// looks are those of the chapters, by their numbers.
var looks = map[string]Look{
	"01": {
		Title: "a gap, and 410 Gone",
		Text:  "For a while no events arrived, and meanwhile the Foo was scaled. Then the watch failed with 410 Gone, so the program couldn't continue from the last version that it knew. It listed all Foos again, and found the change.",
		span:  10 * time.Second,
		steps: []step{press("create"), idle, {action: "F9", seconds: 60}, press("scale"), pass(2 * time.Second), press("F2b"), pass(3 * time.Second), press("F2b"), press("F9"), idle},
		selects: func(item Item) bool {
			return item.Lane == Cache && strings.HasPrefix(item.Object, "foos") && item.Until-item.At > 1000
		},
	},
	"02": {
		Title: "a cache that is behind",
		Text:  "Each event arrives two seconds late. The red bar shows how long the cache still has the old Foo. A reconcile call that starts before the bar ends works with outdated data.",
		span:  10 * time.Second,
		steps: []step{press("create"), idle, press("F9"), press("scale"), pass(2500 * time.Millisecond), press("F9"), idle},
		selects: func(item Item) bool {
			return item.Lane == Cache && strings.HasPrefix(item.Object, "foos") && item.Until-item.At > 1000
		},
	},
	"03": {
		Title:   "keys that merge, and wait longer after each failure",
		Text:    "The Foo was scaled three times in a row, and three of the program's writes failed with status 500: two updates of the Deployment, and the status that reports the first one. After each failure, the key waits twice as long as before until it is queued again. Several events can become one key.",
		span:    time.Second,
		steps:   []step{press("create"), idle, press("F4a"), press("scale"), press("scale"), press("scale"), idle, press("F4a")},
		selects: func(item Item) bool { return item.Lane == Queue && strings.HasSuffix(item.Label, ", failure 2") },
	},
	"04": {
		Title:   "who owns which field",
		Text:    "Somebody added a label to the Deployment, and changed its replicas. The program applies only its own fields, so it reverts the replicas and leaves the label alone. To see the owner of each field, open “who owns which field” in the tree of objects.",
		span:    3 * time.Second,
		steps:   []step{press("create"), idle, press("label"), pass(500 * time.Millisecond), press("interfere"), idle},
		selects: func(item Item) bool { return item.Lane == Actions && item.Label == "Interfere foo-1" },
	},
	"05": {
		Title:   "what triggered a reconcile call",
		Text:    "Somebody added a label to the Deployment, and then deleted the Deployment. Each event of an object that the Foo owns triggers a reconcile call for the Foo. After the label there is nothing to do, but after the deletion the program has to create the Deployment again.",
		span:    3 * time.Second,
		steps:   []step{press("create"), idle, press("label"), pass(500 * time.Millisecond), press("remove"), idle},
		selects: func(item Item) bool { return item.Lane == Actions && item.Label == "Delete the Deployment foo-1" },
	},
	"06": {
		Title:   "the admission chain",
		Text:    "Before the API server stores a Foo, it calls the program's webhooks. The first one fills in missing fields, and the second one accepts or refuses the result. The second Foo asked for the Deployment of the first Foo, so it was refused, and the API server stored nothing.",
		span:    3 * time.Second,
		steps:   []step{press("create"), idle, press("double"), idle},
		selects: func(item Item) bool { return item.Lane == Actions && item.Failed },
	},
	"07": {
		Title:   "a deletion, and the next time to wake up",
		Text:    "One of two TDSets was deleted. Its finalizer kept it until the program had scaled its Deployment down, and all of its Pods were gone. The timeline of the day shows the other TDSet's windows, and when the program wakes up for it next.",
		span:    3 * time.Second,
		steps:   []step{press("create"), press("create"), idle, press("shift"), idle, press("delete"), idle},
		selects: func(item Item) bool { return item.Lane == Objects && item.Label == "tdsets lens-07/tdset-1 is deleted" },
	},
}

// Tour returns a scenario with everything that a button can do to an object of that kind.
func Tour(kind string) Look {
	look := Look{
		Title:   "a tour",
		Text:    "A " + kind + " was created and scaled, and finally deleted. In between, somebody changed its Deployment, and then deleted it. Drag the slider back, and click anything you want to know more about.",
		span:    30 * time.Second,
		selects: func(item Item) bool { return item.Lane == Actions },
	}
	for _, action := range []string{"create", "scale", "interfere", "label", "remove", "delete"} {
		look.steps = append(look.steps, press(action), idle)
	}
	return look
}

// LookOf returns a chapter's look.
func LookOf(chapter chapters.Chapter) (look Look, found bool) {
	look, found = looks[chapter.Number()]
	return look, found
}

// Shown is what the page shows of a look.
type Shown struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	// Done says that the page must stop now, with the playhead at At, Span before it, and this item
	// selected. The times are in milliseconds.
	Done   bool    `json:"done"`
	Select int     `json:"select,omitempty"`
	At     float64 `json:"at,omitempty"`
	Span   int64   `json:"span,omitempty"`
}

// Play plays a look, and returns when the page shows the end of it.
func (s *Session) Play(ctx context.Context, look Look) error {
	s.show(Shown{Title: look.Title, Text: look.Text})
	if err := s.rest(ctx); err != nil {
		return err
	}
	for _, step := range look.steps {
		var err error
		switch {
		case step.action != "":
			_, err = s.Do(ctx, Action{Action: step.action, Object: s.first(), Seconds: step.seconds})
			if step.action == "double" { // which is refused
				err = nil
			}
		case step.pass > 0:
			err = sleep(ctx, step.pass)
		default:
			err = s.rest(ctx)
		}
		if err != nil {
			return fmt.Errorf("play the look %q: %w", look.Title, err)
		}
	}
	s.show(look.end(s.Recorder.All()))
	return nil
}

// end is what the page shows when these items are all.
func (look Look) end(items []Item) Shown {
	shown := Shown{Title: look.Title, Text: look.Text, Done: true, Span: look.span.Milliseconds()}
	for _, item := range items {
		if look.selects(item) {
			shown.Select, shown.At = item.ID, item.At+float64(shown.Span)*0.75
		}
	}
	return shown
}

func (s *Session) show(shown Shown) {
	s.mutex.Lock()
	s.shown = &shown
	s.mutex.Unlock()
	s.Recorder.Wake()
}

// first is the name of the first managed object, or "".
func (s *Session) first() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.objects) == 0 {
		return ""
	}
	return slices.Min(s.objects)
}

// rest waits until nothing has happened for a while.
func (s *Session) rest(ctx context.Context) error {
	late := time.Now().Add(restless)
	for last := -1; time.Now().Before(late); {
		now := s.Recorder.Last()
		if now == last {
			return nil
		}
		last = now
		if err := sleep(ctx, quiet); err != nil {
			return err
		}
	}
	return nil
}

func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
