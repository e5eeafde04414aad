// A chapter's program in the cluster. A Deployment runs it with the security context and the probes
// of the chapter's manifests, and with a ServiceAccount that has their permissions. It has a
// namespace of its own, which enforces the restricted Pod Security Standard.

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

// deployed is a program that a Deployment runs, with one or more replicas.
type deployed struct {
	*scenario
	selector string
	started  time.Time
	printed  string // its log until it was stopped
	killed   int    // containers that Kill has killed
}

// deploymentOf returns the chapter's Deployment for its program; found is false if it has none.
func deploymentOf(chapter chapters.Chapter) (deployment *appsv1.Deployment, found bool, err error) {
	file := chapter.Parts().Deployment
	if chapter.IsProject() {
		file = chapter.Parts().Permissions // it has all manifests
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

// imageOf is a program's image: contract.Image, unless TEST_IMAGES has another, as in
// 03-workqueue=foo-controller:03,….
func imageOf(p program.Program) string {
	for _, pair := range strings.Split(os.Getenv("TEST_IMAGES"), ",") {
		if name, image, _ := strings.Cut(pair, "="); name == p.Name {
			return image
		}
	}
	return contract.Image(p)
}

// startPods runs the program in the cluster, and returns when it runs. It stops at the latest at
// the end of the test, and if the test has failed, its log is printed.
func (s *scenario) startPods(args []string) operator {
	s.Helper()
	deployment, found, err := deploymentOf(s.chapter)
	if err != nil || !found {
		s.Fatalf("the Deployment of %s: found is %v, error %v", s.chapter.Name, found, err)
	}
	replicas := int32(cmp.Or(s.replicas, 1))
	deployment.ObjectMeta = metav1.ObjectMeta{Name: "operator"}
	deployment.Spec.Replicas = &replicas
	pod := &deployment.Spec.Template.Spec
	pod.ServiceAccountName = program.ServiceAccount
	container := &pod.Containers[0]
	container.Image = imageOf(s.program)
	// Keep the endpoints for the probes, but leave out the webhooks and their certificate.
	container.Args = slices.Concat(slices.DeleteFunc(container.Args, func(arg string) bool {
		return !strings.HasPrefix(arg, "--health-probe-bind-address") && !strings.HasPrefix(arg, "--metrics-bind-address")
	}), args)
	pod.Volumes, container.VolumeMounts = nil, nil
	container.Env = append(container.Env, corev1.EnvVar{Name: "ENABLE_WEBHOOKS", Value: "false"})
	if s.zones != nil {
		s.mountZones(pod)
	}
	_, err = s.client.AppsV1().Deployments(s.home).Create(s.Context(), deployment, metav1.CreateOptions{})
	s.must(err)

	started := *s // s.operator may be another one later
	d := &deployed{scenario: &started, selector: metav1.FormatLabelSelector(deployment.Spec.Selector)}
	s.Cleanup(func() {
		if s.Failed() {
			defer func() { s.Logf("the operator's log:\n%s", d.printed) }()
		}
		d.Stop()
		failOnPanics(s, d.printed)
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

// all returns its Pods, even those that are starting or stopping.
func (d *deployed) all(ctx context.Context) []corev1.Pod {
	d.Helper()
	list, err := d.client.CoreV1().Pods(d.home).List(ctx, metav1.ListOptions{LabelSelector: d.selector})
	d.must(err)
	return list.Items
}

// bounded returns a context that outlives the test.
func (d *deployed) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d.timeout)
}

// Stop ends it by deleting the Deployment.
func (d *deployed) Stop() {
	d.Helper()
	d.printed = cmp.Or(d.readLog(), d.printed)
	d.remove()
}

// Destroy kills it, and deletes the Deployment before the kubelet restarts anything.
func (d *deployed) Destroy() {
	d.Helper()
	d.printed = d.readLog()
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

// Kill kills the containers. The kubelet restarts them.
func (d *deployed) Kill() {
	d.Helper()
	ctx, cancel := d.bounded()
	defer cancel()
	for _, pod := range d.all(ctx) {
		d.must(signal(ctx, pod, "SIGKILL"))
		d.killed++
	}
}

// Crashes counts the kubelet's restarts, except those after Kill.
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

func (d *deployed) hasLogged(text string) bool { return strings.Contains(d.readLog(), text) }

func (d *deployed) began() time.Time { return d.started }

// readLog returns the logs of its current Pods, including those before a crash.
func (d *deployed) readLog() string {
	ctx, cancel := d.bounded()
	defer cancel()
	var log strings.Builder
	for _, pod := range d.all(ctx) {
		for _, previous := range []bool{true, false} {
			content, err := d.client.CoreV1().Pods(d.home).GetLogs(pod.Name, &corev1.PodLogOptions{Previous: previous}).DoRaw(ctx)
			if err == nil { // there may be none
				fmt.Fprintf(&log, "Pod %s:\n%s", pod.Name, content)
			}
		}
	}
	return log.String()
}

// areReady waits until its Pods' readiness probes pass, and so their caches have synced.
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
