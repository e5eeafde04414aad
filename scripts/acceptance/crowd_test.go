// Three hundred Foos at once: how many writes they cost, and how long they take. From chapter 03 on, since 01 and 02 work on
// one Foo at a time and lose what fails.

package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"

	"example.com/operators/scripts/internal/chapters"
)

const crowd = 300

// TestCrowd holds the write budget: at most 3 writes and 1 event for each Foo until all is available, and none after that, a
// resync included.
func TestCrowd(t *testing.T) {
	queues := func(chapter chapters.Chapter) bool { return chapter.Number() >= "03" }
	alone(t, "three hundred Foos at once, and a resync", queues, func(t *testing.T, s *scenario) {
		s.createCrowd()
		s.flags = []string{"--resync", "1s"}
		s.start()
		s.crowdBecomesReady()

		writes, refused := map[string]int{}, 0
		total := 0
		for _, write := range s.writes() {
			switch {
			case write.Code >= 400:
				refused++ // has changed nothing: the price of a cache that lags behind
			case write.Resource == "events":
				total++
			default:
				writes[write.Name]++
			}
		}
		for name, count := range writes {
			if count > 3 {
				t.Errorf("Foo %s and its Deployment took %d writes", name, count)
			}
		}
		if total > crowd {
			t.Errorf("%d events for %d Foos", total, crowd)
		}
		t.Logf("%d Foos: %d writes to the first of them, %d events, %d writes refused", crowd, writes[crowdName(0)], total, refused)

		// A Foo made now is ready only after the resyncs that were due have been worked off.
		s.sentinel("sentinel")
		for _, write := range s.writes() {
			if write.Name != "sentinel" && write.Resource != "events" {
				t.Errorf("a write though all had settled: %s", write)
			}
		}
	})
}

// BenchmarkCrowd measures the time from a program's start until the last of the Deployments is made, beside that of bare
// concurrent POSTs, and of bare concurrent server-side applies, of the same Deployments.
//
//	TEST_KUBECONFIG=… TEST_AUDIT_LOG=… go test ./acceptance -run '^$' -bench Crowd -benchtime 3x
func BenchmarkCrowd(b *testing.B) {
	env := testEnvironment(b)
	if err := env.apply(b.Context(), env.chapters[0]); err != nil { // a scenario needs the CRD
		b.Fatal(err)
	}
	for name, send := range map[string]sending{"bare POSTs": post, "bare applies": serverSideApply} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				s := newScenario(b, env, env.chapters[0])
				b.StartTimer()
				s.sendCrowd(send)
			}
		})
	}
	for _, chapter := range env.chapters {
		b.Run(chapter.Name, func(b *testing.B) {
			if err := env.apply(b.Context(), chapter); err != nil {
				b.Fatal(err)
			}
			for range b.N {
				b.StopTimer()
				s := newScenario(b, env, chapter)
				s.createCrowd()
				b.StartTimer()
				s.start()
				s.crowdHasDeployments()
				b.StopTimer()
				s.operator.Stop()
				b.StartTimer()
			}
		})
	}
}

func crowdName(i int) string { return fmt.Sprintf("foo-%03d", i) }

// createCrowd makes the Foos.
func (s *scenario) createCrowd() {
	s.Helper()
	for i := range crowd {
		_, err := s.foos().Create(s.Context(), fooObject(crowdName(i), crowdName(i), int64(1)), metav1.CreateOptions{})
		s.must(err)
	}
}

// sending is how a Deployment is made.
type sending func(context.Context, typedappsv1.DeploymentInterface, *appsv1.Deployment) error

func post(ctx context.Context, client typedappsv1.DeploymentInterface, deployment *appsv1.Deployment) error {
	_, err := client.Create(ctx, deployment, metav1.CreateOptions{})
	return err
}

func serverSideApply(ctx context.Context, client typedappsv1.DeploymentInterface, deployment *appsv1.Deployment) error {
	deployment.APIVersion, deployment.Kind = "apps/v1", "Deployment"
	content, err := json.Marshal(deployment)
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, deployment.Name, types.ApplyPatchType, content, metav1.PatchOptions{FieldManager: "bare"})
	return err
}

// sendCrowd makes the Deployments that the Foos would get, four at a time, as many as a program has workers.
func (s *scenario) sendCrowd(send sending) {
	s.Helper()
	client := kubernetes.NewForConfigOrDie(s.config).AppsV1().Deployments(s.namespace)
	results := make(chan error, crowd)
	limit := make(chan struct{}, 4)
	for i := range crowd {
		go func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			results <- send(s.Context(), client, deploymentObject(crowdName(i)))
		}()
	}
	for range crowd {
		s.must(<-results)
	}
}

// crowdHasDeployments watches until there is a Deployment for each Foo.
func (s *scenario) crowdHasDeployments() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 5*time.Minute)
	defer cancel()
	watch, err := s.deployments().Watch(ctx, metav1.ListOptions{})
	s.must(err)
	defer watch.Stop()
	seen := map[string]bool{}
	for event := range watch.ResultChan() {
		if object, ok := event.Object.(metav1.Object); ok {
			seen[object.GetName()] = true
		}
		if len(seen) == crowd {
			return
		}
	}
	s.Fatalf("only %d Deployments", len(seen))
}

// crowdBecomesReady waits until every Foo is ready.
func (s *scenario) crowdBecomesReady() {
	s.Helper()
	s.eventually("every Foo is ready", func() error {
		list, err := s.foos().List(s.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		waiting := 0
		for i := range list.Items {
			if ready := s.decode(&list.Items[i]).ready(); ready == nil || ready.Status != metav1.ConditionTrue {
				waiting++
			}
		}
		if waiting > 0 {
			return errors.New(fmt.Sprint(waiting, " are not"))
		}
		return nil
	})
}
