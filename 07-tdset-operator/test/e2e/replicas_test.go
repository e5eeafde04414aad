//go:build e2e

// Why there are two replicas: if the leader is gone, the other one takes over.

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

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/test/utils"
)

func TestAnotherReplicaLeadsWhenTheLeaderIsGone(t *testing.T) {
	namespace := aNamespace(t)
	apply(t, namespace, "web", always(standIn, 1))
	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=condition=Ready", "--timeout=3m")

	former := leader(t)
	kubectl(t, "delete", "pod", "-n", operator, former)
	eventually(t, "another replica leads", func() bool { now := leader(t); return now != former && now != "" })

	apply(t, namespace, "web", always(standIn, 2))
	kubectl(t, "wait", "-n", namespace, "deployment/web", "--for=jsonpath={.status.availableReplicas}=2", "--timeout=3m")
	if err := untilReady(); err != nil {
		t.Fatal(err)
	}
}

// TDSets change while every replica is replaced, including the leader. The API server always
// reaches a webhook, and in the end every TDSet has its last spec.
func TestNoChangeIsMissedWhileTheOperatorIsUpdated(t *testing.T) {
	namespace := aNamespace(t)
	former := pods(t, operator, ofManager)
	last := map[string]int{}
	var changed answers
	change := func(number int) {
		name, replicas := fmt.Sprintf("web-%d", number%3), 1+number/3%2
		_, err := tryApply(namespace, name, always(standIn, replicas))
		changed.add(err)
		if err == nil {
			last[name] = replicas
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() { answered <- keepAsking(ctx, namespace, len(former)) }()
	kubectl(t, "rollout", "restart", "-n", operator, manager)
	replaced := make(chan error, 1)
	go func() {
		_, gone := utils.Exec("kubectl", append([]string{"wait", "pod", "-n", operator, "--for=delete", "--timeout=5m"}, former...)...)
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
		change(changes) // one more change after all are replaced
	}
	stop()
	if err := <-answered; err != nil {
		t.Errorf("calls of the webhooks failed: %v", err)
	}
	if err := changed.check(len(former)); err != nil {
		t.Errorf("changes failed: %v", err)
	}

	for name, replicas := range last {
		kubectl(t, "wait", "-n", namespace, "deployment/"+name, fmt.Sprintf("--for=jsonpath={.spec.replicas}=%d", replicas), "--timeout=3m")
		kubectl(t, "wait", "-n", namespace, "tdset/"+name, "--for=condition=Ready", "--timeout=3m")
	}
}

// keepAsking sends dry runs of a TDSet, so that the API server calls the webhook, until ctx ends.
// It returns what was wrong with the answers, given how many replicas were stopped.
func keepAsking(ctx context.Context, namespace string, stopped int) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	scheme := runtime.NewScheme()
	if err := schedulev2.AddToScheme(scheme); err != nil {
		return err
	}
	api, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	var asked answers
	_ = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		tdset := &schedulev2.TDSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "another"},
			Spec: schedulev2.TDSetSpec{Container: schedulev2.Container{Image: standIn, Port: 80}, Windows: []schedulev2.Window{{Name: "always", Start: "00:00", End: "24:00"}}, DefaultReplicas: 1, TimeZone: "UTC"},
		}
		asked.add(api.Create(context.WithoutCancel(ctx), tdset, client.DryRunAll))
		return false, nil
	})
	return asked.check(stopped)
}

// answers counts the answers to a client that sends one request after the other.
type answers struct {
	good, dropped int
	refused       []error
	last          error
}

func (a *answers) add(err error) {
	a.last = err
	switch {
	case err == nil:
		a.good++
	case dropped(err):
		a.dropped++
	default:
		a.refused = append(a.refused, fmt.Errorf("%s: %w", time.Now().Format(time.StampMilli), err))
	}
}

// check returns what was wrong with the answers, given how many replicas were stopped. Each of them
// may have dropped one request, because the client waits for each answer.
func (a *answers) check(stopped int) error {
	errs := slices.Clone(a.refused)
	if a.dropped > stopped {
		errs = append(errs, fmt.Errorf("%d requests were dropped, want at most %d, one for each stopped replica", a.dropped, stopped))
	}
	if a.good <= stopped {
		errs = append(errs, fmt.Errorf("only %d requests succeeded, want more than %d, or this shows nothing", a.good, stopped))
	}
	if a.last != nil {
		errs = append(errs, fmt.Errorf("the last request, after the update, failed: %w", a.last))
	}
	return errors.Join(errs...)
}

// dropped reports whether a replica stopped just when the API server sent a request on an open
// connection, because with HTTP/1.1 a server can't announce that it will close one. Nothing was
// stored, and another replica answers a retry.
func dropped(err error) bool {
	message := strings.TrimSpace(err.Error())
	return strings.Contains(message, "failed to call webhook") && (strings.HasSuffix(message, ": EOF") || strings.Contains(message, "connection reset by peer"))
}

// leader returns the name of the leader's Pod, or "" if there is none.
func leader(t *testing.T) string {
	t.Helper()
	pod, _, _ := strings.Cut(kubectl(t, "get", "-n", operator, lease, "-o", "jsonpath={.spec.holderIdentity}"), "_")
	return pod
}
