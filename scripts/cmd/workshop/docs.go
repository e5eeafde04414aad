package main

// workshop docs: the texts, checked by package suite, or written by package docs.

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/overview"
)

func newDocsCommand() *cobra.Command {
	var check, write bool
	command := &cobra.Command{
		Use:   "docs --write | --check [CHAPTER...]",
		Short: "Check the texts, or update the code that they show",
		Long: `With --write, the code in the texts is put there from the source. With --check, it is compared with the source, links and
headings are checked, and the commands in the texts are run, each text on a fresh cluster, and what they print is
compared with what is shown.`,
		Args: func(_ *cobra.Command, args []string) error {
			if write && len(args) > 0 {
				return errors.New("--write takes no chapter: it writes all texts")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			if write {
				return writeDocs(command)
			}
			s, err := newSuite(command, args, cluster.Simulated)
			if err != nil {
				return err
			}
			return s.Texts(command.Context())
		},
	}
	command.Flags().BoolVar(&check, "check", false, "check the texts")
	command.Flags().BoolVar(&write, "write", false, "put the code in from the source")
	command.MarkFlagsOneRequired("check", "write")
	command.MarkFlagsMutuallyExclusive("check", "write")
	return command
}

func writeDocs(command *cobra.Command) error {
	files, err := docs.Files(theRoot())
	if err != nil {
		return err
	}
	changed, err := docs.Repository{Root: theRoot(), Tables: overview.Tables()}.Write(files...)
	for _, file := range changed {
		fmt.Fprintf(command.OutOrStdout(), "%s: written\n", file)
	}
	return err
}
