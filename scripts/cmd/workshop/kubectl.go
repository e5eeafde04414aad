package main

// The commands kubectl, etcdctl, kubeconfig, env and audit, which give access to the cluster.

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
)

func newKubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl ...",
		Short:              "Run the pinned kubectl on the cluster",
		Example:            `  ./scripts/workshop kubectl get pods --all-namespaces`,
		DisableFlagParsing: true, // all flags are kubectl's
		RunE: func(command *cobra.Command, args []string) error {
			c := theCluster()
			if up, err := c.Serves(command.Context()); err != nil || !up {
				return cmp.Or(err, notUp(c))
			}
			return become("kubectl", args, cluster.KubectlFor(theRoot(), c).Environment())
		},
	}
}

func newEtcdctlCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "etcdctl ...",
		Short:              "Run etcdctl on the cluster's etcd",
		Long:               `Etcdctl shows objects as they are stored. The keys of custom objects begin with /registry/GROUP/RESOURCE/.`,
		Example:            `  ./scripts/workshop etcdctl get --prefix /registry/schedule.rs/tdsets/`,
		DisableFlagParsing: true, // all flags are etcdctl's
		RunE: func(command *cobra.Command, args []string) error {
			c, isOurs := theCluster().(*cluster.Cluster)
			if !isOurs {
				return problem.New("cluster %q runs in containers, and its etcd can't be reached from here", theName()).
					ToDo("use the cluster with simulated nodes: ./scripts/workshop --on kwok etcdctl ...")
			}
			if up, err := c.Serves(command.Context()); err != nil || !up {
				return cmp.Or(err, notUp(c))
			}
			return become("etcdctl", args, c.EtcdctlEnvironment())
		},
	}
}

// become replaces this process by a program in .workshop/bin, which gets the terminal, pipes and
// signals.
func become(name string, args, environment []string) error {
	binary := filepath.Join(theRoot(), ".workshop", "bin", name)
	// Of a variable's two values, a program in Go takes the first.
	err := syscall.Exec(binary, append([]string{name}, args...), append(environment, os.Environ()...))
	return fmt.Errorf("running %s: %w", binary, err)
}

func newKubeconfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path of the cluster's kubeconfig",
		Long:    `Kubeconfig prints only the path of the administrator's kubeconfig.`,
		Example: `  export KUBECONFIG="$(./scripts/workshop kubeconfig)"`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := existingCluster()
			if err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), c.Kubeconfig())
			return nil
		},
	}
}

func notUp(c cluster.Backend) error {
	return problem.New("cluster %q isn't up", c.Name()).ToDo("%s", toUp(c))
}

func toUp(c cluster.Backend) string {
	if c.Nodes() == cluster.Containers {
		return "./scripts/workshop up --kind"
	}
	return "./scripts/workshop up"
}

func newEnvCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print the settings that go and kubectl need in your own shell",
		Long: `Env prints lines for a POSIX shell. They set KUBECONFIG, so that kubectl and the chapters' programs act on
the workshop's cluster and never on yours, put the workshop's kubectl at the end of PATH, and set KUBEBUILDER_ASSETS, in
which tests find the API server. They also set CGO_ENABLED=0 and the flags in GOFLAGS with which the workshop builds
everything. Otherwise your first "go run" would compile the same libraries again, which takes minutes. (go test -race
needs CGO_ENABLED=1.) If this folder brings its own Go and modules, for a machine without a network, these are used,
too. scripts/workshop itself doesn't need any of this.`,
		Example: `  eval "$(./scripts/workshop env)"`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), exports(theRoot(), theCluster().Kubeconfig()))
			return err
		},
	}
}

// exports are shell commands after which programs act on the cluster of this kubeconfig, and go gets
// the settings of the workshop's own builds, so that a first `go run` finds everything compiled. These
// settings are in this process's environment, which scripts/workshop has set.
func exports(root, kubeconfig string) string {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	var lines strings.Builder
	fmt.Fprintf(&lines, "export KUBECONFIG=%s\n", quote(kubeconfig))
	for _, variable := range []string{"CGO_ENABLED", "GOFLAGS", "KUBEBUILDER_ASSETS", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"} {
		if value, isSet := os.LookupEnv(variable); isSet {
			fmt.Fprintf(&lines, "export %s=%s\n", variable, quote(strings.TrimSpace(value)))
		}
	}
	bin := func(names ...string) string {
		return quote(filepath.Join(append([]string{root, ".workshop"}, names...)...))
	}
	return lines.String() + "export PATH=" + bin("go", "bin") + `:"$PATH":` + bin("bin")
}

func newAuditCommand() *cobra.Command {
	var client, about string
	var count, writes bool
	command := &cobra.Command{
		Use:   "audit",
		Short: "Show who sent which request to the API server",
		Long: `Audit shows the requests that the cluster's API server has answered, oldest first, each with the program that
sent it. It is a short form of the audit log.`,
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
	command.Flags().StringVar(&client, "client", "", "only requests of programs whose name begins with this")
	command.Flags().StringVar(&about, "about", "", "only requests with this in the path or query")
	command.Flags().BoolVar(&writes, "writes", false, "only requests that could change something")
	command.Flags().BoolVar(&count, "count", false, "print only their number")
	return command
}
