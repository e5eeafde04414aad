package main

// workshop agenda: a timetable for a workshop, which is package agenda's.

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/agenda"
	"example.com/operators/scripts/internal/problem"
)

func newAgendaCommand() *cobra.Command {
	var start string
	command := &cobra.Command{
		Use:   "agenda [90m|3h|1day]",
		Short: "Print a workshop's timetable",
		Long: `Agenda prints the timetable of a workshop of that length: when each chapter begins, what is shown of it, which exercises
are done, what is left out, and what to say to those who go on alone. Without a length it lists the tracks. What a leader
prepares stands in scripts/INSTRUCTOR.md.`,
		Example: `  ./scripts/workshop agenda 3h
  ./scripts/workshop agenda 3h --start 13:30`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listTracks(command)
			}
			at, err := time.Parse("15:04", start)
			if err != nil {
				return &problem.Problem{What: fmt.Sprintf("%q is no time of day", start), Mend: "hours and minutes, such as --start 13:30"}
			}
			track, err := agenda.Named(args[0])
			if err != nil {
				return err
			}
			root, err := findRoot()
			if err != nil {
				return err
			}
			plan, err := agenda.New(root, track)
			if err != nil {
				return err
			}
			return plan.Print(command.OutOrStdout(), at)
		},
	}
	command.Flags().StringVar(&start, "start", "09:00", "when the workshop begins")
	return command
}

func listTracks(command *cobra.Command) error {
	table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
	for _, track := range agenda.Tracks() {
		fmt.Fprintf(table, "./scripts/workshop agenda %s\t%s\n", track.Name, track.Title)
	}
	return table.Flush()
}
