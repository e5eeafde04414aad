package main

// workshop agenda prints timetables from scripts/AGENDA.md with times of day.

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/problem"
)

var sinceStart = regexp.MustCompile(`(?m)^\| (\d+):(\d\d) \|`)

func newAgendaCommand() *cobra.Command {
	var start string
	command := &cobra.Command{
		Use:   "agenda [90m|3h|1day]",
		Short: "Print a workshop's timetable",
		Long: `Agenda prints a workshop's timetable from scripts/AGENDA.md with the times of your day: when each chapter begins, what you
show, which exercises the participants do, what to leave out, and what to say at the end. Without a length it prints all
timetables. scripts/INSTRUCTOR.md says what to prepare.`,
		Example: "  ./scripts/workshop agenda 3h --start 13:30",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			begin, err := time.Parse("15:04", start)
			if err != nil {
				return problem.New("%q isn't a time of day", start).ToDo("use hours and minutes, such as --start 13:30")
			}
			page, err := os.ReadFile(filepath.Join(theRoot(), "scripts", "AGENDA.md"))
			if err != nil {
				return err
			}
			text := string(page)
			if len(args) == 1 {
				introduction, _, _ := strings.Cut(text, "\n## ")
				_, after, found := strings.Cut(text, "\n## "+args[0]+" (")
				if !found {
					return problem.New("there is no timetable %q", args[0]).
						ToDo("choose 90m, 3h or 1day, the headings of scripts/AGENDA.md")
				}
				timetable, _, _ := strings.Cut(after, "\n## ")
				text = introduction + "\n## " + args[0] + " (" + timetable
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
	return command
}
