// Package agenda makes timetables for a workshop leader: a written track (tracks.go), filled with what the course says of itself. How
// long an exercise takes is the exercise's own word; titles and ideas are the READMEs' (texts.go); what a track leaves out is worked out
// from what there is. print.go lays it out.
package agenda

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

// Plan is a track on the course as it is.
type Plan struct {
	Track   Track
	Parts   []PlannedPart
	Minutes int // of all parts
	LeftOut []LeftOut
}

// PlannedPart is a part with all that its track doesn't say itself.
type PlannedPart struct {
	Title string // "01-raw-watch: A watch is a GET that doesn't end."; "" if it belongs to no chapter
	Say   string
	Steps []PlannedStep
}

// PlannedStep is one line of the timetable.
type PlannedStep struct {
	Begins  time.Duration // since the workshop's beginning
	Minutes int
	What    string
	Do      string // a command, or the text that is looked at
}

// LeftOut is what a track doesn't show of a chapter.
type LeftOut struct {
	Chapter   string // its folder
	Idea      string // of a chapter that is left out as a whole; else ""
	Exercises []string
	Minutes   int      // of these exercises
	Exhibits  []string // headings under "What breaks"
}

// New plans a track for the repository at root.
func New(root string, track Track) (Plan, error) {
	plan := Plan{Track: track}
	all, err := chapters.All(root)
	if err != nil {
		return plan, err
	}
	shown := map[string]shownOf{}
	for _, part := range track.Parts {
		planned, of, err := plan.part(root, part)
		if err != nil {
			return plan, err
		}
		plan.Parts = append(plan.Parts, planned)
		if part.Chapter != "" {
			before := shown[part.Chapter] // a chapter may go on after a break
			shown[part.Chapter] = shownOf{append(before.exercises, of.exercises...), append(before.headings, of.headings...)}
		}
	}
	for _, chapter := range all {
		of, any := shown[chapter.Number()]
		left, err := leftOut(chapter, of, any)
		if err != nil {
			return plan, err
		}
		if left.Idea != "" || left.Exercises != nil || left.Exhibits != nil {
			plan.LeftOut = append(plan.LeftOut, left)
		}
	}
	return plan, nil
}

// shownOf is what a part shows of its chapter.
type shownOf struct {
	exercises []int
	headings  []string
}

// part plans one part, which begins where the plan ends so far.
func (p *Plan) part(root string, part Part) (PlannedPart, shownOf, error) {
	planned, shown := PlannedPart{Say: part.Say}, shownOf{}
	var chapter chapters.Chapter
	var text readme
	if part.Chapter != "" {
		found, err := chapters.Find(root, part.Chapter)
		if err == nil {
			chapter = found[0]
			text, err = readREADME(chapter)
		}
		if err != nil {
			return planned, shown, p.stale(err)
		}
		planned.Title = chapter.Name + ": " + text.idea
	}
	var done []exercises.Exercise
	for _, step := range part.Steps {
		line := PlannedStep{Begins: time.Duration(p.Minutes) * time.Minute, Minutes: step.Minutes, What: step.What, Do: command(step.Run)}
		switch {
		case step.Exercise > 0:
			e, err := exercises.FindOne(root, fmt.Sprintf("%s/%d", part.Chapter, step.Exercise))
			if err == nil && e.Minutes == 0 {
				err = fmt.Errorf("%s has no line \"Minutes: N\"", e.Path("README.md"))
			}
			if err != nil {
				return planned, shown, p.stale(err)
			}
			done = append(done, e)
			shown.exercises = append(shown.exercises, e.Number)
			line.Minutes, line.What, line.Do = e.Minutes, fmt.Sprintf("exercise %s: %s", e.Name(), e.Title), command("watch "+e.Name())
		case step.Show != "":
			section, ok := text.section(step.Show)
			if !ok {
				return planned, shown, p.stale(fmt.Errorf("%s/README.md has no heading %q", chapter.Name, step.Show))
			}
			shown.headings = append(shown.headings, step.Show)
			line.What, line.Do = section, chapter.Name+"/README.md"
		case step.TalkOver:
			if len(done) == 0 {
				return planned, shown, p.stale(fmt.Errorf("there is no exercise yet to talk over in chapter %s", part.Chapter))
			}
			line.What, line.Do = "talk it over; whoever isn't done catches up", command("catch-up "+done[len(done)-1].Name())
		}
		planned.Steps = append(planned.Steps, line)
		p.Minutes += line.Minutes
	}
	return planned, shown, nil
}

// stale says that a track and the course don't fit together any more.
func (p *Plan) stale(err error) error {
	return &problem.Problem{
		What: fmt.Sprintf("the track %q doesn't fit the course any more", p.Track.Name),
		Mend: "mend scripts/internal/agenda/tracks.go, or take the course as it was released",
		Err:  err,
	}
}

func command(args string) string {
	if args == "" || strings.HasPrefix(args, "./") {
		return args
	}
	return "./scripts/workshop " + args
}

// leftOut is what isn't shown of a chapter, of which some is shown or none at all.
func leftOut(chapter chapters.Chapter, shown shownOf, some bool) (LeftOut, error) {
	left := LeftOut{Chapter: chapter.Name}
	text, err := readREADME(chapter)
	if err != nil {
		return left, err
	}
	if !some {
		left.Idea = text.idea
	} else {
		left.Exhibits = slices.DeleteFunc(text.under("What breaks"), func(h string) bool { return slices.Contains(shown.headings, h) })
	}
	all, err := exercises.In(chapter)
	if err != nil {
		return left, err
	}
	for _, e := range all {
		if !slices.Contains(shown.exercises, e.Number) {
			left.Exercises = append(left.Exercises, e.Name())
			left.Minutes += e.Minutes
		}
	}
	return left, nil
}

// Named returns the track of that name.
func Named(name string) (Track, error) {
	var names []string
	for _, track := range Tracks() {
		if track.Name == name {
			return track, nil
		}
		names = append(names, track.Name)
	}
	return Track{}, &problem.Problem{
		What: fmt.Sprintf("there is no track %q", name),
		Mend: "choose one of " + strings.Join(names, ", ") + `; "./scripts/workshop agenda" says what they are`,
	}
}
