package acceptance

// The promises about ownership: T7 drift and T8 refusal.

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func tdsetDrift(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 1, office)
	s.becomesScheduled("a", 2)
	s.patchDeployment("a", `{"spec":{"replicas":5}}`)
	s.hasReplicas("a", 2)

	s.patchDeployment("a", `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"example.com/broken:1"}]}}}}`)
	s.eventually("the image is reverted", func() error {
		if image := s.getDeployment("a").Spec.Template.Spec.Containers[0].Image; image != "example.com/app:1" {
			return fmt.Errorf("it is %s", image)
		}
		return nil
	})
	s.becomesScheduled("a", 2)

	s.isRecreated("a")
	s.hasReplicas("a", 2)
}

// isRecreated deletes a Deployment and waits until there is another. It doesn't wait for Pods: the
// new ReplicaSet has the same name as the old one, so the API server may refuse it until the old
// one is gone. The Deployment controller then retries with backoff, which can take minutes.
func (s *scenario) isRecreated(name string) {
	s.Helper()
	former := s.getDeployment(name)
	s.must(s.deployments().Delete(s.Context(), name, metav1.DeleteOptions{}))
	s.eventually("the deleted Deployment is created again", func() error {
		switch deployment := s.getDeployment(name); {
		case deployment == nil:
			return errors.New("there is none")
		case deployment.UID == former.UID:
			return errors.New("the deleted one is still there")
		}
		return nil
	})
}

func tdsetForeignFields(s *scenario) {
	s.startAt(at(8, 0))
	s.createTDSet("a", 1, office)
	s.becomesScheduled("a", 1)
	s.patchDeployment("a", `{"metadata":{"annotations":{"team":"blue"},"labels":{"cost-center":"7"}},
		"spec":{"replicas":4,"minReadySeconds":1,
			"template":{"spec":{"containers":[{"name":"sidecar","image":"example.com/sidecar:1"}]}}}}`)
	s.hasReplicas("a", 1)
	s.becomesScheduled("a", 1)
	s.operator.Stop()
	s.startAt(at(10, 0)) // it is scaled by the schedule, too
	s.becomesScheduled("a", 2)
	deployment := s.getDeployment("a")
	if deployment.Annotations["team"] != "blue" || deployment.Labels["cost-center"] != "7" ||
		deployment.Spec.MinReadySeconds != 1 || len(deployment.Spec.Template.Spec.Containers) != 2 {
		s.Errorf("somebody else's fields are lost: %+v", deployment)
	}
}

func serviceDrift(s *scenario) {
	s.startAt(at(10, 30))
	s.create(with(tdsetObject("a", 1), map[string]any{"port": int64(80)}, "service"))
	s.becomesScheduled("a", 1)
	s.patchService("a", `{"metadata":{"annotations":{"team":"blue"}},
		"spec":{"ports":[{"port":80,"$patch":"delete"},{"port":99}]}}`)
	s.hasService("a", 80, 8000)
	s.patchService("a", `{"spec":{"selector":{"app":"another"}}}`)
	s.eventually("the selector is reverted", func() error {
		if app := s.getService("a").Spec.Selector["app"]; app != "a" {
			return fmt.Errorf("it selects %s", app)
		}
		return nil
	})
	former := s.getService("a")
	if former.Annotations["team"] != "blue" {
		s.Errorf("somebody else's annotation is lost: %+v", former)
	}

	s.must(s.client.CoreV1().Services(s.namespace).Delete(s.Context(), "a", metav1.DeleteOptions{}))
	s.eventually("the deleted Service is created again", func() error {
		if service := s.getService("a"); service == nil || service.UID == former.UID {
			return errors.New("there is none, or the old one")
		}
		return nil
	})
	s.hasService("a", 80, 8000)
	s.becomesScheduled("a", 1)
}

// patchService changes a Service by a strategic merge patch.
func (s *scenario) patchService(name, patch string) {
	s.Helper()
	_, err := s.client.CoreV1().Services(s.namespace).Patch(s.Context(), name, types.StrategicMergePatchType,
		[]byte(patch), metav1.PatchOptions{})
	s.must(err)
}

func refuseUnownedByTDSet(s *scenario) { refuseForeign(s, deploymentObject("a")) }

func refuseOwned(s *scenario) {
	somebody := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	owner, err := s.client.CoreV1().ConfigMaps(s.namespace).Create(s.Context(), somebody, metav1.CreateOptions{})
	s.must(err)
	owned := deploymentObject("a")
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner,
		corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	refuseForeign(s, owned)
}

// refuseForeign shows that somebody else's Deployment is left alone, even when it would be scaled.
func refuseForeign(s *scenario, deployment *appsv1.Deployment) {
	foreign, err := s.deployments().Create(s.Context(), deployment, metav1.CreateOptions{})
	s.must(err)
	s.startAt(at(8, 0))
	s.createTDSet("a", 3, office)
	s.isRefused("a")
	s.patchDeployment("a", `{"metadata":{"annotations":{"still":"mine"}}}`)
	s.sentinel("later")
	s.operator.Stop()
	s.startAt(at(10, 0))
	s.sentinel("later-still")
	if now := s.getDeployment("a"); now.UID != foreign.UID || !equality.Semantic.DeepEqual(now.Spec, foreign.Spec) ||
		!equality.Semantic.DeepEqual(now.OwnerReferences, foreign.OwnerReferences) {
		s.Errorf("somebody else's Deployment was touched: %+v", now)
	}
	s.triedNothing("deployments", "a")
	s.isRefused("a")
	s.warnedOnce("a", "ErrResourceExists")

	// When the name is free, the TDSet takes it without a change of the TDSet.
	s.must(s.deployments().Delete(s.Context(), "a", metav1.DeleteOptions{}))
	s.becomesScheduled("a", 2)
}

func refuseOrphanOfTDSet(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 1)
	s.becomesScheduled("a", 1)
	s.deleteTDSet("a", metav1.DeletePropagationOrphan)
	s.tdsetIsGone("a")
	s.writes()
	s.createTDSet("a", 3)
	s.isRefused("a")
	s.sentinel("later")
	s.triedNothing("deployments", "a")
	if deployment := s.getDeployment("a"); *deployment.Spec.Replicas != 1 {
		s.Errorf("the orphan was touched: %+v", deployment)
	}
}

func waitForTerminatingOfTDSet(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 1)
	s.becomesScheduled("a", 1)
	former := s.patchDeployment("a", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	s.must(s.deployments().Delete(s.Context(), "a", metav1.DeleteOptions{}))
	s.hasCondition("a", "Ready", "False (Terminating)")
	s.writes()
	s.patchTDSet("a", `{"spec":{"defaultReplica":2}}`)
	s.sentinel("later")
	s.triedNothing("deployments", "a")
	if deployment := s.getDeployment("a"); *deployment.Spec.Replicas != 1 {
		s.Errorf("a Deployment that is being deleted was scaled: %+v", deployment)
	}
	s.patchDeployment("a", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}`)
	s.becomesScheduled("a", 2)
	if deployment := s.getDeployment("a"); deployment.UID == former.UID {
		s.Errorf("the Deployment wasn't created again: %+v", deployment)
	}
}

func refuseService(s *scenario) {
	s.startAt(at(10, 30))
	foreign, err := s.client.CoreV1().Services(s.namespace).Create(s.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 99}},
			Selector: map[string]string{"app": "another"}},
	}, metav1.CreateOptions{})
	s.must(err)
	tdset := s.create(with(tdsetObject("a", 2), map[string]any{"port": int64(80)}, "service"))
	s.isRefused("a")
	s.eventually("the Deployment is created anyway", func() error { return isRolledOut(s.getDeployment("a"), 2) })
	s.sentinel("later")
	s.triedNothing("services", "a")
	s.warnedOnce("a", "ErrResourceExists")
	if now := s.getService("a"); now.ResourceVersion != foreign.ResourceVersion {
		s.Errorf("somebody else's Service was touched: %+v", now)
	}

	// Without spec.service, somebody else's Service isn't deleted.
	s.patchTDSet("a", `{"spec":{"service":null}}`)
	s.becomesScheduled("a", 2)
	if now := s.getService("a"); now == nil || now.ResourceVersion != foreign.ResourceVersion {
		s.Errorf("somebody else's Service was touched: %+v", now)
	}
	s.patchTDSet("a", `{"spec":{"service":{"port":80}}}`)
	s.isRefused("a")

	// When the name is free, the TDSet takes it.
	s.must(s.client.CoreV1().Services(s.namespace).Delete(s.Context(), "a", metav1.DeleteOptions{}))
	s.hasService("a", 80, 8000)
	s.becomesScheduled("a", 2)
	if !metav1.IsControlledBy(s.getService("a"), tdset) {
		s.Error("the TDSet has not taken over")
	}
}
