package judge

// Can others work while the operator's webhooks are down, and can the operator start again?

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/faultproxy"
)

func webhookChecks() []Check {
	return []Check{{
		Name:    "webhooks",
		Promise: "while the operator's webhooks are down, others can write their own objects, and the operator can start again",
		Why: "While a webhook with failurePolicy Fail is down, nobody can write an object that its rules match. If they match " +
			"Pods, the cluster can't even start the Pod that would serve the webhook.",
		Fix: "List only your own kinds in the webhook's rules. If it needs others, set failurePolicy to Ignore. If it must " +
			"refuse others, at least exclude the operator's own namespace with a namespaceSelector, so that its Pod can " +
			"start. This check still warns then. Start the webhook server before you write your own kinds.",
		Lesson:   "06-kubebuilder/README.md",
		requires: "webhooks",
		run:      survivesWithoutWebhooks,
	}}
}

// commonObjects are of the kinds that almost everybody writes.
var commonObjects = []string{
	`{"apiVersion": "v1", "kind": "ConfigMap"}`,
	`{"apiVersion": "v1", "kind": "Secret"}`,
	`{"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}}`,
	`{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}`,
}

func survivesWithoutWebhooks(s *scenario) {
	before := s.startWith("before")[0]
	s.step("stop the operator, but leave its webhook configurations in place")
	s.replicas[0].Replica.Stop()
	isRefused := func(object *unstructured.Unstructured) bool {
		_, err := s.wouldBe(object)
		return err != nil && strings.Contains(err.Error(), s.installedAt) // others may refuse it, too
	}
	for _, content := range commonObjects {
		object := &unstructured.Unstructured{}
		s.must(object.UnmarshalJSON([]byte(content)))
		object.SetName("judge-other")
		if isRefused(object) {
			kind := object.GetKind()
			refusal := noted("the API server refuses a new %s, because it can't call one of the operator's webhooks", kind)
			s.foundAlso(Warning, []Evidence{refusal}, "while the operator is down, others can't create their own objects",
				"a "+kind)
		}
	}
	meanwhile := s.sample("meanwhile")
	isAccepted := !isRefused(meanwhile)
	s.measure("while the operator is down, the API server accepts new samples: %t", isAccepted)
	if isAccepted {
		meanwhile = s.create(meanwhile)
	}
	began := time.Now()
	r := s.startBehind(func(*faultproxy.Proxy) {})
	s.install(r.webhooks)
	const otherwise = "if the operator starts while its webhooks are already installed, it doesn't "
	if !s.promise(began, s.config.Limits.Recover, before, r.serves, otherwise+"serve them") {
		return
	}
	if !isAccepted {
		meanwhile = s.create(meanwhile)
	}
	s.recovers(began, meanwhile, otherwise+"do its work")
	s.foundCrashes()
}
