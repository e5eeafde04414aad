package suite

// Lanes: parts of a run that run in parallel, because some mostly wait and others mostly compile.

import (
	"strings"

	"example.com/operators/scripts/internal/output"
)

// beside starts a part of the run in a lane of its own. join waits until the lane is done, then
// shows and counts its results.
func (s *Suite) beside(what string, part func(lane *Suite)) (join func()) {
	var said output.Buffer
	doing := make(chan string, 1)
	follow := func(text string) {
		for {
			select {
			case doing <- text:
				return
			case <-doing: // only the latest is shown
			}
		}
	}
	lane := &Suite{
		Root: s.Root, Bin: s.Bin, Chapters: s.Chapters, Everything: s.Everything,
		UI: s.UI.Beside(&said, follow), this: s.this, race: s.race,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(lane)
	}()
	return func() {
		step := s.UI.Start(what)
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			case text := <-doing:
				step.Update("%s", text)
			}
		}
		step.Drop()
		s.UI.Say("%s", strings.TrimSuffix(said.String(), "\n"))
		s.counts = s.counts.Plus(lane.counts)
	}
}
