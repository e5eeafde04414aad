package acceptance

// The promise T9, delete. A finalizer holds a Pod for as long as a test needs. A real container
// would end nevertheless, and its Pod wouldn't count any more: see holdContainers.

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func removeTDSet(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 2)
	s.becomesScheduled("a", 2)
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	s.tdsetIsGone("a")
	s.disappears("a")
	s.sentinel("later")
	if s.getDeployment("a") != nil {
		s.Error("the Deployment exists again")
	}
}

func orphanTDSet(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 2)
	s.becomesScheduled("a", 2)
	before := s.getDeployment("a")
	s.deleteTDSet("a", metav1.DeletePropagationOrphan)
	s.tdsetIsGone("a")
	s.sentinel("later")
	now := s.getDeployment("a")
	if now == nil || now.UID != before.UID || now.Generation != before.Generation || len(now.OwnerReferences) > 0 {
		s.Fatalf("the orphan changed, or still has an owner: %+v", now)
	}
	if err := isRolledOut(now, 2); err != nil {
		s.Error(err)
	}
}

func drain(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 2)
	s.becomesScheduled("a", 2)
	held := s.holdPod("a")
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	s.hasReplicas("a", 0)
	s.onlyPod("a", held)
	s.sentinel("later")
	if s.getTDSet("a") == nil || s.getDeployment("a") == nil {
		s.Error("the TDSet or its Deployment is gone before its last Pod")
	}
	s.releasePod(held)
	s.tdsetIsGone("a")
	s.disappears("a")
}

func drainTimeout(s *scenario) {
	s.flags = []string{"--drain-timeout", "2s"}
	s.startAt(at(10, 30))
	s.createTDSet("a", 2)
	s.becomesScheduled("a", 2)
	held := s.holdPod("a")
	deleted := time.Now()
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	s.tdsetIsGone("a")
	if took := time.Since(deleted); took > 50*time.Second {
		s.Errorf("gone after %v, want less than the default --drain-timeout of a minute", took)
	}
	s.onlyPod("a", held)
	s.releasePod(held)
	s.disappears("a")
}

func drainLater(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 2)
	s.becomesScheduled("a", 2)
	s.operator.Stop()
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	s.startAt(at(11, 30))
	s.tdsetIsGone("a")
	s.disappears("a")
	if pods := s.podsOf("a"); len(pods) > 0 {
		s.Errorf("the TDSet is gone, but it still has %d Pods", len(pods))
	}
}

func drainNothing(s *scenario) {
	foreign := s.takeName("a")
	s.startAt(at(10, 30))
	s.createTDSet("a", 2)
	s.isRefused("a")
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	s.tdsetIsGone("a")
	s.sentinel("later")
	if now := s.getDeployment("a"); now == nil || now.UID != foreign.UID || now.Generation != foreign.Generation {
		s.Errorf("somebody else's Deployment was touched: %+v", now)
	}
}

// holdPod keeps one of the TDSet's Pods from disappearing, and returns its name.
func (s *scenario) holdPod(name string) string {
	s.Helper()
	var held string
	if kindNode() != "" {
		held = s.holdContainers(name)
	} else {
		held = s.podsOf(name)[0].Name
		s.patchPod(held, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	}
	s.Cleanup(func() {
		if s.Failed() {
			s.releasePod(held)
		}
	})
	return held
}

func (s *scenario) releasePod(name string) {
	s.Helper()
	if kindNode() != "" {
		s.releaseContainers(name)
		return
	}
	s.patchPod(name, `{"metadata":{"finalizers":null}}`)
}

func (s *scenario) patchPod(name, patch string) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context()) // the test may be over
	_, err := s.client.CoreV1().Pods(s.namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	s.must(err)
}

// onlyPod waits until this is the TDSet's last Pod.
func (s *scenario) onlyPod(tdset, pod string) {
	s.Helper()
	s.eventually("only Pod "+pod+" is left", func() error {
		switch left := s.podsOf(tdset); {
		case len(left) > 1:
			return fmt.Errorf("there are %d", len(left))
		case len(left) == 0 || left[0].Name != pod:
			return errors.New("it is gone")
		}
		return nil
	})
}
