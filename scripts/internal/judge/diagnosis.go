package judge

// Why doesn't the operator do its work? The judge names the causes that it knows, and shows what the
// operator has said and what it was refused.

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/operator"
)

// diagnosis is evidence of why a sample doesn't become ready, the most likely cause first.
func (s *scenario) diagnosis(sample *unstructured.Unstructured) []Evidence {
	evidence := s.knownCauses()
	if crashes := s.crashes(); len(crashes) > 0 {
		evidence = append(evidence, crashes[len(crashes)-1]) // each has the same cause
	}
	for _, refused := range s.refusals() {
		evidence = append(evidence, noted("%s", refused))
	}
	for line := range strings.Lines(ownLines(s.replicas[0].Log())) {
		evidence = append(evidence, noted("the operator logs: %s", strings.TrimSpace(line)))
	}
	return append(evidence, s.present(sample)...)
}

// knownCauses are what the judge can't give an operator unless somebody asks for it.
func (s *scenario) knownCauses() (causes []Evidence) {
	switch log := s.replicas[0].Log(); {
	case strings.Contains(log, "leader election namespace"):
		causes = append(causes, noted("leader election can't start, because the operator doesn't run in a Pod and "+
			"can't find its namespace: write inCluster: true in judge.yaml, or name a namespace in the arguments"))
	case strings.Contains(log, "unable to load in-cluster configuration"):
		causes = append(causes, noted("the operator looks for the API server as in a Pod: write inCluster: true in judge.yaml"))
	case strings.Contains(log, "error retrieving resource lock") && strings.Contains(log, "forbidden"):
		causes = append(causes, noted("leader election can't start, because the operator may not use Leases: turn it "+
			"off, or add its Role to permissions in judge.yaml"))
	}
	inPods := s.since(time.Time{}, func(r audit.Request) bool {
		_, subresource, _ := strings.Cut(r.Resource, "/")
		return r.Code >= 400 && slices.Contains([]string{"exec", "attach", "portforward", "log"}, subresource)
	})
	if len(inPods) > 0 {
		causes = append(causes, noted("the operator needs something from a running container, and on simulated nodes "+
			"nothing runs: judge it on kind: %s", inPods[0]))
	}
	claims, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	for _, claim := range claims.Items {
		if claim.Spec.VolumeName == "" {
			causes = append(causes, noted("PersistentVolumeClaim %s isn't bound: this cluster has no volumes unless the "+
				"manifests in judge.yaml create them", claim.Name))
		}
	}
	return causes
}

// refusals are the requests that the API server has refused, with how often. A conflict, and an object
// that isn't there, are answers that an operator should expect.
func (s *scenario) refusals() (refusals []string) {
	count := map[string]int{}
	for _, r := range s.since(time.Time{}, func(r audit.Request) bool {
		return r.Code >= 400 && r.Code != 404 && r.Code != 409 && r.Code != 410 && r.Resource != ""
	}) {
		count[fmt.Sprintf("refused with %d: %s", r.Code, operator.Right(r.Verb, r.Resource, r.Group))]++
	}
	for _, text := range slices.Sorted(maps.Keys(count)) {
		refusals = append(refusals, fmt.Sprintf("%s (%d times)", text, count[text]))
	}
	return refusals
}

// notOwn matches lines that say nothing about a cause: stack traces, and the chatter of a shutdown.
var notOwn = regexp.MustCompile(`^\s|^goroutine |^\S+\.\S+$|^\S+\.\S+\(.*\)$|^created by |` +
	`(?i)stopping and waiting|wait completed|shutting down|shutdown signal|all workers finished`)

// ownLines returns the last five lines of a log that say what the operator has done.
func ownLines(log string) string {
	lines := slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool {
		return line == "" || notOwn.MatchString(line)
	})
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
