package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/pack"
	"example.com/operators/scripts/internal/ui"
)

func newPackCommand() *cobra.Command {
	options := pack.Options{Platform: controlplane.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}}
	command := &cobra.Command{
		Use:   "pack",
		Short: "Pack the whole course into one archive, for machines without a network",
		Long: `Pack creates one archive with the last commit of this repository, the control plane, Go, and a module proxy made
of files. To use it, a machine needs a shell and tar, but no network:

  tar xzf operators-linux-amd64.tar.gz
  cd operators
  ./scripts/workshop demo

There, scripts/workshop finds Go and the modules in the archive. For your own go commands: eval "$(./scripts/workshop env)".
An archive is for one platform: linux or darwin (macOS), amd64 or arm64. For WSL2, choose linux.

The first archive for another platform takes some minutes, because Kubernetes has to be built for it. The built program
is kept in .workshop/pack for the next time. "down --purge" removes it, and the archives there.`,
		Example: `  ./scripts/workshop pack
  ./scripts/workshop pack --os darwin --arch arm64 --output /media/stick`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			options.Root, options.UI = theRoot(), ui.New(os.Stderr)
			options.Build = func(ctx context.Context, builder *controlplane.Builder) error {
				return build(ctx, options.UI, builder, controlplane.ControlPlane)
			}
			result, err := pack.Pack(command.Context(), options)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s\n  %.0f MiB, %.1f GiB unpacked, in %s\n  sha256 %s\n", result.Path,
				float64(result.Size)/(1<<20), float64(result.Unpacked)/(1<<30), result.Elapsed.Round(time.Second), result.SHA256)
			return nil
		},
	}
	command.Flags().StringVar(&options.Platform.OS, "os", options.Platform.OS, "the archive's operating system: linux or darwin")
	command.Flags().StringVar(&options.Platform.Arch, "arch", options.Platform.Arch, "the archive's processor: amd64 or arm64")
	command.Flags().StringVar(&options.Output, "output", "", "the archive, or a folder for it (default .workshop/pack)")
	return command
}
