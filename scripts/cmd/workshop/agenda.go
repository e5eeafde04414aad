package main

// workshop agenda prints timetables from scripts/AGENDA.md with times of day.

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

var sinceStart = regexp.MustCompile(`(?m)^\| (\d+):(\d\d) \|`)

func newAgendaCommand() *cobra.Command {
	var start string
	var prepare bool
	command := &cobra.Command{
		Use:   "agenda [90m|3h|1day]",
		Short: "Print a workshop's timetable",
		Long: `Agenda prints a workshop's timetable from scripts/AGENDA.md with the times of your day: when each chapter begins, what you
show, which exercises the participants do, what to leave out, and what to say at the end. Without a length it prints all
timetables. scripts/INSTRUCTOR.md says what to prepare.

With --prepare it prints the commands that each participant runs before the workshop, so that nobody waits for a build.`,
		Example: `  ./scripts/workshop agenda 3h --start 13:30
  ./scripts/workshop agenda 3h --prepare`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			begin, err := time.Parse("15:04", start)
			if err != nil {
				return problem.New("%q isn't a time of day", start).ToDo("use hours and minutes, such as --start 13:30")
			}
			text, err := exercises.Agenda(theRoot())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				introduction, _, _ := strings.Cut(text, "\n## ")
				timetable, err := exercises.Timetable(text, args[0])
				if err != nil {
					return err
				}
				text = introduction + timetable
			}
			if prepare {
				return printPreparation(command.OutOrStdout(), text)
			}
			_, err = fmt.Fprint(command.OutOrStdout(), sinceStart.ReplaceAllStringFunc(text, func(cell string) string {
				since := sinceStart.FindStringSubmatch(cell)
				passed, _ := time.ParseDuration(since[1] + "h" + since[2] + "m") // digits only
				return "| " + begin.Add(passed).Format("15:04") + " |"
			}))
			return err
		},
	}
	command.Flags().StringVar(&start, "start", "09:00", "when the workshop begins")
	command.Flags().BoolVar(&prepare, "prepare", false, "print what participants run before the workshop")
	return command
}

var chapterRow = regexp.MustCompile(`\*\*Chapter (\d\d)\*\*`)

// printPreparation prints the commands that compile all that a timetable uses.
func printPreparation(w io.Writer, timetable string) error {
	all, err := exercises.All(theRoot())
	if err != nil {
		return err
	}
	var chapters []string
	for _, row := range chapterRow.FindAllStringSubmatch(timetable, -1) {
		chapters = append(chapters, row[1])
	}
	slices.Sort(chapters)
	fmt.Fprint(w, "./scripts/workshop doctor\n./scripts/workshop up\n")
	for _, number := range slices.Compact(chapters) {
		fmt.Fprintf(w, "./scripts/workshop demo %s\n", number)
	}
	for _, exercise := range exercises.InTimetable(timetable, all) {
		fmt.Fprintf(w, "./scripts/workshop check %s\n", exercise.Name())
	}
	return nil
}
