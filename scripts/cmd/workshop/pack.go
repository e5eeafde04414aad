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
		Long: `Pack makes one archive: this repository as committed last, the control plane's programs, Go, and a module proxy made of
files. A machine that has it needs a shell and tar, and no network:

  tar xzf operators-linux-amd64.tar.gz
  cd operators
  ./scripts/workshop demo

There, scripts/workshop finds Go and the modules beside itself. For your own go commands: eval "$(./scripts/workshop env)".
An archive is for one platform: linux or darwin (macOS), amd64 or arm64. For WSL2, take linux.

The first archive for another platform than this machine's takes some minutes, since Kubernetes is built for it. What was built
is kept in .workshop/pack for the next time. "down --purge" removes that, and archives there.`,
		Example: `  ./scripts/workshop pack
  ./scripts/workshop pack --os darwin --arch arm64 --output /media/stick`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			options.Root, options.UI = theRoot(), ui.New(os.Stderr)
			options.Build = func(ctx context.Context, builder *controlplane.Builder) error { return build(ctx, options.UI, builder) }
			result, err := pack.Pack(command.Context(), options)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s\n  %.0f MiB, %.1f GiB unpacked, in %s\n  sha256 %s\n", result.Path,
				float64(result.Size)/(1<<20), float64(result.Unpacked)/(1<<30), result.Elapsed.Round(time.Second), result.SHA256)
			return nil
		},
	}
	command.Flags().StringVar(&options.Platform.OS, "os", options.Platform.OS, "the system that the archive is for: linux or darwin")
	command.Flags().StringVar(&options.Platform.Arch, "arch", options.Platform.Arch, "its processor: amd64 or arm64")
	command.Flags().StringVar(&options.Output, "output", "", "the archive, or a folder for it (default .workshop/pack)")
	return command
}
