// Promises that only real containers show: Pods that answer, a Service that leads to them, and Pods that take seconds to stop.

package acceptance

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/kind"
)

// slowImage is of a program that answers as the others do, and takes seconds to stop.
const slowImage = kind.SlowStandIn

// onlyWithContainers are the tests of promises about Foos that need real containers.
func onlyWithContainers() []promise {
	if kindNode() == "" {
		return nil
	}
	all := []promise{{"B1 create: each Pod answers HTTP", podsAnswer}}
	if inCluster() {
		all = append(all, promise{"B8 catch-up: nothing is missed while the program's Deployment is rolled out", rollOut})
	}
	return all
}

// onlyTDSetsWithContainers are those about TDSets.
func onlyTDSetsWithContainers(j judged) []promise {
	if kindNode() == "" {
		return nil
	}
	all := []promise{{"T1 create: each Pod answers HTTP", tdsetPodsAnswer}}
	if j.isFull() {
		all = append(all,
			promise{"T6 service: answers at its cluster IP", serviceAnswers},
			promise{"T9 delete: waits for Pods that take seconds to stop", slowPods},
		)
	}
	if inCluster() {
		all = append(all, promise{"T11 restart: nothing is missed while the program's Deployment is rolled out", rollOutForTDSets})
	}
	return all
}

func podsAnswer(s *scenario) {
	s.start()
	s.createFoo("a", "a", 2)
	s.becomesReady("a")
	for _, pod := range s.both(s.podsWith("controller=a")) {
		s.answers(pod.Status.PodIP, 80, func() []corev1.Pod { return []corev1.Pod{pod} })
	}
}

func tdsetPodsAnswer(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 1, office)
	s.becomesScheduled("a", 2)
	for _, pod := range s.both(s.podsOf("a")) {
		s.answers(pod.Status.PodIP, 8000, func() []corev1.Pod { return []corev1.Pod{pod} })
	}
}

// both are the Pods, if there are two.
func (s *scenario) both(pods []corev1.Pod) []corev1.Pod {
	s.Helper()
	if len(pods) != 2 {
		s.Errorf("there are %d Pods, want 2", len(pods))
	}
	return pods
}

func serviceAnswers(s *scenario) {
	s.startAt(at(10, 30))
	s.create(with(tdsetObject("a", 2), map[string]any{"port": int64(80)}, "service"))
	s.hasService("a", 80, 8000)
	s.becomesScheduled("a", 2)
	ip := s.getService("a").Spec.ClusterIP
	s.answers(ip, 80, func() []corev1.Pod { return s.podsOf("a") })

	s.patchTDSet("a", `{"spec":{"service":{"port":81}}}`)
	s.answers(ip, 81, func() []corev1.Pod { return s.podsOf("a") })
	s.eventually("nobody answers at the former port", func() error {
		if answer, err := s.ask(ip, 80); err == nil {
			return fmt.Errorf("%q does", answer)
		}
		return nil
	})
}

func slowPods(s *scenario) {
	s.startAt(at(10, 30))
	s.create(with(tdsetObject("a", 2), slowImage, "container", "image"))
	s.becomesScheduled("a", 2)
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	slow := false // whether it was seen that a Pod takes its time
	s.eventually("TDSet a is gone", func() error {
		tdset := s.getTDSet("a")
		pods := s.podsOf("a") // looked at later: each of them was there when the TDSet was looked at
		if tdset == nil {
			if len(pods) > 0 {
				s.Errorf("the TDSet is gone, and %d of its Pods haven't stopped", len(pods))
			}
			return nil
		}
		for _, pod := range pods {
			slow = slow || pod.DeletionTimestamp != nil && isRunning(pod)
		}
		return errors.New("it is there")
	})
	if !slow {
		s.Error("no Pod was seen that runs on after it was told to stop: this test shows nothing")
	}
	s.disappears("a")
}
