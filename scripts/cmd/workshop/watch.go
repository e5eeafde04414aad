package main

// The command watch, and how commands open an editor.

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/watch"
)

func newWatchCommand() *cobra.Command {
	var editCommand string
	command := &cobra.Command{
		Use:   "watch [CHAPTER[/K]]",
		Short: "Check an exercise each time you save it",
		Long: `Watch checks an exercise, and checks it again each time you save it. It begins with the exercise that you name, or
with the first one that you haven't passed, in all chapters or in one. Keys:

  1  to 9 answer the question of a ticket
  h  shows a hint
  p  records your guess at the exercise's question, and shows it next to the answer once you have passed
  l  lists all exercises: move with j and k, open one with Enter, filter with /, reset one with r
  n  goes to the next exercise that you haven't passed
  e  opens the place to work on in your editor, with the command in --edit-cmd
  c  checks again
  q  quits`,
		Example: `  ./scripts/workshop watch
  ./scripts/workshop watch 01/1
  ./scripts/workshop watch --edit-cmd 'code -g {file}:{line}'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := findExercises(args)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				command.Println(nothingOpen(found))
				return nil
			}
			start, open, err := firstOpen(found)
			if err != nil {
				return err
			}
			if !open {
				start = found[0]
			}
			if len(found) == 1 { // that one first, and then all others
				if found, err = exercises.All(theRoot()); err != nil {
					return err
				}
			}
			terminal, err := watch.OpenTerminal(os.Stdin, os.Stdout, colours())
			if err != nil {
				return err
			}
			return watch.Watch{
				Checker:     theChecker(),
				Terminal:    terminal,
				Exercises:   found,
				Start:       start,
				EditCommand: editCommand,
			}.Run(command.Context())
		},
	}
	addEditFlag(command, &editCommand, "the command of your editor for the key e, such as 'code -g {file}:{line}'")
	return command
}

func addEditFlag(command *cobra.Command, editCommand *string, usage string) {
	command.Flags().StringVar(editCommand, "edit-cmd", "", usage)
}

// editAt opens the editor at a place, and waits for it.
func editAt(editCommand, place string) error {
	command, err := exercises.EditCommand(editCommand, theRoot(), place)
	if err != nil {
		return err
	}
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("open the editor with %q: %w", editCommand, err)
	}
	return nil
}
