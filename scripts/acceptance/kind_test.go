// The cluster where containers are real: one node, which is a container of docker's itself, made by kind.

package acceptance

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

	"example.com/operators/scripts/internal/contract"
)

// kindNode is the name of the container that is kind's node; "" on the workshop's own cluster, where Pods are simulated.
func kindNode() string { return os.Getenv("TEST_KIND_NODE") }

// inCluster reports whether the programs run as Pods, and not on this machine.
func inCluster() bool { return os.Getenv("TEST_IN_CLUSTER") != "" }

// whyLeftOut says why that isn't asked on this cluster; "" if it is.
func whyLeftOut(what string) string {
	if kindNode() == "" {
		return ""
	}
	return contract.LeftOut(inCluster())[what]
}

// onNode runs a command in the node's container, and returns what it prints.
func onNode(ctx context.Context, command ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "docker", append([]string{"exec", kindNode()}, command...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s on the node: %w: %s", command[0], err, strings.TrimSpace(string(output)))
	}
	return string(output), nil
}

// signal sends a signal to the Pod's containers: of what SIGKILL does, as a crash would, not even the kubelet knows beforehand.
func signal(ctx context.Context, pod corev1.Pod, name string) error {
	for _, status := range pod.Status.ContainerStatuses {
		_, id, _ := strings.Cut(status.ContainerID, "://")
		if _, err := onNode(ctx, "ctr", "--namespace", "k8s.io", "tasks", "kill", "--signal", name, id); err != nil {
			return err
		}
	}
	return nil
}

// holdContainers keeps one of the TDSet's Pods from stopping for as long as a test looks, and returns its name.
func (s *scenario) holdContainers(name string) string {
	s.Helper()
	replicas := *s.getDeployment(name).Spec.Replicas
	s.patchDeployment(name, `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":600}}}}`) // until the kubelet makes them stop
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

// releaseContainers lets a Pod stop that was held.
func (s *scenario) releaseContainers(name string) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context()) // the test may be over
	pod, err := s.client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
	s.must(err)
	s.must(signal(ctx, *pod, "SIGCONT"))
}

// restartAPIServerOnNode kills the API server's process. The kubelet starts it again: at once, if it didn't have to for some time.
func (s *scenario) restartAPIServerOnNode(meanwhile func()) {
	s.Helper()
	process := func() (string, error) { return onNode(s.Context(), "pgrep", "-x", "kube-apiserver") }
	former, err := process()
	s.must(err)
	_, err = onNode(s.Context(), "kill", "-KILL", strings.TrimSpace(former))
	s.must(err)
	s.Cleanup(func() { // the next one who kills it is to wait no longer: a kubelet that is new knows of no crash
		ctx, cancel := context.WithTimeout(context.Background(), s.patience)
		defer cancel()
		if _, err := onNode(ctx, "systemctl", "restart", "kubelet"); err != nil {
			s.Error(err)
		}
	})
	meanwhile()
	s.eventually("the API server is ready again", func() error {
		if now, err := process(); err != nil || now == former {
			return fmt.Errorf("its process is %q, error %v", now, err)
		}
		return s.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(s.Context()).Error()
	})
}

// ask asks for a page, from the node, where the Pods' network and that of the Services can be reached, and returns the answer.
func (s *scenario) ask(host string, port int) (string, error) {
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(port))
	answer, err := onNode(s.Context(), "curl", "--silent", "--show-error", "--fail", "--max-time", "5", url)
	return strings.TrimSpace(answer), err
}

// answers waits until one of the Pods answers there.
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
		return fmt.Errorf("there is an answer, which isn't that of one of the Pods: %q", answer)
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
