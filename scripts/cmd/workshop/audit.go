package main

import (
	"slices"
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
			requests = slices.DeleteFunc(requests, func(r audit.Request) bool {
				return !strings.HasPrefix(r.Client(), client) || !strings.Contains(r.URI, about) || writes && !r.IsWrite()
			})
			if count {
				command.Println(len(requests))
				return nil
			}
			for _, request := range requests {
				command.Printf("%-24s  %s\n", request.Client(), request)
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
