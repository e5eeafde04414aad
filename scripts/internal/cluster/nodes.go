package cluster

// Simulated nodes, which kwok keeps ready.

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"example.com/operators/scripts/internal/problem"
)

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
		if err := scaleNodes(ctx, client, want); err != nil {
			return 0, fmt.Errorf("changing the number of nodes: %w", err)
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

// scaleNodes creates the simulated nodes that are missing, and deletes those with other names.
func scaleNodes(ctx context.Context, client kubernetes.Interface, want int) error {
	simulated, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: nodeLabel})
	if err != nil {
		return err
	}
	missing := sets.New[string]()
	for i := range want {
		missing.Insert(fmt.Sprintf("node-%06d", i))
	}
	for _, node := range simulated.Items {
		if missing.Has(node.Name) {
			missing.Delete(node.Name)
		} else if err := client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	for _, name := range sets.List(missing) {
		if _, err := client.CoreV1().Nodes().Create(ctx, newNode(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

const nodeLabel = "type=kwok"

func newNode(name string) *corev1.Node {
	resources := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels: map[string]string{
				"type": "kwok", "node-role.kubernetes.io/agent": "",
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH,
			},
		},
		Status: corev1.NodeStatus{Capacity: resources, Allocatable: resources},
	}
}
