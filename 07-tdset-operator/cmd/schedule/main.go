// Command schedule prints what TDSets will want in a week, before anyone applies them. It needs no cluster.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/operators/07-tdset-operator/internal/schedule"
	"example.com/operators/07-tdset-operator/internal/week"
)

const usage = `schedule prints what TDSets will want in a week, before anyone applies them: replicas by day and hour, the transitions,
and what may not be meant so. It needs no cluster. Whatever else is in the file is left out.

usage: schedule [-from 2026-01-01] [FILE]

FILE is YAML; without it, or if it is -, standard input is read. With kubectl get tds -o yaml, that may be a cluster's TDSets.

`

// Exit codes.
const (
	exitFailed     = 1 // a TDSet can't be read, or can't be
	exitWrongUsage = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, time.Now())) }

// run is main with its surroundings given, and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, now time.Time) int {
	var from time.Time
	flags := flag.NewFlagSet("schedule", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	flags.Func("from", "first `day` of the week, such as 2026-01-01 (default: today, in each TDSet's zone)", func(value string) (err error) {
		if from, err = time.Parse(time.DateOnly, value); err != nil {
			return errors.New("a day is written as 2026-01-01")
		}
		return nil
	})
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitWrongUsage
	case flags.NArg() > 1:
		fmt.Fprintf(stderr, "schedule: one file, please, and flags before it; these are %q\n", flags.Args())
		return exitWrongUsage
	}
	file, text := flags.Arg(0), stdin
	if file == "" || file == "-" {
		file = "standard input"
	} else {
		opened, err := os.Open(file)
		if err != nil {
			fmt.Fprintln(stderr, err)
			return exitFailed
		}
		defer opened.Close()
		text = opened
	}
	failed := printWeeks(stdout, text, from, now)
	for _, err := range failed {
		fmt.Fprintf(stderr, "%s: %v\n", file, err)
	}
	if len(failed) > 0 {
		return exitFailed
	}
	return 0
}

// printWeeks prints the weeks of the TDSets in a text, and returns why others aren't printed.
func printWeeks(out io.Writer, text io.Reader, from, now time.Time) (failed []error) {
	tdsets, failed := week.Read(text)
	if len(tdsets) == 0 && len(failed) == 0 {
		return []error{errors.New("there is no TDSet in it")}
	}
	printed := false
	for _, tdset := range tdsets {
		name := week.NameOf(tdset)
		refused := schedule.Validate(&tdset.Spec, field.NewPath("spec"))
		for _, err := range refused {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		if len(refused) > 0 {
			continue
		}
		if printed {
			fmt.Fprintln(out)
		}
		if err := week.Print(out, tdset, from, now); err != nil {
			return append(failed, fmt.Errorf("%s: %w", name, err))
		}
		printed = true
	}
	return failed
}
