package main

// workshop stored reads the cluster's etcd.

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
)

func newStoredCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stored RESOURCE [NAME]",
		Short: "Show the version in which etcd has custom objects",
		Long: `Stored lists all objects of a custom resource with the apiVersion in which etcd has them. With a name, it
prints the object itself as it is stored. The API server doesn't show that: it converts objects to the version that a
client asks for.

It works while no webhook converts objects, and only on a cluster with simulated nodes, whose etcd runs on this
machine.`,
		Example: `  ./scripts/workshop stored tdsets
  ./scripts/workshop stored tdsets.schedule.rs tdset-hello-world`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			c, isOurs := theCluster().(*cluster.Cluster)
			if !isOurs {
				return problem.New("cluster %q runs in containers, and its etcd isn't reachable from here", theName()).
					ToDo("use the cluster with simulated nodes: ./scripts/workshop --on kwok stored %s", args[0])
			}
			if up, err := c.Serves(command.Context()); err != nil || !up {
				return cmp.Or(err, notUp(c))
			}
			resource, err := findResource(command.Context(), c, args[0])
			if err != nil {
				return err
			}
			objects, err := c.Stored(command.Context(), resource)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return printVersions(command, objects)
			}
			return printStored(command, objects, args[1])
		},
	}
}

// findResource finds a custom resource by its name in the plural, with or without its group.
func findResource(ctx context.Context, c cluster.Backend, name string) (schema.GroupResource, error) {
	crds, err := cluster.KubectlFor(theRoot(), c).Run(ctx, "get", "crds", "-o", "name")
	if err != nil {
		return schema.GroupResource{}, err
	}
	for _, crd := range strings.Fields(crds) {
		if found := schema.ParseGroupResource(path.Base(crd)); found.Resource == name || found.String() == name {
			return found, nil
		}
	}
	return schema.GroupResource{}, problem.New("there is no custom resource %q", name).
		ToDo("./scripts/workshop kubectl get crds lists them")
}

func printVersions(command *cobra.Command, objects []unstructured.Unstructured) error {
	table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNAME\tSTORED AS")
	for _, object := range objects {
		fmt.Fprintf(table, "%s\t%s\t%s\n", object.GetNamespace(), object.GetName(), object.GetAPIVersion())
	}
	return table.Flush()
}

// printStored prints several objects if they have the same name, in different namespaces.
func printStored(command *cobra.Command, objects []unstructured.Unstructured, name string) error {
	objects = slices.DeleteFunc(objects, func(o unstructured.Unstructured) bool { return o.GetName() != name })
	if len(objects) == 0 {
		return problem.New("etcd has no such custom object with the name %q", name).
			ToDo("leave the name out, to see those that it has")
	}
	for _, object := range objects {
		content, err := yaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "---\n%s", content)
	}
	return nil
}
