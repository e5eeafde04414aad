// Command schedule prints what TDSets will want in a week, by chapter 07's rules. It needs no
// cluster. `workshop schedule` builds and runs it.
//
// It is a module of its own, because it imports chapter 07: a chapter that doesn't compile must not
// break the workshop's other commands.
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
)

func main() {
	err := run(os.Args[1:], os.Stdin, os.Stdout, time.Now())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is main with its surroundings passed in. The argument is a file, or - for stdin.
func run(args []string, stdin io.Reader, stdout io.Writer, now time.Time) error {
	var from time.Time
	flags := flag.NewFlagSet("schedule", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is printed by main
	flags.Func("from", "first `day` of the week (default: today, in each TDSet's zone)", func(value string) (err error) {
		if from, err = time.Parse(time.DateOnly, value); err != nil {
			return errors.New("write the day as 2026-01-01")
		}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	file, text := flags.Arg(0), stdin
	if file == "-" {
		file = "standard input"
	} else {
		opened, err := os.Open(file)
		if err != nil {
			return err
		}
		defer opened.Close()
		text = opened
	}
	var failed []error
	for _, err := range printWeeks(stdout, text, from, now) {
		failed = append(failed, fmt.Errorf("%s: %w", file, err))
	}
	return errors.Join(failed...)
}

// printWeeks prints the weeks of the TDSets in a text, and returns why some aren't printed.
func printWeeks(out io.Writer, text io.Reader, from, now time.Time) (failed []error) {
	tdsets, failed := readTDSets(text)
	if len(tdsets) == 0 && len(failed) == 0 {
		return []error{errors.New("there is no TDSet in it")}
	}
	printed := false
	for _, tdset := range tdsets {
		name := nameOf(tdset)
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
		if err := printWeek(out, tdset, from, now); err != nil {
			return append(failed, fmt.Errorf("%s: %w", name, err))
		}
		printed = true
	}
	return failed
}
