package acceptance

// The promises T1 to T12 without faults: T1, T5, T6 and T10. The others are in tdset_time_test.go,
// tdset_owner_test.go, tdset_delete_test.go and tdset_input_test.go.

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
)

// tdsetPromises are the tests of the program's promises about TDSets.
func tdsetPromises(j judged) []promise {
	all := []promise{
		{"T1 create: a TDSet gets its Deployment", createTDSet},
		{"T1 create: kubectl wait --for condition=Ready returns when the Pods are available", waitForReady},
		{"T2 boundary: the Deployment is scaled when a window begins", boundary},
		{"T3 midnight: a window that ends there, and the hour after it", midnight},
		{"T3 midnight: windows that run past it", pastMidnight},
		{"T4 zone: hours are in spec.timeZone, even when clocks change", zone},
		{"T4 zone: without one, hours are in UTC", defaultZone},
		{"T5 image: a change of image or port is rolled out", image},
		{"T6 service: is created, changed and deleted with spec.service", service},
		{"T7 drift: a manual change is reverted", tdsetDrift},
		{"T7 drift: other people's fields are left alone", tdsetForeignFields},
		{"T8 refusal: a Deployment that nobody owns", refuseUnownedByTDSet},
		{"T8 refusal: somebody else's Deployment", refuseOwned},
		{"T8 refusal: an orphan of a TDSet of the same name", refuseOrphanOfTDSet},
		{"T8 refusal: the TDSet waits for a terminating Deployment", waitForTerminatingOfTDSet},
		{"T9 delete: the Deployment goes with its TDSet", removeTDSet},
		{"T9 delete: an orphaned Deployment stays as it is", orphanTDSet},
		{"T10 quiet: within the write budget", tdsetBudget},
		{"T10 quiet: events that change nothing cause no write", tdsetQuiet},
		{"T11 restart: a boundary that passed while the program was down", restart},
		{"T12 bad input: the API server refuses it and names the field", badTDSet},
		{"T15 refused write: a Deployment that is refused or changed is visible, until that ends", refusedWrites},
		{"T15 refused write: so is a refused update", refusedUpdate},
		{"T15 refused write: so are refused Pods", refusedPods},
	}
	if j.isFull() {
		all = append(all,
			promise{"T7 drift: a manual change of the Service is reverted", serviceDrift},
			promise{"T8 refusal: a Service that isn't the TDSet's", refuseService},
			promise{"T9 delete: the TDSet stays until the last Pod is gone", drain},
			promise{"T9 delete: after --drain-timeout, the TDSet is gone", drainTimeout},
			promise{"T9 delete: a TDSet that was deleted while the program was down is drained", drainLater},
			promise{"T9 delete: somebody else's Deployment isn't drained", drainNothing},
		)
	}
	all = append(all, onlyTDSetsWithContainers(j)...)
	return slices.DeleteFunc(all, func(p promise) bool { return !j.holds(declaredName(p.name)) })
}

// TestTDSets tests all promises that can be tested at the same time, because most of them wait for
// an hour to begin.
func TestTDSets(t *testing.T) {
	forChaptersAtOnce(t, chapters.TDSet, nil, func(t *testing.T, env *environment, j judged) {
		testPromises(t, env, j, tdsetPromises(j))
		t.Run(leastPrivilege, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, env, j)
			usesItsPermissions(s, s.tdsetLifecycle)
		})
	})
}

func createTDSet(s *scenario) {
	s.startAt(at(10, 30))
	sample, err := os.ReadFile(s.program.Examples[len(s.program.Examples)-1])
	s.must(err)
	object := &unstructured.Unstructured{}
	s.must(yaml.UnmarshalStrict(sample, &object.Object))
	object.SetNamespace("")
	if kindNode() != "" { // the kubelet always pulls an image without a tag
		with(object, "example.com/app:1", "container", "image")
	}
	image, _, _ := unstructured.NestedString(object.Object, "spec", "container", "image")
	s.create(object)

	const name = "tdset-hello-world"
	tdset := s.becomesScheduled(name, 5)
	deployment := s.getDeployment(name)
	container := deployment.Spec.Template.Spec.Containers[0]
	for what, ok := range map[string]bool{
		"label":             deployment.Labels["app"] == name,
		"selector":          deployment.Spec.Selector.MatchLabels["app"] == name,
		"template's labels": maps.Equal(deployment.Spec.Template.Labels, deployment.Spec.Selector.MatchLabels),
		"image":             container.Image == image,
		"port":              len(container.Ports) == 1 && container.Ports[0].ContainerPort == 8000,
		"controller":        metav1.IsControlledBy(deployment, tdset),
	} {
		if !ok {
			s.Errorf("wrong %s: %+v", what, deployment)
		}
	}
	if next := tdset.Status.NextTransitionTime; s.isFull() &&
		(tdset.Status.ActiveWindow != "office" || !s.means(next, at(17, 0))) {
		s.Errorf("got status %+v", tdset.Status)
	}
}

// waitForReady does what users and scripts do. The condition must be about the current spec, and
// its lastTransitionTime about its status.
func waitForReady(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 1, office)
	wait := func(replicas int32) (since metav1.Time) {
		s.Helper()
		_, err := s.kubectl.Run(s.Context(), "--namespace", s.namespace, "wait", "--for", "condition=Ready",
			"tdset/a", "--timeout", s.timeout.String())
		s.must(err)
		if err := isRolledOut(s.getDeployment("a"), replicas); err != nil {
			s.Errorf("it is Ready, but %v", err)
		}
		return meta.FindStatusCondition(s.getTDSet("a").Status.Conditions, "Ready").LastTransitionTime
	}
	wait(2)
	s.patchTDSet("a", `{"spec":{"schedulingConfig":[{"startTime":9,"endTime":17,"replica":3}]}}`)
	since := wait(3)

	s.patchTDSet("a", `{"spec":{"intervalMint":1440}}`)
	s.sentinel("later")
	if still := wait(3); !still.Equal(&since) {
		s.Errorf("got lastTransitionTime %v, want %v, as before", still, since)
	}
}

func image(s *scenario) {
	s.startAt(at(10, 30))
	s.createTDSet("a", 1, office)
	s.becomesScheduled("a", 2)
	before := s.podsOf("a")
	s.patchTDSet("a", `{"spec":{"container":{"image":"example.com/app:2","port":9000}}}`)
	s.eventually("image and port are rolled out", func() error {
		container := s.getDeployment("a").Spec.Template.Spec.Containers[0]
		if container.Image != "example.com/app:2" || len(container.Ports) != 1 || container.Ports[0].ContainerPort != 9000 {
			return fmt.Errorf("the container is %+v", container)
		}
		return nil
	})
	s.becomesScheduled("a", 2)
	s.eventually("the old Pods are gone", func() error {
		for _, pod := range s.podsOf("a") {
			if slices.ContainsFunc(before, func(former corev1.Pod) bool { return former.UID == pod.UID }) {
				return fmt.Errorf("%s still exists", pod.Name)
			}
		}
		return nil
	})
}

// podsOf returns the Pods of the Deployment of that name that haven't finished. A kubelet deletes
// finished ones some moments later.
func (s *scenario) podsOf(name string) []corev1.Pod {
	s.Helper()
	list, err := s.client.CoreV1().Pods(s.namespace).List(s.Context(), metav1.ListOptions{
		LabelSelector: "app=" + name,
		FieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
	})
	s.must(err)
	return list.Items
}

func service(s *scenario) {
	s.startAt(at(10, 30))
	tdset := s.create(with(tdsetObject("a", 2), map[string]any{"port": int64(80)}, "service"))
	s.hasService("a", 80, 8000)
	s.becomesScheduled("a", 2)
	service := s.getService("a")
	if !metav1.IsControlledBy(service, tdset) {
		s.Errorf("the Service isn't the TDSet's: %+v", service)
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	if pod := s.podsOf("a")[0]; selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
		s.Errorf("the Service doesn't select the Pods, which have the labels %v: %+v", pod.Labels, service)
	}

	s.patchTDSet("a", `{"spec":{"service":{"port":81}}}`)
	s.hasService("a", 81, 8000)
	s.patchTDSet("a", `{"spec":{"container":{"port":9000}}}`)
	s.hasService("a", 81, 9000)
	s.becomesScheduled("a", 2)
	deployment := s.getDeployment("a")

	s.patchTDSet("a", `{"spec":{"service":null}}`)
	s.serviceDisappears("a")
	s.becomesScheduled("a", 2)
	if now := s.getDeployment("a"); now.UID != deployment.UID || now.Generation != deployment.Generation {
		s.Errorf("the Deployment was touched: %+v", now)
	}

	s.patchTDSet("a", `{"spec":{"service":{"port":82}}}`)
	s.hasService("a", 82, 9000)
}

// hasService waits until there is a Service of that name with one port, which leads to the
// container's.
func (s *scenario) hasService(name string, port, containerPort int32) {
	s.Helper()
	s.eventually(fmt.Sprintf("Service %s leads from port %d to port %d", name, port, containerPort), func() error {
		service := s.getService(name)
		if service == nil {
			return errors.New("there is none")
		}
		if ports := service.Spec.Ports; len(ports) != 1 || ports[0].Port != port ||
			ports[0].TargetPort.IntVal != containerPort {
			return fmt.Errorf("its ports are %+v", ports)
		}
		return nil
	})
}

// serviceDisappears waits until there is no Service of that name.
func (s *scenario) serviceDisappears(name string) {
	s.Helper()
	s.eventually("Service "+name+" disappears", func() error {
		if s.getService(name) != nil {
			return errors.New("it is there")
		}
		return nil
	})
}

func tdsetBudget(s *scenario) {
	s.startAt(at(10, 30))
	settles := func(object *unstructured.Unstructured, writes, events int) {
		s.Helper()
		s.create(object)
		s.becomesScheduled(object.GetName(), 1)
		// A write that the server refused changed nothing. It is the price of a cache that lags
		// behind.
		all := slices.DeleteFunc(s.writes(), func(r audit.Request) bool { return r.Code >= 400 })
		if got := count(all, "events"); len(all)-got > writes || got > events {
			s.Errorf("want at most %d writes and %d events, got:\n%v", writes, events, all)
		}
	}
	switch {
	case !s.hasQueue():
		settles(tdsetObject("a", 1), 3, 0)
		return
	case !s.isFull():
		settles(tdsetObject("a", 1), 3, 1)
		return
	}
	settles(tdsetObject("a", 1), 4, 1)
	settles(with(tdsetObject("b", 1), map[string]any{"port": int64(80)}, "service"), 5, 1)
}

func tdsetQuiet(s *scenario) {
	s.startAt(at(10, 30))
	object := tdsetObject("a", 1, office)
	if s.isFull() {
		with(object, map[string]any{"port": int64(80)}, "service")
	}
	s.create(object)
	s.becomesScheduled("a", 2)
	s.sentinel("settled") // by then the program has acted on all that came before
	s.writes()

	s.patchTDSet("a", `{"metadata":{"annotations":{"touched":"yes"}}}`)
	s.patchDeployment("a", `{"metadata":{"labels":{"touched":"yes"}}}`)
	s.sentinel("later")
	for _, write := range s.writes() {
		if isAbout(write, "a") {
			s.Errorf("unnecessary write: %s", write)
		}
	}
	// A new replica starts with all objects, as after a resync or a restart, and finds nothing to
	// do.
	s.operator.Stop()
	s.startAgain()
	s.sentinel("later-still")
	for _, write := range s.writes() {
		if (isAbout(write, "a") || write.Name == "later") && write.Code < 400 {
			s.Errorf("unnecessary write after a restart: %s", write)
		}
	}
}

// isAbout reports whether a request is about an object of that name, or an Event about it, whose
// name begins with that.
func isAbout(r audit.Request, name string) bool {
	return r.Name == name || r.Resource == "events" && strings.HasPrefix(r.Name, name+".")
}
