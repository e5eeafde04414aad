package cluster

// Waiting until a cluster can be used.

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
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

func (c *Cluster) waitServing(ctx context.Context) error { return c.wait(ctx, IsReady) }

// waitReady waits until the API server is ready, and the default ServiceAccount exists, without
// which no Pod is admitted.
func (c *Cluster) waitReady(ctx context.Context) error {
	return c.wait(ctx, func(ctx context.Context, client kubernetes.Interface) error {
		if err := IsReady(ctx, client); err != nil {
			return err
		}
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// wait waits until ready returns nil.
func (c *Cluster) wait(ctx context.Context, ready func(context.Context, kubernetes.Interface) error) error {
	client, err := Client(c)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, pollEvery, readyIn, true, func(ctx context.Context) (bool, error) {
		last = ready(ctx, client)
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
