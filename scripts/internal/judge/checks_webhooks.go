package judge

// Can others work while the operator's webhooks are down, and can the operator start again?

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

func webhookChecks() []Check {
	return []Check{{
		Name:    "webhooks",
		Promise: "while its webhooks are down, others can write their objects, and the operator can start again",
		Why: "While a webhook with failurePolicy Fail is down, nobody can write what its rules match. If that includes " +
			"Pods, the cluster can't even start the Pod that would serve the webhook.",
		Fix: "List only your own kinds in the webhook's rules. If it needs others, set failurePolicy to Ignore, or " +
			"exclude your own namespace. Serve the webhooks before you write your own kinds.",
		Lesson:   "06-kubebuilder/README.md",
		requires: "webhooks",
		run:      surviveWithoutWebhooks,
	}}
}

// everyday are objects of the kinds that almost everybody writes.
var everyday = []string{
	`{"apiVersion": "v1", "kind": "ConfigMap"}`,
	`{"apiVersion": "v1", "kind": "Secret"}`,
	`{"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}}`,
	`{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}`,
}

func surviveWithoutWebhooks(s *scenario) {
	s.startWith("before")
	s.step("stop the operator; its webhooks stay installed")
	s.replicas[0].Replica.Stop()
	at := *s.judge // which doesn't wait for webhooks
	var err error
	at.dynamic, err = dynamic.NewForConfig(s.target)
	s.must(err)
	hasty := *s
	hasty.judge = &at
	isRefused := func(object *unstructured.Unstructured) bool {
		_, err := hasty.wouldBe(object)
		if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
			s.must(err)
		}
		return err != nil
	}
	for _, content := range everyday {
		other := &unstructured.Unstructured{}
		s.must(other.UnmarshalJSON([]byte(content)))
		other.SetName("judge-other")
		if isRefused(other) {
			evidence := []Evidence{noted("the API server refuses a new %s, because a webhook doesn't answer", other.GetKind())}
			s.foundAlso(Warning, evidence, "while the operator is down, others can't create their objects", "a "+other.GetKind())
		}
	}
	meanwhile := s.sample("meanwhile")
	began := time.Now()
	if isRefused(meanwhile) {
		s.measure("while the operator is down, the API server refuses samples")
		s.start()
		meanwhile = s.create(meanwhile)
	} else {
		s.measure("while the operator is down, the API server accepts samples that no webhook has seen")
		meanwhile = s.create(meanwhile)
		s.start()
	}
	s.recovers(began, meanwhile, "when its webhooks are installed before it starts, the operator doesn't do its work")
	s.foundCrashes()
}
