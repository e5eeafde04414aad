// Faults, and an update, that strike programs which run in the cluster, where there is no proxy between them and the API server.

package acceptance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
)

// strikesInCluster are what makes faults happen around an upheaval, as strikes and strikesTDSets. F3 and F7 have tests of their own.
func strikesInCluster() map[string]map[string]func(*scenario) {
	return map[string]map[string]func(*scenario){
		chapters.Foo: {"F5": func(s *scenario) {
			s.comesLate("scaled")
			s.upheaval()
			s.hasReplicas("scaled", 2)
			s.operator.Kill()
			if foo := s.getFoo("scaled"); foo.Status.AvailableReplicas == 2 {
				s.Fatal("it was killed after its last write, and not between two")
			}
		}},
		chapters.TDSet: {"F5": func(s *scenario) {
			s.comesLate("crossing")
			s.comeToNineInCluster()
			s.hasReplicas("crossing", 1)
			s.operator.Destroy()
			if s.saysScheduled(s.getTDSet("crossing"), 1) == nil {
				s.Fatal("it was killed after its last write, and not between two")
			}
			s.upheavalOfTDSets()
			s.startAgain()
		}},
	}
}

// comesLate makes what a program writes last about the object, that all is available, come ten seconds after what it writes first.
func (s *scenario) comesLate(name string) {
	s.Helper()
	s.patchDeployment(name, `{"spec":{"minReadySeconds":10}}`)
}

// comeToNineInCluster is comeToNine without a proxy that tells what is watched.
func (s *scenario) comeToNineInCluster() {
	s.Helper()
	s.approach(nine)
	s.operator.(*deployed).areReady()
}

// testFaultsInCluster is testFaults without a proxy.
func testFaultsInCluster(t *testing.T, env *environment, j judged, settle func(*scenario), judgements []judgement) {
	for _, fault := range contract.Faults() {
		strike, here := strikesInCluster()[j.Kind][fault.Name]
		if !here || !j.holds(fault.Name) {
			continue
		}
		t.Run(j.faultName(fault), func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, env, j)
			settle(s)
			strike(s)
			s.judge(t, judgements)
		})
	}
}

// electTwo lets two copies run, of which one leads. A leader that is told to stop gives its lease back: it needn't be a short one.
func (s *scenario) electTwo() {
	s.copies, s.flags = 2, append(s.flags, "--leader-elect", "--leader-election-namespace", s.home)
}

// leader waits until a copy leads whose Pod isn't being deleted, and returns that Pod's name.
func (s *scenario) leader() (name string) {
	s.Helper()
	s.eventually("one of the copies leads", func() error {
		leases, err := s.client.CoordinationV1().Leases(s.home).List(s.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, lease := range leases.Items {
			if holder := lease.Spec.HolderIdentity; holder != nil {
				name, _, _ = strings.Cut(*holder, "_")
			}
		}
		for _, pod := range s.operator.(*deployed).all(s.Context()) {
			if pod.Name == name && pod.DeletionTimestamp == nil {
				return nil
			}
		}
		return fmt.Errorf("the last that led was %q", name)
	})
	return name
}

// losesLeader deletes the leader's Pod, has something happen, and waits until another one leads.
func (s *scenario) losesLeader(meanwhile func()) {
	s.Helper()
	s.must(s.client.CoreV1().Pods(s.home).Delete(s.Context(), s.leader(), metav1.DeleteOptions{}))
	meanwhile()
	s.Logf("now %s leads", s.leader())
}

// rollOut has the Deployment of the program itself replace all its Pods, and changes things whenever one of these has come, changed
// or gone.
func rollOut(s *scenario) {
	s.electTwo()
	s.start()
	s.createFoo("a", "a", 1)
	s.becomesReady("a")
	made := s.whileRolledOut(func(round int) string {
		s.patchFoo("a", fmt.Sprintf(`{"spec":{"replicas":%d}}`, round%2+1))
		name := fmt.Sprintf("during-%d", round)
		s.createFoo(name, name, 1)
		return name
	})
	for _, name := range append(made, "a") {
		s.becomesReady(name)
	}
	s.hasReplicas("a", int32(len(made)-1)%2+1)
}

// rollOutForTDSets is rollOut with TDSets, in real time.
func rollOutForTDSets(s *scenario) {
	s.electTwo()
	s.start()
	s.createTDSet("a", 1, always)
	s.becomesScheduled("a", 0)
	image := func(round int) string { return fmt.Sprintf("example.com/app:%d", round%2+1) }
	made := s.whileRolledOut(func(round int) string {
		s.patchTDSet("a", `{"spec":{"container":{"image":"`+image(round)+`"}}}`)
		name := fmt.Sprintf("during-%d", round)
		s.createTDSet(name, 1, always)
		return name
	})
	for _, name := range append(made, "a") {
		s.becomesScheduled(name, 0)
	}
	want := image(len(made) - 1)
	s.eventually("the last image has come", func() error {
		if got := s.getDeployment("a").Spec.Template.Spec.Containers[0].Image; got != want {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
}

// whileRolledOut rolls out the program's Deployment, makes a change at each step of that, and returns the names that these return.
func (s *scenario) whileRolledOut(change func(round int) string) (changed []string) {
	s.Helper()
	patch := []byte(`{"spec":{"template":{"metadata":{"annotations":{"operators.example.com/rolled-out":"again"}}}}}`)
	deployments := s.client.AppsV1().Deployments(s.home)
	_, err := deployments.Patch(s.Context(), "operator", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	s.must(err)
	former := ""
	s.eventually("the program's Deployment is rolled out", func() error {
		pods := s.operator.(*deployed).all(s.Context())
		if now := stateOf(pods); now != former {
			former = now
			changed = append(changed, change(len(changed)))
		}
		deployment, err := deployments.Get(s.Context(), "operator", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return isReplaced(deployment, pods)
	})
	if len(changed) < 3 {
		s.Errorf("the Pods were seen in %d states only: this test shows nothing", len(changed))
	}
	return changed
}

// stateOf is a text that changes with the Pods.
func stateOf(pods []corev1.Pod) string {
	var state strings.Builder
	for _, pod := range pods {
		fmt.Fprintln(&state, pod.Name, pod.Status.Phase, pod.DeletionTimestamp != nil, isRunning(pod))
	}
	return state.String()
}

// isReplaced complains unless the Deployment has all its Pods, and none but these are left.
func isReplaced(deployment *appsv1.Deployment, pods []corev1.Pod) error {
	if err := isRolledOut(deployment, *deployment.Spec.Replicas); err != nil {
		return err
	}
	if len(pods) > int(*deployment.Spec.Replicas) {
		return errors.New("there is a former Pod")
	}
	return nil
}
