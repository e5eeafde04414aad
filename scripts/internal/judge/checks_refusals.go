package judge

// Does the operator refuse bad input, and does a sample's status show that the API server refuses its
// objects, or their Pods?

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/audit"
)

func refusalChecks() []Check {
	return []Check{
		{
			Name:     "bad-input",
			Promise:  "input that the operator must refuse changes no objects, and isn't retried in a tight loop",
			Why:      "Bad input stays until a person corrects it, so a tight loop keeps the API server busy until then.",
			Fix:      "Report it in the status. Then wait for a change or return an error, which is retried with a backoff.",
			Lesson:   "03-workqueue/README.md",
			requires: "badInput",
			run:      badInputIsRefused,
		},
		{
			Name:    "refusals",
			Promise: "if the API server refuses objects or Pods, the status shows it until the cause is gone, and no longer",
			Why: "Quotas, policies and webhooks refuse writes every day, and users can't read the operator's log. If the " +
				"status is silent, they only see that nothing happens. If it reports success too soon, they go on too soon.",
			Fix:    "Put the API server's answer into a condition and return the error. Report Ready once the Pods are ready.",
			Lesson: "03-workqueue/README.md",
			run: func(s *scenario) {
				healthy := s.startWith("healthy")[0]
				refuseObjects(s, healthy)
				refusePods(s, healthy)
				s.foundCrashes()
			},
		},
	}
}

func badInputIsRefused(s *scenario) {
	r := s.start()
	for i, bad := range s.config.BadInput {
		sample := s.ready(fmt.Sprintf("bad-%d", i))[0]
		before, used := s.owned(sample), s.usage(r).cpu
		began := time.Now()
		_, err := s.tryPatch(sample, types.MergePatchType, asJSON(bad.Patch))
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
			continue // the API server or a webhook refuses it, which is best
		}
		if apierrors.IsInternalError(err) {
			s.found(Warning, []Evidence{noted("%v", err)},
				"the bad input %q is refused as an internal error, which doesn't tell users what is wrong", bad.Name)
			continue
		}
		s.must(err)
		_ = s.within(s.config.Limits.Quiet/2, func() error { // it may need no request for that
			if len(s.since(began)) == 0 {
				return errors.New("the operator hasn't noticed the bad input")
			}
			return nil
		})
		s.foundLoop(fmt.Sprintf("the bad input %q", bad.Name))
		used, took := s.usage(r).cpu-used, time.Since(began)
		if len(s.crashes()) == 0 && used > float64(took.Milliseconds())/2 {
			s.found(Error, []Evidence{noted("%.0f ms of CPU time in %v", used, took)},
				"the bad input %q keeps a processor busy", bad.Name)
		}
		for _, object := range before {
			if now := s.history.now(object); now == nil || differ(now, object, "spec") {
				s.broken(began, object, "the bad input %q changes or deletes a %s", bad.Name, object.GetKind())
			}
		}
		s.foundCrashes()
	}
}

// foundLoop watches the operator for some time. It is a finding if something that the operator has
// just noticed makes it loop.
func (s *scenario) foundLoop(cause string) {
	noticed := time.Now()
	s.pass(s.config.Limits.Quiet / 2)
	lasted := time.Since(noticed)
	requests := s.since(noticed)
	never := longestPause(noticed, requests, noticed.Add(lasted)) < min(pause, lasted/4)
	if never || float64(len(requests)) > loop*lasted.Seconds() {
		s.found(Error, asEvidence(requests), "%s makes the operator send %d requests in %v",
			cause, len(requests), lasted.Round(time.Second))
	}
}

// refuseObjects makes the API server refuse whatever the operator creates for a new sample.
func refuseObjects(s *scenario, healthy *unstructured.Unstructured) {
	quota := corev1.ResourceList{}
	for _, owned := range s.ofOwned {
		quota[corev1.ResourceName("count/"+owned.GroupResource().String())] = resource.Quantity{}
	}
	end := s.forbid(quota)
	began := time.Now()
	sample := s.create(s.sample("without-objects"))
	isRefused := func(r audit.Request) bool { return r.ChangesObjects() && r.Code == http.StatusForbidden }
	s.needs(s.soon(func() error {
		if len(s.since(began, isRefused)) == 0 {
			return errors.New("the operator creates nothing that a quota of 0 forbids")
		}
		return nil
	}))
	_ = s.within(2*s.config.Limits.Quiet, func() error { return s.showsTrouble(sample, healthy) })
	s.foundSilence(began, sample, healthy, "the API server refuses to create an object")
	s.pass(settled) // the write of the status may make the operator try once more
	end()
	s.foundAfterwards(began, sample)
}

// refusePods makes the API server refuse the Pods of the workloads that the operator creates.
func refusePods(s *scenario, healthy *unstructured.Unstructured) {
	if err := s.soon(func() error { return s.havePods(healthy) }); err != nil {
		s.step("%v, so a quota would make no difference", err)
		return
	}
	end := s.forbid(corev1.ResourceList{corev1.ResourcePods: {}})
	began := time.Now()
	sample := s.create(s.sample("without-pods"))
	s.pass(2 * settled)
	_ = s.settle()
	if err := s.havePods(sample); err != nil && s.claimsReady(sample) {
		severity := Warning // it may mean less, such as that the objects exist
		if slices.Contains([]string{"Ready", "Available"}, s.config.Ready.Condition) {
			severity = Error
		}
		s.found(severity, s.evidence(began, sample), "a sample is ready, although %v", err)
	}
	end()
	for _, object := range s.owned(sample) { // its controller, which waits longer after each failure, tries again
		s.annotate(object, "judge.example.com/retry")
	}
	s.foundAfterwards(began, sample)
}

// forbid creates a quota. The function that it returns deletes it.
func (s *scenario) forbid(hard corev1.ResourceList) (end func()) {
	quotas := s.client.CoreV1().ResourceQuotas(s.namespace)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: manager}}
	quota.Spec.Hard = hard
	s.step("create a quota: %s", asJSON(hard))
	_, err := quotas.Create(s.ctx, quota, metav1.CreateOptions{})
	s.must(err)
	s.needs(s.soon(func() error {
		now, err := quotas.Get(s.ctx, manager, metav1.GetOptions{})
		if err == nil && len(now.Status.Used) == 0 {
			err = errors.New("the judge's quota has no effect yet")
		}
		return err
	}))
	return func() {
		s.step("delete the quota")
		s.must(quotas.Delete(s.ctx, manager, metav1.DeleteOptions{}))
	}
}

// havePods returns nil if each workload of a sample has a ready Pod, or wants none.
func (s *scenario) havePods(sample *unstructured.Unstructured) error {
	for _, object := range s.owned(sample) {
		replicas, isSet, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		isFine := isSet && replicas == 0 || image.in(object) == nil
		for _, field := range []string{"readyReplicas", "numberReady", "ready", "succeeded"} {
			count, _, _ := unstructured.NestedInt64(object.Object, "status", field)
			isFine = isFine || count > 0
		}
		if !isFine {
			return fmt.Errorf("its %s has no ready Pods", object.GetKind())
		}
	}
	return nil
}

// showsTrouble returns nil if a field of a sample's status isn't as in a healthy sample's, such as a
// condition that is False. Numbers, times, and the sample's own name don't count.
func (s *scenario) showsTrouble(sample, healthy *unstructured.Unstructured) error {
	now, usual := s.history.now(sample), s.history.now(healthy)
	for _, field := range leaves(now.Object["status"], "status") {
		text := fmt.Sprint(field.value)
		_, isNumber := field.value.(int64)
		_, notTime := time.Parse(time.RFC3339, text)
		own := strings.ReplaceAll(text, now.GetName(), usual.GetName())
		if !isNumber && notTime != nil && fmt.Sprint(field.in(usual)) != own {
			return nil
		}
	}
	return errors.New("its status is like that of a healthy sample, or empty")
}

// foundSilence is a finding if a sample is in trouble, and its status doesn't show it.
func (s *scenario) foundSilence(began time.Time, sample, healthy *unstructured.Unstructured, trouble string) {
	if s.showsTrouble(sample, healthy) == nil {
		return
	}
	s.needs(s.havePods(sample)) // otherwise, the cluster may be the cause
	about := metav1.ListOptions{FieldSelector: "type=Warning,involvedObject.uid=" + string(sample.GetUID())}
	events, err := s.client.CoreV1().Events(metav1.NamespaceAll).List(s.ctx, about)
	s.must(err)
	severity, evidence := Error, s.evidence(began, sample)
	for _, event := range events.Items {
		severity, evidence = Warning, append(evidence, noted("an Event, which is gone in an hour: %s", event.Message))
	}
	s.found(severity, evidence, "%s, and the sample's status doesn't show it", trouble)
}

// isBad matches conditions that say that something is wrong.
var isBad = regexp.MustCompile(`(Failed|Failure|Error|Degraded|Stalled) True$`)

// foundAfterwards is a finding if a sample doesn't become ready after its trouble, or if a condition
// contradicts that.
func (s *scenario) foundAfterwards(began time.Time, sample *unstructured.Unstructured) {
	s.promise(began, s.config.Limits.Recover, sample, func() error {
		for _, c := range conditions(s.history.now(sample)) {
			text := fmt.Sprint(c["type"], " ", c["status"])
			if isBad.MatchString(text) || text == "Available False" && s.config.Ready.Condition == "Ready" {
				return errors.New("its condition is still " + text)
			}
		}
		return s.isReady(sample)
	}, "a sample doesn't recover from its trouble")
}
