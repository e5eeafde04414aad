// Many Foos at once: how many writes a hundred of them need, and how long three hundred take.
// Chapters 01 and 02 are left out, because they work on one Foo at a time and lose failed writes.

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

// crowd is how many objects the tests create. A hundred are enough to show one write too many per
// object, and each object costs the API server about 30 requests. Benchmarks create crowdToMeasure.
const (
	crowd          = 100
	crowdToMeasure = 300
)

// TestCrowd checks the write budget: at most 4 writes and 1 Event per Foo until all are available,
// and none after that, even on a resync. From chapter 05 on, nobody can set when that is.
func TestCrowd(t *testing.T) {
	queues := func(j judged) bool { return j.chapter.Number() >= "03" && whyLeftOut(contract.ManyPods) == "" }
	alone(t, chapters.Foo, "a hundred Foos at once, and a resync", queues, func(t *testing.T, s *scenario) {
		s.moveOut()
		s.createCrowd(crowd)
		if s.chapter.Number() < "05" {
			s.flags = []string{"--resync", "1s"}
		}
		s.start()
		s.crowdBecomesReady()

		writes := s.tally()
		for name := range writes.of {
			if count := writes.total(name); count > 4 {
				t.Errorf("Foo %s and its Deployment took %d writes", name, count)
			}
		}
		if writes.events > crowd {
			t.Errorf("%d events for %d Foos", writes.events, crowd)
		}
		t.Logf("%d Foos: %d writes to the first of them, %d events, %d writes refused", crowd, writes.total(crowdName(0)), writes.events, writes.refused)

		// A Foo that is created now becomes ready after the resyncs that were due.
		s.sentinel("sentinel")
		for _, write := range s.writes() {
			if write.Name != "sentinel" && write.Resource != "events" {
				t.Errorf("unnecessary write after all had settled: %s", write)
			}
		}
		// The resync would try again each second, and so look like a program that retries.
		s.operator.Stop()
		s.flags = nil
		s.start()
		s.deleteNamespace()
	})
}

// BenchmarkCrowd measures the time from a program's start until the last Deployment is created, for
// Foos and TDSets. It compares that with concurrent bare POSTs and server-side applies of as many
// Deployments. Each measurement waits until the last one's namespace is gone, because until then
// the cluster is still busy with the rollouts of its Deployments.
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
				s.sendCrowd(crowdToMeasure, send)
				b.StopTimer()
				s.deleteNamespace()
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
				s.createCrowd(crowdToMeasure)
				b.StartTimer()
				s.start()
				s.crowdHasDeployments(crowdToMeasure)
				b.StopTimer()
				s.operator.Stop()
				s.deleteNamespace()
				b.StartTimer()
			}
		})
	}
}

// tally counts an operator's writes by the object's name and resource.
type tally struct {
	of      map[string]map[string]int
	events  int
	refused int // by the server: these changed nothing, and are the price of a lagging cache
}

// tally counts the operator's writes since the last call of tally or writes.
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

// total is the number of writes to all objects of that name.
func (t tally) total(name string) (total int) {
	for _, count := range t.of[name] {
		total += count
	}
	return total
}

const crowdPrefix = "crowd-"

func crowdName(i int) string { return fmt.Sprintf("%s%03d", crowdPrefix, i) }

// createCrowd creates that many Foos or TDSets.
func (s *scenario) createCrowd(size int) {
	s.Helper()
	for i := range size {
		s.createNumber(i)
	}
}

func (s *scenario) createNumber(i int) {
	s.Helper()
	object := fooObject(crowdName(i), crowdName(i), int64(1))
	if s.Kind == chapters.TDSet {
		object = s.inVersion(s.withTestZone(tdsetObject(crowdName(i), 1, office)))
	}
	_, err := s.objects().Create(s.Context(), object, metav1.CreateOptions{})
	s.must(err)
}

// sending is a way to create a Deployment.
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

// sendCrowd creates the Deployments that the Foos would get. It sends four at a time, because a
// program has four workers.
func (s *scenario) sendCrowd(size int, send sending) {
	s.Helper()
	client := kubernetes.NewForConfigOrDie(s.config).AppsV1().Deployments(s.namespace)
	results := make(chan error, size)
	limit := make(chan struct{}, 4)
	for i := range size {
		go func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			results <- send(s.Context(), client, deploymentObject(crowdName(i)))
		}()
	}
	for range size {
		s.must(<-results)
	}
}

// crowdHasDeployments watches until there are that many Deployments.
func (s *scenario) crowdHasDeployments(size int) {
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
		if len(seen) == size {
			return
		}
	}
	s.Fatalf("got only %d Deployments", len(seen))
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

// crowdBecomes watches until check returns no error for any object of the crowd. A watch costs the
// API server much less than a list of all objects ten times a second.
func (s *scenario) crowdBecomes(sentence string, check func(*unstructured.Unstructured) error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), s.timeout)
	defer cancel()
	wrong := map[string]error{}
	for i := range crowd {
		wrong[crowdName(i)] = errors.New("it isn't there")
	}
	// The API server ends the watch of a client that can't keep up. The next one starts with all
	// objects.
	for len(wrong) > 0 && ctx.Err() == nil {
		s.watchCrowd(ctx, wrong, check)
	}
	for name, err := range wrong {
		s.Fatalf("%s: still not so after %v for %d of them, such as %s: %v", sentence, s.timeout, len(wrong), name, err)
	}
}

// watchCrowd updates wrong with check's result for each object, until wrong is empty or the watch
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
