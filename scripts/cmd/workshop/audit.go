package main

// workshop audit: who sent which request, from the API server's audit log.

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/audit"
)

func newAuditCommand() *cobra.Command {
	var client, about string
	var count, writes bool
	command := &cobra.Command{
		Use:   "audit",
		Short: "Show who sent which request to the API server",
		Long: `Audit shows the requests that the cluster's API server has answered, oldest first, each with the program that sent it:
its audit log, made short.`,
		Example: `  ./scripts/workshop audit --client 01-raw-watch --writes
  ./scripts/workshop audit --about /pods --count`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := existingCluster()
			if err != nil {
				return err
			}
			log := audit.Log{Path: c.AuditLog()}
			requests, err := log.Requests("")
			if err != nil {
				return err
			}
			matching := 0
			for _, request := range requests {
				if !strings.HasPrefix(request.Client(), client) || !strings.Contains(request.URI, about) || writes && !request.IsWrite() {
					continue
				}
				matching++
				if !count {
					fmt.Fprintf(command.OutOrStdout(), "%-24s  %s\n", request.Client(), request)
				}
			}
			if count {
				fmt.Fprintln(command.OutOrStdout(), matching)
			}
			return nil
		},
	}
	command.Flags().StringVar(&client, "client", "", "only of programs whose name begins so")
	command.Flags().StringVar(&about, "about", "", "only with this in the path or query")
	command.Flags().BoolVar(&writes, "writes", false, "only what could change something")
	command.Flags().BoolVar(&count, "count", false, "print their number instead")
	return command
}
