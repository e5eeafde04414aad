package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/pack"
)

func newEnvCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print the settings that go and kubectl need in your own shell",
		Long: `Env prints lines for a POSIX shell that put the workshop's kubectl at the end of PATH. They set CGO_ENABLED=0, as the workshop does
for all its builds: otherwise a first "go run" compiles the same libraries again, which takes minutes. (go test -race needs
CGO_ENABLED=1.) In a folder that was unpacked from an
archive ("pack"), they also put its Go at the front, and point Go to the archive's modules: so that commands such as
"go run ./01-raw-watch" work there as well. scripts/workshop itself doesn't need them.`,
		Example: `  eval "$(./scripts/workshop env)"`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), strings.Join(pack.Exports(theRoot(), os.LookupEnv), "\n"))
			return err
		},
	}
}
