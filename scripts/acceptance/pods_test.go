// A chapter's program in the cluster: a Deployment runs it, with the security context and the probes that the chapter's manifests have,
// under a ServiceAccount with the rights that they grant. It is in a namespace of its own, beside the one that it acts on, which
// enforces the restricted Pod Security Standard.

package acceptance

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/program"
)

// deployed is a program that a Deployment runs, in one copy or more.
type deployed struct {
	*scenario
	selector string
	started  time.Time
	said     string // by the time that it was stopped
	killed   int    // containers, by Kill
}

// deploymentOf is the Deployment that the chapter runs its program by; found is false if it has none.
func deploymentOf(chapter chapters.Chapter) (deployment *appsv1.Deployment, found bool, err error) {
	file := chapter.Parts().Deployment
	if chapter.IsProject() {
		file = chapter.Parts().Permissions // which has all that there is to install
	}
	if file == "" {
		return nil, false, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil, false, fmt.Errorf("%s: there is no Deployment", file)
		} else if err != nil {
			return nil, false, fmt.Errorf("%s: %w", file, err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return nil, false, fmt.Errorf("%s: %w", file, err)
		}
		if kind.Kind == "Deployment" {
			deployment = &appsv1.Deployment{}
			return deployment, true, yaml.UnmarshalStrict(document, deployment)
		}
	}
}

// imageOf is the image of a program: contract.Image, unless TEST_IMAGES has another, as in 03-workqueue=foo-controller:03,….
func imageOf(p program.Program) string {
	for _, pair := range strings.Split(os.Getenv("TEST_IMAGES"), ",") {
		if name, image, _ := strings.Cut(pair, "="); name == p.Name {
			return image
		}
	}
	return contract.Image(p)
}

// startPods has the cluster run the program, and returns when it runs. It is stopped at the end of the test, at the latest; if the
// test has failed, what it said is logged.
func (s *scenario) startPods(args []string) operator {
	s.Helper()
	deployment, found, err := deploymentOf(s.chapter)
	if err != nil || !found {
		s.Fatalf("the Deployment of %s: found is %v, error %v", s.chapter.Name, found, err)
	}
	replicas := int32(cmp.Or(s.copies, 1))
	deployment.ObjectMeta = metav1.ObjectMeta{Name: "operator"}
	deployment.Spec.Replicas = &replicas
	pod := &deployment.Spec.Template.Spec
	pod.ServiceAccountName = program.ServiceAccount
	container := &pod.Containers[0]
	container.Image = imageOf(s.program)
	// What is served stays as it is, for the probes; the webhooks and their certificate are left out here.
	container.Args = slices.Concat(slices.DeleteFunc(container.Args, func(arg string) bool {
		return !strings.HasPrefix(arg, "--health-probe-bind-address") && !strings.HasPrefix(arg, "--metrics-bind-address")
	}), args)
	pod.Volumes, container.VolumeMounts = nil, nil
	if s.zones != nil {
		s.mountZones(pod)
	}
	_, err = s.client.AppsV1().Deployments(s.home).Create(s.Context(), deployment, metav1.CreateOptions{})
	s.must(err)

	started := *s // its operator may be another one by the end
	d := &deployed{scenario: &started, selector: metav1.FormatLabelSelector(deployment.Spec.Selector)}
	s.Cleanup(func() {
		if s.Failed() {
			defer func() { s.Logf("what the operator said:\n%s", d.said) }()
		}
		d.Stop()
		complainOfPanics(s, d.said)
	})
	s.eventually("the program runs in the cluster", func() error {
		d.started = time.Time{}
		running := 0
		for _, pod := range d.all(s.Context()) {
			if !isRunning(pod) {
				return fmt.Errorf("Pod %s doesn't run: %+v", pod.Name, pod.Status.ContainerStatuses)
			}
			running++
			if since := pod.Status.ContainerStatuses[0].State.Running.StartedAt.Time; since.After(d.started) {
				d.started = since
			}
		}
		if running < int(replicas) {
			return fmt.Errorf("%d of %d Pods are there", running, replicas)
		}
		return nil
	})
	return d
}

// all are its Pods, be they beginning or ending.
func (d *deployed) all(ctx context.Context) []corev1.Pod {
	d.Helper()
	list, err := d.client.CoreV1().Pods(d.home).List(ctx, metav1.ListOptions{LabelSelector: d.selector})
	d.must(err)
	return list.Items
}

// bounded is for what may also have to be done when the test is over.
func (d *deployed) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d.patience)
}

// Stop ends it: its Pods are told to stop.
func (d *deployed) Stop() {
	d.Helper()
	d.said = cmp.Or(d.log(), d.said)
	d.remove()
}

// Destroy kills it, and deletes the Deployment before the kubelet has seen that there is something to start again.
func (d *deployed) Destroy() {
	d.Helper()
	d.said = d.log()
	d.Kill()
	d.remove()
}

// remove deletes the Deployment, and returns when its Pods are gone.
func (d *deployed) remove() {
	d.Helper()
	ctx, cancel := d.bounded()
	defer cancel()
	background := metav1.DeletePropagationBackground
	err := d.client.AppsV1().Deployments(d.home).Delete(ctx, "operator", metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		d.Error(err)
	}
	d.eventually("the program has ended in the cluster", func() error {
		if left := d.all(ctx); len(left) > 0 {
			return fmt.Errorf("there is Pod %s", left[0].Name)
		}
		return nil
	})
}

// Kill kills the containers. The kubelet starts them again.
func (d *deployed) Kill() {
	d.Helper()
	ctx, cancel := d.bounded()
	defer cancel()
	for _, pod := range d.all(ctx) {
		d.must(signal(ctx, pod, "SIGKILL"))
		d.killed++
	}
}

// Crashes counts what the kubelet has started again, but for what Kill has killed.
func (d *deployed) Crashes() (crashes int) {
	ctx, cancel := d.bounded()
	defer cancel()
	for _, pod := range d.all(ctx) {
		for _, status := range pod.Status.ContainerStatuses {
			crashes += int(status.RestartCount)
		}
	}
	return max(crashes-d.killed, 0) // those of Pods that are gone are forgotten
}

func (d *deployed) says(text string) bool { return strings.Contains(d.log(), text) }

func (d *deployed) began() time.Time { return d.started }

// log is what all its Pods have printed that are there, also before a crash.
func (d *deployed) log() string {
	ctx, cancel := d.bounded()
	defer cancel()
	var said strings.Builder
	for _, pod := range d.all(ctx) {
		for _, previous := range []bool{true, false} {
			content, err := d.client.CoreV1().Pods(d.home).GetLogs(pod.Name, &corev1.PodLogOptions{Previous: previous}).DoRaw(ctx)
			if err == nil { // there may be none
				fmt.Fprintf(&said, "Pod %s:\n%s", pod.Name, content)
			}
		}
	}
	return said.String()
}

// areReady waits until the readiness probes of its Pods are answered: then what they need to know is in their caches.
func (d *deployed) areReady() {
	d.Helper()
	d.eventually("the program's Pods are ready", func() error {
		deployment, err := d.client.AppsV1().Deployments(d.home).Get(d.Context(), "operator", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return isRolledOut(deployment, *deployment.Spec.Replicas)
	})
}
