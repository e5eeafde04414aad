//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/test/utils"
)

// TDSets change while every replica is replaced, including the leader. The API server always
// reaches a webhook, and in the end every TDSet has its last spec.
func TestNoChangeIsMissedWhileTheOperatorIsUpdated(t *testing.T) {
	namespace := aNamespace(t)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	api, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	tdsets := api.Resource(schedulev2.GroupVersion.WithResource("tdsets")).Namespace(namespace)
	former := pods(t)
	kubectl(t, "rollout", "restart", "-n", operator, manager)
	replaced := make(chan error, 1)
	go func() {
		_, gone := utils.Exec("kubectl", append([]string{"wait", "pod", "-n", operator, "--for=delete", "--timeout=5m"}, former...)...)
		replaced <- errors.Join(untilReady(), gone)
	}()

	// Only one in ten requests changes a TDSet. The others are dry runs, for which the API server
	// calls the webhook, too.
	last, good, dropped := map[string]int{}, 0, 0
	for number, running := 0, true; running; number++ {
		select {
		case err := <-replaced:
			if err != nil {
				t.Fatal(err)
			}
			running, number = false, (number/10+1)*10 // one more change after all are replaced
		case <-time.After(50 * time.Millisecond):
		}
		name, replicas, options := fmt.Sprintf("web-%d", number/10%3), 1+number/30%2, metav1.ApplyOptions{FieldManager: "e2e", Force: true}
		if number%10 > 0 {
			options.DryRun = []string{metav1.DryRunAll}
		}
		var tdset unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(manifest(name, fmt.Sprintf(`[{name: always, start: "00:00", end: "24:00", replicas: %d}]`, replicas))), &tdset.Object); err != nil {
			t.Fatal(err)
		}
		switch _, err := tdsets.Apply(t.Context(), name, &tdset, options); {
		case err == nil:
			good++
			if options.DryRun == nil {
				last[name] = replicas
			}
		case running && isDropped(err):
			dropped++
		default:
			t.Errorf("%s: a request failed: %v", time.Now().Format(time.StampMilli), err)
		}
	}
	// Each replica may have dropped one request, because the client waits for each answer.
	if stopped := len(former); dropped > stopped || good <= stopped {
		t.Errorf("%d requests succeeded and %d were dropped, want at most one dropped for each of the %d stopped replicas", good, dropped, stopped)
	}

	for name, replicas := range last {
		kubectl(t, "wait", "-n", namespace, "deployment/"+name, fmt.Sprintf("--for=jsonpath={.spec.replicas}=%d", replicas), "--timeout=3m")
	}
}

// isDropped reports whether a replica stopped just when the API server sent a request on an open
// connection, because with HTTP/1.1 a server can't announce that it will close one. Nothing was
// stored, and another replica answers a retry.
func isDropped(err error) bool {
	message := strings.TrimSpace(err.Error())
	return strings.Contains(message, "failed to call webhook") && (strings.HasSuffix(message, ": EOF") || strings.Contains(message, "connection reset by peer"))
}
