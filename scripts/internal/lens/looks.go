package lens

// The looks: a prepared scenario for each chapter, which shows what the chapter is about.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
)

// Look is a scenario. When it has been played, the page stops and selects one item.
type Look struct {
	Title string
	// Text says what to look at.
	Text string
	// steps press a button, such as create, or wait for some time, such as 2s, or until the program is
	// idle.
	steps []string
	// selects reports whether an item is the one to select. The last one counts. The page shows the time
	// of everything that caused it and everything that it caused. If selects is nil, it shows it all.
	selects func(Item) bool
}

const (
	idle = "idle"
	// quiet is how long nothing has happened when the program counts as idle, and restless how long a
	// program may take until then.
	quiet    = 700 * time.Millisecond
	restless = 15 * time.Second
)

// looks are those of the chapters, by their numbers.
var looks = map[string]Look{
	"01": {
		Title: "a gap, and 410 Gone",
		Text: "For a while no events arrived, and meanwhile the Foo was scaled. Then the watch failed with 410 Gone, so " +
			"the program couldn't continue from the last version that it knew. It listed all Foos again, and found the change.",
		steps:   []string{"create", idle, "F2", "scale", "2s", "F2", idle},
		selects: scaled,
	},
	"02": {
		Title: "a cache that is behind",
		Text: "For two seconds no events arrived. The red bar shows how long the cache still has the old Foo. A reconcile " +
			"call that starts before the bar ends works with outdated data.",
		steps:   []string{"create", idle, "F9", "scale", "2s", "F9", idle},
		selects: scaled,
	},
	"03": {
		Title: "keys that merge, and wait longer after each failure",
		Text: "The Foo was scaled three times in a row, and all of the program's writes failed with status 500 for " +
			"a while. " +
			"After each failure, the key waits twice as long as before, unless a retry of an earlier failure is due " +
			"sooner. Several events can become one key.",
		steps:   []string{"create", idle, "F4a", "scale", "scale", "scale", idle, "F4a", idle},
		selects: func(item Item) bool { return item.Lane == Queue && strings.HasSuffix(item.Label, ", failure 6") },
	},
	"04": {
		Title: "who owns which field",
		Text: "Somebody added a label to the Deployment, and changed its replicas. The program applies only its own " +
			"fields, so it reverts the replicas and leaves the label alone. To see the owner of each field, open “who owns " +
			"which field” in the tree of objects.",
		steps:   []string{"create", idle, "label", "500ms", "interfere", idle},
		selects: func(item Item) bool { return item.Lane == Actions && item.Label == "Interfere foo-1" },
	},
	"05": {
		Title: "what triggered a reconcile call",
		Text: "Somebody added a label to the Deployment, and then deleted the Deployment. Each event of an object that the " +
			"Foo owns triggers a reconcile call for the Foo. After the label there is nothing to do, but after the deletion " +
			"the program has to create the Deployment again.",
		steps:   []string{"create", idle, "label", "500ms", "remove", idle},
		selects: func(item Item) bool { return item.Lane == Actions && item.Label == "Delete the Deployment foo-1" },
	},
	"06": {
		Title: "the admission chain",
		Text: "Before the API server stores a Foo, it calls the program's webhooks. The first one fills in missing fields, " +
			"and the second one accepts or refuses the result. The second Foo asked for the Deployment of the first Foo, so " +
			"it was refused, and the API server stored nothing.",
		steps:   []string{"create", idle, "double", idle},
		selects: func(item Item) bool { return item.Lane == Actions && item.Failed },
	},
	"07": {
		Title: "a deletion, and the next transition",
		Text: "One of two TDSets was deleted. Its finalizer kept it until the program had scaled its Deployment down, and " +
			"all of its Pods were gone. The timeline of the day shows the other TDSet's windows and its next transition.",
		steps:   []string{"create", "create", idle, "delete", idle},
		selects: func(item Item) bool { return item.Lane == Objects && item.Label == "tdsets lens-07/tdset-1 is deleted" },
	},
}

// scaled selects the change of the Foo, and with it everything that this has caused.
func scaled(item Item) bool { return item.Lane == Actions && item.Label == "Scale foo-1" }

// Tour returns a scenario with everything that a button can do to an object of that kind.
func Tour(kind string) Look {
	return Look{
		Title: "a tour",
		Text: "A " + kind + " was created and scaled, and finally deleted. In between, somebody changed its " +
			"Deployment, and then deleted it. Drag the slider back, and click anything you want to know more about.",
		steps: []string{"create", idle, "scale", idle, "interfere", idle, "label", idle, "remove", idle, "delete", idle},
	}
}

// LookOf returns a chapter's look.
func LookOf(chapter chapters.Chapter) Look { return looks[chapter.Number()] }

// Shown is what the page shows of a look.
type Shown struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	// Done says that the page must stop now, with this item selected, if there is one.
	Done   bool `json:"done"`
	Select int  `json:"select,omitempty"`
}

// Play plays a look, and returns when the page shows the end of it.
func (s *Session) Play(ctx context.Context, look Look) error {
	s.show(Shown{Title: look.Title, Text: look.Text})
	if err := s.rest(ctx); err != nil {
		return err
	}
	for _, step := range look.steps {
		if err := s.play(ctx, step); err != nil {
			return fmt.Errorf("play the look %q: %w", look.Title, err)
		}
	}
	shown := Shown{Title: look.Title, Text: look.Text, Done: true}
	for _, item := range s.Recorder.All() {
		if look.selects != nil && look.selects(item) {
			shown.Select = item.ID
		}
	}
	s.show(shown)
	return nil
}

func (s *Session) play(ctx context.Context, step string) error {
	if step == idle {
		return s.rest(ctx)
	}
	if pass, err := time.ParseDuration(step); err == nil {
		return sleep(ctx, pass)
	}
	err := s.Do(ctx, Action{Action: step, Object: s.oldest()})
	if step == "double" { // which is refused
		return nil
	}
	return err
}

func (s *Session) show(shown Shown) { s.set(func() { s.shown = &shown }) }

// oldest is the name of the oldest managed object, or "".
func (s *Session) oldest() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.objects) == 0 {
		return ""
	}
	return s.objects[0]
}

// rest waits until nothing has happened for a while.
func (s *Session) rest(ctx context.Context) error {
	late := time.Now().Add(restless)
	for last := -1; time.Now().Before(late) && last != s.Recorder.Last(); {
		last = s.Recorder.Last()
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
