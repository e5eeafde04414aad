package main

// workshop stored reads the cluster's etcd.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/stored"
)

func newStoredCommand() *cobra.Command {
	var namespace string
	command := &cobra.Command{
		Use:   "stored KIND|RESOURCE [NAME]",
		Short: "Show the version in which etcd has objects",
		Long: `Stored lists all objects of a resource with the apiVersion in which etcd has them. With a name, it prints the object itself
as it is stored. The API server doesn't show that: it converts objects to the version that a client asks for.

It works while no webhook converts objects, and only on a cluster with simulated nodes, whose etcd runs on this machine.`,
		Example: `  ./scripts/workshop stored tdsets
  ./scripts/workshop stored tdsets.schedule.rs tdset-hello-world --namespace temp`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			if slices.Contains(args, "") {
				return problem.New("the name of a resource or an object is empty").ToDo("name one, as in: ./scripts/workshop stored tdsets")
			}
			resource, objects, err := storedObjects(command, args[0])
			if err != nil {
				return err
			}
			objects = slices.DeleteFunc(objects, func(o stored.Object) bool {
				return namespace != "" && o.Namespace != namespace || len(args) == 2 && o.Name != args[1]
			})
			if len(args) == 1 {
				return printVersions(command, objects)
			}
			if len(objects) == 0 {
				return problem.New("etcd has no %s with the name %q", resource, args[1]).
					ToDo("./scripts/workshop stored %s lists those that it has", args[0])
			}
			return printObjects(command, objects)
		},
	}
	command.Flags().StringVarP(&namespace, "namespace", "n", "", "only objects in this namespace (default: all)")
	return command
}

// storedObjects returns all objects of the resource that the user has named.
func storedObjects(command *cobra.Command, name string) (resource schema.GroupResource, objects []stored.Object, err error) {
	c, isOurs := theCluster().(*cluster.Cluster)
	if !isOurs {
		return resource, nil, problem.New("cluster %q runs in containers, and its etcd isn't reachable from here", theName()).
			ToDo("use the cluster with simulated nodes: ./scripts/workshop --on kwok stored %s", name)
	}
	if up, err := c.Serves(command.Context()); err != nil || !up {
		return resource, nil, cmp.Or(err, notUp(c))
	}
	if resource, err = findResource(c, name); err != nil {
		return resource, nil, err
	}
	config, err := c.Etcd()
	if err != nil {
		return resource, nil, err
	}
	etcd, err := stored.Connect(config)
	if err != nil {
		return resource, nil, err
	}
	objects, err = etcd.Objects(command.Context(), resource)
	return resource, objects, err
}

// findResource finds a resource by the names that kubectl accepts: tdset, tdsets, tds, TDSet,
// tdsets.schedule.rs or tdsets.v1.schedule.rs.
func findResource(c cluster.Backend, name string) (schema.GroupResource, error) {
	config, err := cluster.RESTConfig(c)
	if err != nil {
		return schema.GroupResource{}, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return schema.GroupResource{}, err
	}
	cached := memory.NewMemCacheClient(client)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	versioned, parsed := schema.ParseResourceArg(strings.ToLower(name))
	if versioned != nil {
		if found, err := mapper.ResourceFor(*versioned); err == nil {
			return found.GroupResource(), nil
		}
	}
	found, err := mapper.ResourceFor(parsed.WithVersion(""))
	var several *meta.AmbiguousResourceError
	switch {
	case meta.IsNoMatchError(err):
		return schema.GroupResource{}, problem.New("the API server has no resource %q", name).
			ToDo("./scripts/workshop kubectl api-resources lists those that it has")
	case errors.As(err, &several): // as kubectl does, take the first
		found = several.MatchingResources[0]
	case err != nil:
		return schema.GroupResource{}, fmt.Errorf("finding the resource %q: %w", name, err)
	}
	return found.GroupResource(), nil
}

func printVersions(command *cobra.Command, objects []stored.Object) error {
	if len(objects) == 0 {
		_, err := fmt.Fprintln(command.ErrOrStderr(), "No objects are stored.")
		return err
	}
	table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
	namespaced := slices.ContainsFunc(objects, func(o stored.Object) bool { return o.Namespace != "" })
	row := func(namespace, name, version string) {
		if namespaced {
			name = namespace + "\t" + name
		}
		fmt.Fprintf(table, "%s\t%s\n", name, version)
	}
	row("NAMESPACE", "NAME", "STORED AS")
	for _, object := range objects {
		row(object.Namespace, object.Name, object.APIVersion)
	}
	return table.Flush()
}

// printObjects prints several objects if they have the same name, in different namespaces.
func printObjects(command *cobra.Command, objects []stored.Object) error {
	for i, object := range objects {
		content, err := object.YAML()
		if err != nil {
			return err
		}
		if i > 0 {
			content = append([]byte("---\n"), content...)
		}
		if _, err := command.OutOrStdout().Write(content); err != nil {
			return err
		}
	}
	return nil
}
