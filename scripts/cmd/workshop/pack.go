package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/pack"
	"example.com/operators/scripts/internal/ui"
)

func newPackCommand() *cobra.Command {
	var system, processor string
	command := &cobra.Command{
		Use:   "pack",
		Short: "Pack the whole course into one archive, for machines without a network",
		Long: `Pack creates one archive with the last commit of this repository, the control plane, Go, and a module proxy made
of files. To use it, a machine needs a shell and tar, but no network:

  tar xzf operators-linux-amd64.tar.gz
  cd operators
  ./scripts/workshop demo

There, scripts/workshop finds Go and the modules in the archive. For your own go commands: eval "$(./scripts/workshop env)".
An archive is for one platform: linux or darwin (macOS), amd64 or arm64. For WSL2, choose linux. The first archive for
another platform takes some minutes, because Kubernetes has to be compiled for it.`,
		Example: `  ./scripts/workshop pack
  ./scripts/workshop pack --os darwin --arch arm64`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			options := pack.Options{Root: theRoot(), OS: system, Arch: processor, UI: ui.New(os.Stderr)}
			archive, err := pack.Pack(command.Context(), options)
			if err != nil {
				return err
			}
			info, err := os.Stat(archive)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s (%d MB)\n", archive, info.Size()/1_000_000)
			return nil
		},
	}
	command.Flags().StringVar(&system, "os", runtime.GOOS, "the archive's operating system: linux or darwin")
	command.Flags().StringVar(&processor, "arch", runtime.GOARCH, "the archive's processor: amd64 or arm64")
	return command
}
