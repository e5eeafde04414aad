package acceptance

// Promises that need real containers: Pods that answer, a Service that leads to them, and Pods that
// take seconds to stop.

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/kind"
)

// slowImage answers like the other images, but takes seconds to stop.
const slowImage = kind.SlowStandIn

// onlyWithContainers are the tests of promises about Foos that need real containers.
func onlyWithContainers() []promise {
	if kindNode() == "" {
		return nil
	}
	return []promise{{"B1 create: each Pod answers HTTP", podsAnswer}}
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

// both returns the Pods, and fails the test unless there are two.
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
	s.eventually("the old port is closed", func() error {
		if answer, err := s.ask(ip, 80); err == nil {
			return fmt.Errorf("%q answers", answer)
		}
		return nil
	})
}

func slowPods(s *scenario) {
	s.startAt(at(10, 30))
	s.create(with(tdsetObject("a", 2), slowImage, "container", "image"))
	s.becomesScheduled("a", 2)
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	slow := false // whether a Pod kept running after it was deleted
	s.eventually("TDSet a is gone", func() error {
		tdset := s.getTDSet("a")
		pods := s.podsOf("a") // after the TDSet: a Pod here was still there when the TDSet was read
		if tdset == nil {
			if len(pods) > 0 {
				s.Errorf("the TDSet is gone, but %d of its Pods are still there", len(pods))
			}
			return nil
		}
		for _, pod := range pods {
			slow = slow || pod.DeletionTimestamp != nil && isRunning(pod)
		}
		return errors.New("it is there")
	})
	if !slow {
		s.Error("no Pod kept running after SIGTERM, so this test shows nothing")
	}
	s.disappears("a")
}
