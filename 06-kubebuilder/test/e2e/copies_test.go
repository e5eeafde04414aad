//go:build e2e

// What two copies are for: one leads, and when it goes, another one does.

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
)

func TestAnotherCopyLeadsWhenTheLeaderIsGone(t *testing.T) {
	namespace := aNamespace(t)
	apply(t, namespace, "foo", "replicas: 1")
	kubectl(t, "wait", "-n", namespace, "foo/foo", "--for=condition=Ready", "--timeout=3m")

	former := leader(t)
	kubectl(t, "delete", "pod", "-n", operator, former)
	eventually(t, "another copy leads", func() bool { now := leader(t); return now != former && now != "" })

	kubectl(t, "scale", "-n", namespace, "foo/foo", "--replicas=2")
	kubectl(t, "wait", "-n", namespace, "foo/foo", "--for=jsonpath={.status.availableReplicas}=2", "--timeout=3m")
	if err := untilReady(); err != nil {
		t.Fatal(err)
	}
}

// Foos change while every copy is replaced, the leader too: the API server finds a webhook that
// answers each time, and in the end every Foo has what was said last.
func TestNoChangeIsMissedWhileTheOperatorIsUpdated(t *testing.T) {
	namespace := aNamespace(t)
	copies := pods(t, operator, ofManager)
	last := map[string]int{}
	var changed answers
	change := func(number int) {
		name, replicas := fmt.Sprintf("foo-%d", number%3), 1+number/3%2
		_, err := tryApply(namespace, name, fmt.Sprintf("replicas: %d", replicas))
		changed.add(err)
		if err == nil {
			last[name] = replicas
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() { answered <- keepAsking(ctx, namespace, len(copies)) }()
	kubectl(t, "rollout", "restart", "-n", operator, manager)
	replaced := make(chan error, 1)
	go func() {
		_, gone := utils.Exec("kubectl", append([]string{"wait", "pod", "-n", operator, "--for=delete", "--timeout=5m"}, copies...)...)
		replaced <- errors.Join(untilReady(), gone)
	}()
	changes := 0
	for running := true; running; changes++ {
		select {
		case err := <-replaced:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		change(changes) // once more when all are replaced
	}
	stop()
	if err := <-answered; err != nil {
		t.Errorf("a webhook was missed: %v", err)
	}
	if err := changed.check(len(copies)); err != nil {
		t.Errorf("a change was missed: %v", err)
	}

	for name, replicas := range last {
		kubectl(t, "wait", "-n", namespace, "foo/"+name, fmt.Sprintf("--for=jsonpath={.status.availableReplicas}=%d", replicas), "--timeout=3m")
		if got := kubectl(t, "get", "-n", namespace, "deployment/"+name, "-o", "jsonpath={.spec.replicas}"); got != fmt.Sprint(replicas) {
			t.Errorf("the Deployment of %s has %s replicas, want %d", name, got, replicas)
		}
	}
}

// keepAsking has the API server ask the webhooks about a Foo that isn't stored, again and again
// until ctx ends, and returns what was wrong with the answers when so many copies have ended.
func keepAsking(ctx context.Context, namespace string, ended int) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	scheme := runtime.NewScheme()
	if err := samplecontrollerv1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	api, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	var asked answers
	_ = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "another"}}
		asked.add(api.Create(context.WithoutCancel(ctx), foo, client.DryRunAll))
		return false, nil
	})
	return asked.check(ended)
}

// answers are what was said to one who asks for one thing after the other.
type answers struct {
	good, brokenOff int
	refused         []error
	last            error
}

func (a *answers) add(err error) {
	a.last = err
	switch {
	case err == nil:
		a.good++
	case brokenOff(err):
		a.brokenOff++
	default:
		a.refused = append(a.refused, fmt.Errorf("%s: %w", time.Now().Format(time.StampMilli), err))
	}
}

// check returns what was wrong with them when so many copies have ended. Each may have broken off
// one: it ends once, and one who asks waits for the answer before the next question.
func (a *answers) check(ended int) error {
	errs := slices.Clone(a.refused)
	if a.brokenOff > ended {
		errs = append(errs, fmt.Errorf("%d were broken off, and %d copies have ended", a.brokenOff, ended))
	}
	if a.good <= ended {
		errs = append(errs, fmt.Errorf("only %d were answered well: that shows nothing", a.good))
	}
	if a.last != nil {
		errs = append(errs, fmt.Errorf("all copies are new, and the last one was still not answered well: %w", a.last))
	}
	return errors.Join(errs...)
}

// brokenOff reports whether a copy ended at the very moment when the API server sent it a question on
// a connection that it had kept: HTTP/1.1 can't say beforehand that it will be closed. Nothing was
// stored, and who asks again is answered by another copy.
func brokenOff(err error) bool {
	said := strings.TrimSpace(err.Error())
	return strings.Contains(said, "failed to call webhook") && (strings.HasSuffix(said, ": EOF") || strings.Contains(said, "connection reset by peer"))
}

// leader returns the name of the Pod that leads: "" if none does.
func leader(t *testing.T) string {
	t.Helper()
	pod, _, _ := strings.Cut(kubectl(t, "get", "-n", operator, lease, "-o", "jsonpath={.spec.holderIdentity}"), "_")
	return pod
}
