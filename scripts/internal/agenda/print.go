package agenda

// A plan on the page.

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Print writes the timetable of a workshop that begins at start, of which only the time of day counts.
func (p Plan) Print(w io.Writer, start time.Time) error {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	at := func(since time.Duration) string { return start.Add(since).Format("15:04") }

	say("%s", p.Track.Title)
	say("%s to %s, breaks included. Exercises take the time that they say themselves; the rest is this track's.",
		at(0), at(time.Duration(p.Minutes)*time.Minute))
	width := p.widest()
	for _, part := range p.Parts {
		say("")
		if part.Title != "" {
			say("%s", part.Title)
		}
		if part.Say != "" {
			say("  say: %s", indented(part.Say, "       "))
		}
		for _, step := range part.Steps {
			padding := strings.Repeat(" ", width-utf8.RuneCountInString(step.What))
			say("%s", strings.TrimRight(fmt.Sprintf("  %s  %2d min  %s%s  %s", at(step.Begins), step.Minutes, step.What, padding, step.Do), " "))
		}
	}
	if len(p.LeftOut) > 0 {
		say("\nLeft out, to go on with:")
	}
	for _, left := range p.LeftOut {
		switch {
		case left.Idea != "":
			say("  %s, all of it: %s", left.Chapter, left.Idea)
		default:
			say("  %s", left.Chapter)
		}
		if left.Exercises != nil {
			say("    exercises    %s (%d min)", strings.Join(left.Exercises, ", "), left.Minutes)
		}
		if left.Exhibits != nil {
			say("    What breaks  %s", indented(strings.Join(left.Exhibits, "; "), "                 "))
		}
	}
	say("\nTo say at the end:")
	for _, sentence := range p.Track.GoOn {
		say("  - %s", indented(sentence, "    "))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// widest is how many characters the longest description of a step has.
func (p Plan) widest() int {
	widest := 0
	for _, part := range p.Parts {
		for _, step := range part.Steps {
			widest = max(widest, utf8.RuneCountInString(step.What))
		}
	}
	return widest
}

// lineWidth is how long a line of text becomes: a timetable is printed on paper, too.
const lineWidth = 110

// indented breaks a text into lines, of which all but the first begin with indent.
func indented(text, indent string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(indent)+len(line)+1+len(word) > lineWidth {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n"+indent)
}
