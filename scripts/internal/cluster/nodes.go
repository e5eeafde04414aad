package cluster

// Simulated nodes, which kwok keeps ready.

import (
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// simulatedNodes is how many nodes a new cluster gets. Each holds 110 Pods.
const simulatedNodes = 20

// createNodes creates the nodes of a new cluster, and waits until all are Ready.
func (c *Cluster) createNodes(ctx context.Context) error {
	client, err := Client(c)
	if err != nil {
		return err
	}
	for i := range simulatedNodes {
		_, err := client.CoreV1().Nodes().Create(ctx, newNode(fmt.Sprintf("node-%06d", i)), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create the simulated nodes: %w", err)
		}
	}
	return c.wait(ctx, "kwok-controller", IsWhole)
}

// countNodes returns how many nodes there are, and how many of them are Ready.
func countNodes(ctx context.Context, client kubernetes.Interface) (all, ready int, err error) {
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

func newNode(name string) *corev1.Node {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
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
