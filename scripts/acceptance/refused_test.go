package acceptance

// The promises B12 and T15: if the API server refuses a write, users see it in the status, and the
// object recovers by itself when the refusal ends.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/chapters"
)

// attempts is how often an operator has to try a refused write before the test counts its status
// writes. With pauses that start at 5 ms and double, that takes a few seconds.
const attempts = 10

// refusedWrites makes the API server refuse a Deployment in three ways, one after the other.
func refusedWrites(s *scenario) {
	s.start()
	for _, refusal := range []struct {
		name   string
		begin  func() (end func())
		quotes string
	}{
		{"quota", s.quota, "exceeded quota"},
		{"policy", s.policy, "not on Fridays"},
		{"rewritten", s.rewriteImages, ""}, // accepted, but the operator's image isn't stored
	} {
		end := refusal.begin()
		s.writes()
		s.createOne(refusal.name)
		s.refuses(refusal.name, refusal.quotes)
		s.warnedOnce(refusal.name, "Refused")
		end()
		s.recovers(refusal.name)
	}
}

// refusedUpdate changes an object that is ready, but a policy refuses the Deployment's update.
func refusedUpdate(s *scenario) {
	s.start()
	s.createOne("changed")
	s.recovers("changed")
	end := s.policy()
	s.writes()
	s.scaleOne("changed")
	s.refuses("changed", "not on Fridays")
	end()
	s.recovers("changed")
}

// refusedPods makes the API server refuse the Deployment's Pods. The operator doesn't write these
// itself, so it can only learn of the refusal from the Deployment's conditions.
func refusedPods(s *scenario) {
	label := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":%s}}}`
	namespaces := s.client.CoreV1().Namespaces()
	_, err := namespaces.Patch(s.Context(), s.namespace, types.MergePatchType,
		fmt.Appendf(nil, label, `"restricted"`), metav1.PatchOptions{})
	s.must(err)
	s.start()
	s.createOne("pods")
	reason, quotes := "FailedCreate", "PodSecurity"
	if s.Kind == chapters.TDSet {
		reason, quotes = "ReplicaFailure", ""
	}
	s.eventually("Ready quotes the refusal of the Pods",
		func() error { return s.readyIs("pods", metav1.ConditionFalse, reason, quotes) })
	_, err = namespaces.Patch(s.Context(), s.namespace, types.MergePatchType, fmt.Appendf(nil, label, "null"),
		metav1.PatchOptions{})
	s.must(err)
	s.recovers("pods")
}

// refuses waits until the status reports a refusal. Then it checks that a program that keeps trying
// doesn't keep writing the status.
func (s *scenario) refuses(name, quotes string) {
	s.Helper()
	s.eventually("Ready quotes the refusal", func() error {
		return s.readyIs(name, metav1.ConditionFalse, "Refused", quotes)
	})
	var statuses, tries int
	s.eventually("the operator has tried often enough", func() error {
		for _, write := range s.writes() {
			switch {
			case write.Name == name && write.Resource == s.resource().Resource+"/status" && write.Code < 300:
				statuses++
			case write.Resource == "deployments": // a refused create has no name in the log
				tries++
			}
		}
		if s.hasQueue() && tries < attempts {
			return fmt.Errorf("it has tried %d times", tries)
		}
		return nil
	})
	// The first write quotes the refusal. If there is a Deployment all the same, others count its Pod,
	// and report it as available.
	if statuses > 3 {
		s.Errorf("%s: %d status writes in %d attempts, want 3 at most", name, statuses, tries)
	}
}

// recovers waits until the object is Ready. In 01 and 02, a Foo needs an event for that.
func (s *scenario) recovers(name string) {
	s.Helper()
	if s.Kind == chapters.Foo && !s.hasQueue() {
		s.touch(name)
	}
	s.eventually(name+" becomes ready", func() error { return s.readyIs(name, metav1.ConditionTrue, "", "") })
}

// readyIs returns an error unless the object's condition Ready is up to date and has that status,
// that reason ("" means any) and a message that contains the text.
func (s *scenario) readyIs(name string, status metav1.ConditionStatus, reason, text string) error {
	object, err := s.objects().Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	ready := s.decode(object).ready() // a TDSet has these fields, too
	if ready == nil || ready.Status != status || ready.ObservedGeneration != object.GetGeneration() ||
		reason != "" && ready.Reason != reason || !strings.Contains(ready.Message, text) {
		return fmt.Errorf("Ready is %+v, want the status %s, the reason %q and a message with %q", ready, status,
			reason, text)
	}
	return nil
}

// createOne creates an object with one replica.
func (s *scenario) createOne(name string) {
	s.Helper()
	if s.Kind == chapters.TDSet {
		s.createTDSet(name, 1)
	} else {
		s.createFoo(name, name, 1)
	}
}

func (s *scenario) scaleOne(name string) {
	s.Helper()
	if s.Kind == chapters.TDSet {
		s.patchTDSet(name, `{"spec":{"defaultReplica":2}}`)
	} else {
		s.patchFoo(name, `{"spec":{"replicas":2}}`)
	}
}

// touch annotates the object, so that an event about it follows. The value is the time, because
// the same value again would change nothing, and there would be no event.
func (s *scenario) touch(name string) {
	s.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/touched":%q}}}`,
		time.Now().Format(time.RFC3339Nano))
	_, err := s.objects().Patch(s.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	s.must(err)
}

// quota creates a quota that allows no Deployments. The function that it returns deletes the quota.
func (s *scenario) quota() (end func()) {
	s.Helper()
	quotas := s.client.CoreV1().ResourceQuotas(s.namespace)
	_, err := quotas.Create(s.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/deployments.apps": resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the quota has a status", func() error {
		quota, err := quotas.Get(s.Context(), "none", metav1.GetOptions{})
		if err == nil && len(quota.Status.Used) == 0 {
			err = errors.New("it is empty")
		}
		return err
	})
	return func() {
		s.must(quotas.Delete(s.Context(), "none", metav1.DeleteOptions{}))
	}
}

// deploymentsHere matches the Deployments of the scenario's namespace.
func (s *scenario) deploymentsHere() *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule: admissionv1.Rule{
				APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"},
			},
		}}},
	}
}

// policy creates a policy that refuses all Deployments. The function that it returns deletes the
// policy.
func (s *scenario) policy() (end func()) {
	s.Helper()
	registration := s.client.AdmissionregistrationV1()
	policies, bindings := registration.ValidatingAdmissionPolicies(), registration.ValidatingAdmissionPolicyBindings()
	_, err := policies.Create(s.Context(), &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: s.deploymentsHere(),
			Validations:      []admissionv1.Validation{{Expression: "false", Message: "not on Fridays"}},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	_, err = bindings.Create(s.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: s.namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the policy is in force", func() error {
		if s.storedImage() != "" {
			return errors.New("a Deployment is accepted")
		}
		return nil
	})
	return func() {
		s.must(bindings.Delete(s.Context(), s.namespace, metav1.DeleteOptions{}))
		s.must(policies.Delete(s.Context(), s.namespace, metav1.DeleteOptions{}))
		s.accepts()
	}
}

// rewriteImages creates a policy that replaces the image of every Deployment. The function that it
// returns deletes the policy.
func (s *scenario) rewriteImages() (end func()) {
	s.Helper()
	const mirror = "example.com/mirror:1"
	const image = "/spec/template/spec/containers/0/image"
	const expression = `[JSONPatch{op: "replace", path: "` + image + `", value: "` + mirror + `"}]`
	registration := s.client.AdmissionregistrationV1()
	policies, bindings := registration.MutatingAdmissionPolicies(), registration.MutatingAdmissionPolicyBindings()
	_, err := policies.Create(s.Context(), &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints:   s.deploymentsHere(),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeJSONPatch,
				JSONPatch: &admissionv1.JSONPatch{Expression: expression},
			}},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	_, err = bindings.Create(s.Context(), &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: s.namespace},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the policy is in force", func() error {
		if image := s.storedImage(); image != mirror {
			return fmt.Errorf("the image %q is stored", image)
		}
		return nil
	})
	return func() {
		s.must(bindings.Delete(s.Context(), s.namespace, metav1.DeleteOptions{}))
		s.must(policies.Delete(s.Context(), s.namespace, metav1.DeleteOptions{}))
		s.accepts()
	}
}

// accepts waits until the API server no longer refuses or rewrites Deployments, because it needs a
// moment to notice that a policy is gone.
func (s *scenario) accepts() {
	s.Helper()
	want := deploymentObject("probe").Spec.Template.Spec.Containers[0].Image
	s.eventually("the policy is no longer in force", func() error {
		if image := s.storedImage(); image != want {
			return fmt.Errorf("the image %q is stored", image)
		}
		return nil
	})
}

// storedImage returns the image that the API server would store in a new Deployment, or "" if it
// refuses the Deployment.
func (s *scenario) storedImage() string {
	probe, err := s.deployments().Create(s.Context(), deploymentObject("probe"),
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return ""
	}
	return probe.Spec.Template.Spec.Containers[0].Image
}
