package program

// A second controller, looked for before a program starts, because two controllers of the same
// objects overwrite each other's work.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// deployments are where chapters' programs run in Pods, and the command that removes one of them.
var deployments = []struct{ kind, namespace, remove string }{
	{chapters.Foo, "foo-system", "deploy 05 --remove"},
	{chapters.Foo, "foo-operator-system", "deploy 06 --remove"},
	{chapters.TDSet, "tdset-system", "deploy 05 --tdset --remove"},
	{chapters.TDSet, "tdset-operator-system", "deploy 07 --remove"},
}

// checkAlone returns an error if a chapter's program for that kind runs in Pods of the cluster, in
// any namespace except that one.
func checkAlone(ctx context.Context, k cluster.Kubectl, kind, except string) error {
	for _, other := range deployments {
		if other.kind != kind || other.namespace == except {
			continue
		}
		found, err := k.Run(ctx, "get", "deployments", "--namespace", other.namespace, "--output", "name")
		if err != nil {
			return err
		}
		if found != "" {
			return problem.New("another controller for %ss is already running in namespace %s", kind, other.namespace).
				ToDo("remove it first: ./scripts/workshop %s", other.remove)
		}
	}
	return nil
}

// CheckOthers returns an error if a chapter's program for that kind runs in Pods. It also warns of any
// other program that watches these objects in the namespace, or in any if that is "".
func CheckOthers(
	ctx context.Context, c cluster.Backend, k cluster.Kubectl, kind, namespace string, warnings io.Writer,
) error {
	if c.Nodes() == cluster.Containers {
		if err := checkAlone(ctx, k, kind, ""); err != nil {
			return err
		}
	}
	started, err := serverStarted(ctx, k)
	if err != nil {
		return err
	}
	log := audit.Log{Path: c.AuditLog()}
	watches, err := log.Watching(strings.ToLower(kind)+"s", started)
	if err != nil {
		return err
	}
	if others := controllers(watches, namespace); len(others) > 0 {
		fmt.Fprintln(warnings, ui.Wrap(fmt.Sprintf("Warning: %s already watches %ss on this cluster, and two "+
			"controllers overwrite each other's work: stop that one first, with Ctrl-C in its terminal.",
			strings.Join(others, " and "), kind)))
	}
	return nil
}

// controllers names the programs that may write what they watch: neither kubectl nor Kubernetes'
// own.
func controllers(watches []audit.Request, namespace string) (names []string) {
	for _, watch := range watches {
		client := watch.Client()
		overlaps := namespace == "" || watch.Namespace == "" || watch.Namespace == namespace
		if overlaps && client != "kubectl" && !strings.HasPrefix(client, "kube-") {
			names = append(names, client)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// serverStarted is when the API server was started. Earlier watches have ended, although the audit
// log doesn't always say so.
func serverStarted(ctx context.Context, k cluster.Kubectl) (time.Time, error) {
	metrics, err := k.Run(ctx, "get", "--raw", "/metrics")
	if err != nil {
		return time.Time{}, err
	}
	for line := range strings.Lines(metrics) {
		if value, found := strings.CutPrefix(line, "process_start_time_seconds "); found {
			seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return time.UnixMilli(int64(1000 * seconds)), err
		}
	}
	return time.Time{}, errors.New("the API server's metrics lack process_start_time_seconds")
}
