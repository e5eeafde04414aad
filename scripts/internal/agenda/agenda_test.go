package agenda

import (
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testfiles"
)

// theCourse is the repository's root.
const theCourse = "../../.."

// The minutes are those of the exercises, too: who changes one of these sees here which track has to change with it.
func TestEachTrackFillsItsTime(t *testing.T) {
	const slack = 3 // minutes
	for _, track := range Tracks() {
		t.Run(track.Name, func(t *testing.T) {
			plan, err := New(theCourse, track)
			if err != nil {
				t.Fatal(problem.Format(err))
			}
			if off := plan.Minutes - track.Minutes; off < -slack || off > slack {
				t.Errorf("its parts take %d minutes, and it has %d", plan.Minutes, track.Minutes)
			}
			length, err := time.ParseDuration(track.Name)
			if err == nil && int(length.Minutes()) != track.Minutes {
				t.Errorf("it is called %s and has %d minutes", track.Name, track.Minutes)
			}
			if len(track.GoOn) == 0 || plan.LeftOut == nil {
				t.Error("it says neither what is left out nor how to go on")
			}
		})
	}
}

func TestTheThreeHoursAreTheseChapters(t *testing.T) {
	track, err := Named("3h")
	if err != nil {
		t.Fatal(err)
	}
	var chapters []string
	for _, part := range track.Parts {
		if part.Chapter != "" {
			chapters = append(chapters, part.Chapter)
		}
	}
	if got := strings.Join(chapters, " "); got != "01 02 03 05" {
		t.Errorf("they are %s", got)
	}
}

// A made-up course of two chapters.
func course(t *testing.T) string {
	t.Helper()
	return testfiles.Write(t, t.TempDir(), map[string]string{
		"01-a/README.md":                  "# 01: a\n\n**One idea.** More.\n\n## Run it\n\n## What breaks\n\n### The first `bug`\n\n```sh\n### no heading\n```\n\n### The second\n",
		"01-a/exercises/1-mend/README.md": "# 1: Mend it\n\nMinutes: 20\n",
		"01-a/exercises/2-more/README.md": "# 2: And more\n\nMinutes: 7\n",
		"02-b/README.md":                  "# 02: b\n\n**Another\"s idea.**\n\n## Run it\n",
		"02-b/exercises/1-x/README.md":    "# 1: Nothing said\n",
	})
}

func TestATimetable(t *testing.T) {
	plan, err := New(course(t), Track{
		Name: "x", Title: "A test", Minutes: 60,
		Parts: []Part{
			{Steps: []Step{does(5, "welcome", "status")}},
			{Chapter: "01", Say: "a bridge", Steps: []Step{show(10, "The first `bug`"), exercise(1), talk(15)}},
			pause(10, "break"),
		},
		GoOn: []string{"Go on."},
	})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := plan.Print(&page, time.Date(2026, 1, 1, 23, 30, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	want := `A test
23:30 to 00:30, breaks included. Exercises take the time that they say themselves; the rest is this track's.

  23:30   5 min  welcome                                      ./scripts/workshop status

01-a: One idea
  say: a bridge
  23:35  10 min  What breaks: The first ` + "`bug`" + `                 01-a/README.md
  23:45  20 min  exercise 01/1: Mend it                       ./scripts/workshop watch 01/1
  00:05  15 min  talk it over; whoever isn't done catches up  ./scripts/workshop catch-up 01/1

  00:20  10 min  break

Left out, to go on with:
  01-a
    exercises    01/2 (7 min)
    What breaks  The second
  02-b, all of it: Another"s idea
    exercises    02/1 (0 min)

To say at the end:
  - Go on.
`
	if page.String() != want {
		t.Errorf("it is\n%s\nwant\n%s", page.String(), want)
	}
}

func TestATrackThatDoesNotFitTheCourse(t *testing.T) {
	for sentence, test := range map[string]struct {
		part Part
		want string
	}{
		"a chapter that isn't there":               {Part{Chapter: "09"}, `there is no chapter "09"`},
		"a heading that isn't there":               {Part{Chapter: "01", Steps: []Step{show(5, "no heading")}}, `01-a/README.md has no heading "no heading"`},
		"an exercise that isn't there":             {Part{Chapter: "01", Steps: []Step{exercise(3)}}, `there is no exercise "01/3"`},
		"an exercise that says no time":            {Part{Chapter: "02", Steps: []Step{exercise(1)}}, `no line "Minutes: N"`},
		"a talk about exercises that weren't done": {Part{Chapter: "01", Steps: []Step{talk(5)}}, "no exercise yet"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := New(course(t), Track{Name: "x", Parts: []Part{test.part}})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(problem.Format(err), "what to do: mend scripts/internal/agenda/tracks.go") {
				t.Errorf("error %v, want %q and the mend", err, test.want)
			}
		})
	}
	if _, err := Named("2h"); err == nil || !strings.Contains(problem.Format(err), "choose one of 90m, 3h, 1day;") {
		t.Errorf("an unknown track: %v", err)
	}
}
