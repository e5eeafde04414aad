// Three hundred Foos at once: how many writes they cost, and how long they take. From chapter 03
// on, since 01 and 02 work on one Foo at a time and lose what fails.

package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
)

const crowd = 300

// TestCrowd holds the write budget: at most 3 writes and 1 event for each Foo until all is
// available, and none after that, a resync included.
func TestCrowd(t *testing.T) {
	queues := func(j judged) bool { return j.chapter.Number() >= "03" && whyLeftOut(contract.ManyPods) == "" }
	alone(t, chapters.Foo, "three hundred Foos at once, and a resync", queues, func(t *testing.T, s *scenario) {
		s.movesOut()
		s.createCrowd()
		s.flags = []string{"--resync", "1s"}
		s.start()
		s.crowdBecomesReady()

		writes := s.tally()
		for name := range writes.of {
			if count := writes.total(name); count > 3 {
				t.Errorf("Foo %s and its Deployment took %d writes", name, count)
			}
		}
		if writes.events > crowd {
			t.Errorf("%d events for %d Foos", writes.events, crowd)
		}
		t.Logf("%d Foos: %d writes to the first of them, %d events, %d writes refused", crowd, writes.total(crowdName(0)), writes.events, writes.refused)

		// A Foo made now is ready only after the resyncs that were due have been worked off.
		s.sentinel("sentinel")
		for _, write := range s.writes() {
			if write.Name != "sentinel" && write.Resource != "events" {
				t.Errorf("a write though all had settled: %s", write)
			}
		}
		s.namespaceGoes()
	})
}

// BenchmarkCrowd measures the time from a program's start until the last of the Deployments is
// made, for Foos or for TDSets, beside that of bare concurrent POSTs, and of bare concurrent
// server-side applies, of as many Deployments. Each measurement begins when the last one's
// namespace is gone: otherwise the cluster is still busy with three hundred rollouts.
//
//	TEST_KUBECONFIG=… TEST_AUDIT_LOG=… go test ./acceptance -run '^$' -bench Crowd -benchtime 3x
func BenchmarkCrowd(b *testing.B) {
	env := testEnvironment(b)
	if err := env.apply(b.Context(), env.all[0].program); err != nil { // a scenario needs the CRD
		b.Fatal(err)
	}
	for name, send := range map[string]sending{"bare POSTs": post, "bare applies": serverSideApply} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				s := newScenario(b, env, env.all[0])
				b.StartTimer()
				s.sendCrowd(send)
				b.StopTimer()
				s.namespaceGoes()
				b.StartTimer()
			}
		})
	}
	for _, j := range env.all {
		if !j.isFull() {
			continue
		}
		b.Run(j.program.Name, func(b *testing.B) {
			if err := env.apply(b.Context(), j.program); err != nil {
				b.Fatal(err)
			}
			for range b.N {
				b.StopTimer()
				s := newScenario(b, env, j)
				s.createCrowd()
				b.StartTimer()
				s.start()
				s.crowdHasDeployments()
				b.StopTimer()
				s.operator.Stop()
				s.namespaceGoes()
				b.StartTimer()
			}
		})
	}
}

// tally is what an operator has written, by the name of the object, and then by its resource.
type tally struct {
	of      map[string]map[string]int
	events  int
	refused int // by the server: they have changed nothing, and are the price of a cache that lags behind
}

// tally counts the operator's writes since the last call of it or of writes.
func (s *scenario) tally() tally {
	s.Helper()
	counted := tally{of: map[string]map[string]int{}}
	for _, write := range s.writes() {
		switch {
		case write.Code >= 400:
			counted.refused++
		case write.Resource == "events":
			counted.events++
		default:
			if counted.of[write.Name] == nil {
				counted.of[write.Name] = map[string]int{}
			}
			counted.of[write.Name][write.Resource]++
		}
	}
	return counted
}

// total is the number of writes to all that has that name.
func (t tally) total(name string) (total int) {
	for _, count := range t.of[name] {
		total += count
	}
	return total
}

const crowdPrefix = "crowd-"

func crowdName(i int) string { return fmt.Sprintf("%s%03d", crowdPrefix, i) }

// createCrowd makes the Foos, or the TDSets.
func (s *scenario) createCrowd() {
	s.Helper()
	for i := range crowd {
		s.createNumber(i)
	}
}

func (s *scenario) createNumber(i int) {
	s.Helper()
	object := fooObject(crowdName(i), crowdName(i), int64(1))
	if s.Kind == chapters.TDSet {
		object = s.inATestsZone(tdsetObject(crowdName(i), 1, office))
	}
	_, err := s.objects().Create(s.Context(), object, metav1.CreateOptions{})
	s.must(err)
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

// sendCrowd makes the Deployments that the Foos would get, four at a time, as many as a program has
// workers.
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
	s.crowdBecomes("every Foo is ready", func(object *unstructured.Unstructured) error {
		if ready := s.decode(object).ready(); ready == nil || ready.Status != metav1.ConditionTrue {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
}

// crowdBecomes watches until check finds nothing wrong with any object of the crowd. A watch costs
// the API server much less than a list of three hundred objects ten times a second.
func (s *scenario) crowdBecomes(sentence string, check func(*unstructured.Unstructured) error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), s.patience)
	defer cancel()
	wrong := map[string]error{}
	for i := range crowd {
		wrong[crowdName(i)] = errors.New("it isn't there")
	}
	// The API server ends a watch whose client can't keep up. The next one begins with all objects.
	for len(wrong) > 0 && ctx.Err() == nil {
		s.watchCrowd(ctx, wrong, check)
	}
	for name, err := range wrong {
		s.Fatalf("%s: still not so after %v for %d of them, such as %s: %v", sentence, s.patience, len(wrong), name, err)
	}
}

// watchCrowd updates wrong with what check says of each object, until wrong is empty or the watch
// ends.
func (s *scenario) watchCrowd(ctx context.Context, wrong map[string]error, check func(*unstructured.Unstructured) error) {
	s.Helper()
	watch, err := s.objects().Watch(ctx, metav1.ListOptions{})
	if ctx.Err() != nil {
		return
	}
	s.must(err)
	defer watch.Stop()
	for event := range watch.ResultChan() {
		object, isObject := event.Object.(*unstructured.Unstructured)
		if !isObject || !strings.HasPrefix(object.GetName(), crowdPrefix) {
			continue // a sentinel
		}
		if err := check(object); err != nil {
			wrong[object.GetName()] = err
		} else {
			delete(wrong, object.GetName())
		}
		if len(wrong) == 0 {
			return
		}
	}
}
