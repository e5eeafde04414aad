package cluster

// Waiting until a cluster can be used.

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"example.com/operators/scripts/internal/problem"
)

const (
	pollEvery = 50 * time.Millisecond
	readyIn   = 2 * time.Minute // on the slowest of machines; 3 s is usual
)

// Client has a short timeout, because all its callers retry.
func Client(b Backend) (kubernetes.Interface, error) {
	config, err := RESTConfig(b)
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	config.UserAgent = "workshop"
	return kubernetes.NewForConfig(config)
}

// waitReady waits until the API server is ready, and the default ServiceAccount exists, without
// which no Pod is admitted.
func (c *Cluster) waitReady(ctx context.Context) error {
	if err := c.ensureKubeconfig(); err != nil {
		return err
	}
	client, err := Client(c)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, pollEvery, readyIn, true, func(ctx context.Context) (bool, error) {
		if last = IsReady(ctx, client); last != nil {
			return false, nil
		}
		_, last = client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return last == nil, nil
	})
	if err != nil && ctx.Err() == nil {
		return problem.New("cluster %q runs, but isn't ready after %s", c.name, readyIn).
			ToDo(`"./scripts/workshop down" and "./scripts/workshop up" restart it, with its data`).
			SeeLog(c.ComponentLog("kube-apiserver")).
			Because(last)
	}
	return err
}

// IsReady returns nil if the API server reports that it is ready.
func IsReady(ctx context.Context, client kubernetes.Interface) error {
	return client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// bringUpNodes creates or deletes nodes, and waits until all are Ready.
func (c *Cluster) bringUpNodes(ctx context.Context, options UpOptions) (int, error) {
	client, err := Client(c)
	if err != nil {
		return 0, err
	}
	nodes, ready, err := CountNodes(ctx, client)
	if err != nil {
		return 0, err
	}
	want := cmp.Or(options.Nodes, nodes, DefaultNodes)
	if nodes == want && ready == want {
		return want, nil
	}
	options.Progress(fmt.Sprintf("waiting for %d nodes", want))
	if nodes != want {
		if err := c.kwokctl(ctx, "scale", "node", "--replicas", strconv.Itoa(want)); err != nil {
			return 0, err
		}
	}
	err = wait.PollUntilContextTimeout(ctx, pollEvery, readyIn, true, func(ctx context.Context) (bool, error) {
		nodes, ready, err = CountNodes(ctx, client)
		return err == nil && nodes == want && ready == want, nil
	})
	if err != nil && ctx.Err() == nil {
		return 0, problem.New("of the %d nodes wanted, cluster %q has %d, %d of them Ready, after %s", want, c.name, nodes, ready, readyIn).
			ToDo(`delete nodes that you created by hand, or start over with "./scripts/workshop down --purge"`).
			SeeLog(c.ComponentLog("kwok-controller"))
	}
	return want, err
}

// CountNodes returns how many nodes there are, and how many of them are Ready.
func CountNodes(ctx context.Context, client kubernetes.Interface) (all, ready int, err error) {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, 0, fmt.Errorf("counting nodes: %w", err)
	}
	for _, node := range list.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return len(list.Items), ready, nil
}

// endedError means that a component has ended during startup.
type endedError struct {
	*problem.Problem
	component string
}

func (e *endedError) Unwrap() error { return e.Problem }

// whileAlive cancels work if a component that was started has ended.
func (c *Cluster) whileAlive(ctx context.Context, work func(context.Context) error) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		_ = wait.PollUntilContextCancel(working, 4*pollEvery, false, func(ctx context.Context) (bool, error) {
			if ended := c.findEnded(ctx); ended != nil {
				stop(ended)
			}
			return false, nil
		})
	}()
	err := work(working)
	if cause := context.Cause(working); err != nil && cause != nil {
		return cause
	}
	return err
}

// findEnded looks for a component with a pid file and without a process.
func (c *Cluster) findEnded(ctx context.Context) error {
	files, _ := filepath.Glob(filepath.Join(c.kwok(), "pids", "*.pid"))
	running, err := c.running(ctx)
	if err != nil || ctx.Err() != nil {
		return nil
	}
	for _, file := range files {
		component := strings.TrimSuffix(filepath.Base(file), ".pid")
		if _, runs := running[component]; runs {
			continue
		}
		cause := lastLogError(c.ComponentLog(component))
		p := problem.New("%s of cluster %q ended while the cluster started", component, c.name).
			ToDo(`look at the log; "./scripts/workshop up" tries again, "./scripts/workshop down --purge" starts over`).
			SeeLog(c.ComponentLog(component)).
			Because(fmt.Errorf("its log says: %s", cause))
		p.Explain(problem.OnMachine(), cause)
		return &endedError{p, component}
	}
	return nil
}

// errorLine matches fatal errors in the components' logs: klog's letters, or etcd's JSON.
var errorLine = regexp.MustCompile(`^[EF]\d{4} |^Error: |^panic: |"level":"(error|fatal|panic)"`)

// lastLogError returns the last line of a log that looks like an error, or just the last line.
func lastLogError(log string) string {
	data, _ := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	last := cmp.Or(lines[len(lines)-1], "nothing")
	for _, line := range slices.Backward(lines) {
		if errorLine.MatchString(line) {
			last = line
			break
		}
	}
	return last[:min(len(last), 400)]
}
