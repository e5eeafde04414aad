// Faults, and an update, of programs in the cluster, where no proxy is between them and the API
// server.

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

// strikesInCluster make faults happen around an upheaval, like strikes and strikesTDSets. F3 and F7
// have their own tests.
func strikesInCluster() map[string]map[string]func(*scenario) {
	return map[string]map[string]func(*scenario){
		chapters.Foo: {"F5": func(s *scenario) {
			s.delayAvailability("scaled")
			s.upheaval()
			s.hasReplicas("scaled", 2)
			s.operator.Kill()
			if foo := s.getFoo("scaled"); foo.Status.AvailableReplicas == 2 {
				s.Fatal("it was killed after its last write instead of between two")
			}
		}},
		chapters.TDSet: {"F5": func(s *scenario) {
			s.delayAvailability("crossing")
			s.comeToNineInCluster()
			s.hasReplicas("crossing", 1)
			s.operator.Destroy()
			if s.checkScheduled(s.getTDSet("crossing"), 1) == nil {
				s.Fatal("it was killed after its last write instead of between two")
			}
			s.upheavalOfTDSets()
			s.startAgain()
		}},
	}
}

// delayAvailability delays a program's last write about an object, that it is available, by ten
// seconds.
func (s *scenario) delayAvailability(name string) {
	s.Helper()
	s.patchDeployment(name, `{"spec":{"minReadySeconds":10}}`)
}

// comeToNineInCluster is comeToNine without a proxy that counts watches.
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

// electTwo lets two replicas elect a leader.
func (s *scenario) electTwo() {
	s.replicas, s.flags = 2, append(s.flags, "--leader-elect", "--leader-election-namespace", s.home)
}

// leader waits until a replica leads whose Pod isn't being deleted, and returns that Pod's name.
func (s *scenario) leader() (name string) {
	s.Helper()
	s.eventually("a replica leads", func() error {
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
		return fmt.Errorf("the last leader was %q", name)
	})
	return name
}

// losesLeader deletes the leader's Pod, calls meanwhile, and waits until another replica leads.
func (s *scenario) losesLeader(meanwhile func()) {
	s.Helper()
	s.must(s.client.CoreV1().Pods(s.home).Delete(s.Context(), s.leader(), metav1.DeleteOptions{}))
	meanwhile()
	s.Logf("the new leader is %s", s.leader())
}

// rollOut makes the program's own Deployment replace all its Pods, and changes Foos whenever one of
// these Pods is created, changes or is gone.
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

// whileRolledOut rolls out the program's Deployment, calls change at each step, and returns the
// names from it.
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
		s.Errorf("the Pods had only %d states, so this test shows nothing", len(changed))
	}
	return changed
}

// stateOf returns a text that changes with the Pods.
func stateOf(pods []corev1.Pod) string {
	var state strings.Builder
	for _, pod := range pods {
		fmt.Fprintln(&state, pod.Name, pod.Status.Phase, pod.DeletionTimestamp != nil, isRunning(pod))
	}
	return state.String()
}

// isReplaced returns an error unless the Deployment has all its Pods and none of the old ones.
func isReplaced(deployment *appsv1.Deployment, pods []corev1.Pod) error {
	if err := isRolledOut(deployment, *deployment.Spec.Replicas); err != nil {
		return err
	}
	if len(pods) > int(*deployment.Spec.Replicas) {
		return errors.New("there is a former Pod")
	}
	return nil
}
