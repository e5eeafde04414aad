package acceptance

// The cluster with real containers. Its one node is a docker container, created by kind.

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kindNode is the name of kind's node container, or "" on the workshop's own cluster, which
// simulates Pods.
func kindNode() string { return os.Getenv("TEST_KIND_NODE") }

// callsLoopback reports whether the API server can call webhooks on this machine's loopback, which it
// can't from a container. There, the chapters' test/e2e calls webhooks through their Service.
func callsLoopback() bool { return kindNode() == "" }

// onNode runs a command in the node's container, and returns its output.
func onNode(ctx context.Context, command ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "docker", append([]string{"exec", kindNode()}, command...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s on the node: %w: %s", command[0], err, strings.TrimSpace(string(output)))
	}
	return string(output), nil
}

// signal sends a signal to the Pod's containers, without the kubelet's knowledge, as in a crash.
func signal(ctx context.Context, pod corev1.Pod, name string) error {
	for _, status := range pod.Status.ContainerStatuses {
		_, id, _ := strings.Cut(status.ContainerID, "://")
		if _, err := onNode(ctx, "ctr", "--namespace", "k8s.io", "tasks", "kill", "--signal", name, id); err != nil {
			return err
		}
	}
	return nil
}

// holdContainers keeps one of the TDSet's Pods from stopping during a test, and returns its name.
func (s *scenario) holdContainers(name string) string {
	s.Helper()
	replicas := *s.getDeployment(name).Spec.Replicas
	// The kubelet kills the containers after this period.
	s.patchDeployment(name, `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":600}}}}`)
	s.becomesScheduled(name, replicas)
	for _, pod := range s.podsOf(name) {
		if pod.DeletionTimestamp == nil {
			s.must(signal(s.Context(), pod, "SIGSTOP"))
			return pod.Name
		}
	}
	s.Fatalf("TDSet %s has no Pod that isn't being deleted", name)
	return ""
}

// releaseContainers lets a Pod continue that was held.
func (s *scenario) releaseContainers(name string) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context()) // the test may be over
	pod, err := s.client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
	s.must(err)
	s.must(signal(ctx, *pod, "SIGCONT"))
}

// ask gets a page from the node, which can reach the networks of Pods and Services, and returns the
// answer.
func (s *scenario) ask(host string, port int) (string, error) {
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(port))
	answer, err := onNode(s.Context(), "curl", "--silent", "--show-error", "--fail", "--max-time", "5", url)
	return strings.TrimSpace(answer), err
}

// answers waits until one of the Pods answers at that address.
func (s *scenario) answers(host string, port int, pods func() []corev1.Pod) {
	s.Helper()
	s.eventually(fmt.Sprintf("a Pod answers at %s, port %d", host, port), func() error {
		answer, err := s.ask(host, port)
		if err != nil {
			return err
		}
		for _, pod := range pods() {
			if pod.Name == answer {
				return nil
			}
		}
		return fmt.Errorf("the answer isn't from one of the Pods: %q", answer)
	})
}

// podsWith returns the Pods with that label.
func (s *scenario) podsWith(label string) []corev1.Pod {
	s.Helper()
	list, err := s.client.CoreV1().Pods(s.namespace).List(s.Context(), metav1.ListOptions{LabelSelector: label})
	s.must(err)
	return list.Items
}

// isRunning reports whether all containers of the Pod run.
func isRunning(pod corev1.Pod) bool {
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Running == nil {
			return false
		}
	}
	return len(pod.Status.ContainerStatuses) > 0
}
