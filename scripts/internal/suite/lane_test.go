package suite

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/ui"
)

func TestALaneIsShownAndCountedWhenJoined(t *testing.T) {
	var out output.Buffer
	s := &Suite{UI: ui.New(os.Stderr).Beside(&out, func(string) {}), Everything: true, race: []string{"-race"}}
	goOn := make(chan struct{})
	join := s.beside("a lane", func(lane *Suite) {
		<-goOn
		if !lane.Everything || len(lane.race) == 0 {
			t.Errorf("got lane %+v, want the suite's settings", lane)
		}
		lane.step(t.Context(), "good work", func(_ context.Context, step *ui.Step) (string, error) {
			for range 3 { // nobody reads them yet
				step.Update("still at it")
			}
			return "done", nil
		})
		lane.step(t.Context(), "bad work", func(context.Context, *ui.Step) (string, error) { return "", errors.New("the reason") })
	})
	s.step(t.Context(), "in the meantime", func(context.Context, *ui.Step) (string, error) { return "done", nil })
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "in the meantime") {
		t.Errorf("before it is joined, it shows\n%s", got)
	}
	close(goOn)
	join()
	for _, want := range []string{"good work", "bad work", "the reason"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q isn't in what it shows:\n%s", want, out.String())
		}
	}
	if s.counts != (gotest.Counts{Failed: 1}) {
		t.Errorf("got counts %+v", s.counts)
	}
}
