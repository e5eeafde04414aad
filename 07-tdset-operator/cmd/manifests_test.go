// The manifests agree with the code: names, ports and labels are in several places, and nothing
// else compares them. RBAC is compared in rbac_test.go, by what the manager does.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

func TestTheSamplesAreTDSets(t *testing.T) {
	var list struct{ Resources []string }
	readYAML(t, "../config/samples/kustomization.yaml", &list)
	files, err := filepath.Glob("../config/samples/schedule_*.yaml")
	must(t, err)
	var namespace corev1.Namespace
	readYAML(t, "../config/samples/namespace.yaml", &namespace)
	for _, file := range files {
		if !slices.Contains(list.Resources, filepath.Base(file)) {
			t.Errorf("%s isn't in the kustomization", file)
		}
		if !strings.HasPrefix(filepath.Base(file), "schedule_v1_tdset") {
			continue // another kind, or version
		}
		var tdset schedulev1.TDSet
		readYAML(t, file, &tdset)
		if got := tdset.GroupVersionKind(); got != tdsetKind {
			t.Errorf("%s is a %v, want a %v", file, got, tdsetKind)
		}
		if tdset.Namespace != namespace.Name {
			t.Errorf("%s is for the namespace %s, and the samples make %s", file, tdset.Namespace, namespace.Name)
		}
	}
	if len(files) == 0 || len(files)+1 != len(list.Resources) { // the namespace
		t.Errorf("there are the samples %q, and in the kustomization %q", files, list.Resources)
	}
}

// What the kubebuilder CLI goes by.
func TestTheProjectIsOurs(t *testing.T) {
	var project struct {
		ProjectName, Repo, Domain string
		Resources                 []struct{ Domain, Group, Version, Kind, Path string }
	}
	text, err := os.ReadFile("../PROJECT")
	must(t, err)
	must(t, yaml.Unmarshal(text, &project))
	gomod, err := os.ReadFile("../go.mod")
	must(t, err)
	if !strings.HasPrefix(string(gomod), "module "+project.Repo+"\n") {
		t.Errorf("PROJECT says that the module is %s", project.Repo)
	}
	if project.ProjectName+"-" != namePrefix {
		t.Errorf("PROJECT says that the project's name is %s, and names begin with %s", project.ProjectName, namePrefix)
	}
	if len(project.Resources) == 0 { // the CLI adds more at the end
		t.Fatal("PROJECT has no resources")
	}
	tdset := project.Resources[0]
	if tdset.Group+"."+tdset.Domain != tdsetKind.Group || tdset.Version != tdsetKind.Version || tdset.Kind != tdsetKind.Kind || tdset.Path != project.Repo+"/api/"+tdset.Version {
		t.Errorf("PROJECT has the resource %+v, want %v", tdset, tdsetKind)
	}
}

// The names in cmd are those that kustomize makes of the names in config.
func TestNamesAreThoseInTheManifests(t *testing.T) {
	in := installedObjects(t)
	var manager appsv1.Deployment
	in.get(&manager, "Deployment", namePrefix+"controller-manager")
	in.get(&corev1.Secret{}, "Secret", certSecret)
	in.get(&corev1.Service{}, "Service", webhookService)
	in.get(&corev1.Namespace{}, "Namespace", installed)
	if volumes := manager.Spec.Template.Spec.Volumes; len(volumes) != 1 || volumes[0].Secret == nil || volumes[0].Secret.SecretName != certSecret {
		t.Errorf("the manager mounts %+v, want the Secret %s", volumes, certSecret)
	}
	if mounts := manager.Spec.Template.Spec.Containers[0].VolumeMounts; len(mounts) != 1 || !hasArg(manager, "--webhook-cert-path="+mounts[0].MountPath) {
		t.Errorf("the certificate is mounted at %+v, and looked for by %q", mounts, manager.Spec.Template.Spec.Containers[0].Args)
	}

	var validate admissionv1.ValidatingWebhookConfiguration
	in.get(&validate, "ValidatingWebhookConfiguration", validating)
	if called := validate.Webhooks[0].ClientConfig.Service; called.Name != webhookService || called.Namespace != installed {
		t.Errorf("%s calls the Service %s/%s, want %s/%s", validating, called.Namespace, called.Name, installed, webhookService)
	}

	for role, want := range map[string][]string{
		"Role " + namePrefix + "leader-election-role":      {"tdset-controller"},
		"Role " + namePrefix + "cert-rotation-role":        {certSecret},
		"ClusterRole " + namePrefix + "cert-rotation-role": {validating},
	} {
		kind, name, _ := strings.Cut(role, " ")
		var found rbacv1.ClusterRole // a Role has nothing else
		in.get(&found, kind, name)
		var names []string
		for _, rule := range found.Rules {
			names = append(names, rule.ResourceNames...)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: resourceNames (-want +got):\n%s", role, diff)
		}
	}
}

// If a policy lets anyone connect to a port, or a Service sends them there, the port must be open.
func TestPortsAndLabelsAgree(t *testing.T) {
	in := installedObjects(t)
	var manager appsv1.Deployment
	in.get(&manager, "Deployment", namePrefix+"controller-manager")
	pod := labels.Set(manager.Spec.Template.Labels)
	ports := map[string]int32{}
	for _, port := range manager.Spec.Template.Spec.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
	}
	for name, flag := range map[string]string{"metrics": "--metrics-bind-address=:%d", "probes": "--health-probe-bind-address=:%d"} {
		if arg := fmt.Sprintf(flag, ports[name]); !hasArg(manager, arg) {
			t.Errorf("the manager isn't started with %s", arg)
		}
	}
	for port, names := range map[string]struct{ service, policy string }{
		"webhook-server": {webhookService, namePrefix + "allow-webhook-traffic"},
		"metrics":        {namePrefix + "controller-manager-metrics-service", namePrefix + "allow-metrics-traffic"},
	} {
		var service corev1.Service
		var policy networkingv1.NetworkPolicy
		in.get(&service, "Service", names.service)
		in.get(&policy, "NetworkPolicy", names.policy)
		want := intstr.FromInt32(ports[port])
		if got := service.Spec.Ports[0].TargetPort; got != want {
			t.Errorf("%s sends to port %v, want %v", names.service, got.String(), want.String())
		}
		if got := *policy.Spec.Ingress[0].Ports[0].Port; got != want {
			t.Errorf("%s allows port %v, want %v", names.policy, got.String(), want.String())
		}
		for object, selector := range map[string]*metav1.LabelSelector{names.service: {MatchLabels: service.Spec.Selector}, names.policy: &policy.Spec.PodSelector} {
			selects(t, object, selector, pod)
		}
	}
	if ports["webhook-server"] != 9443 { // the default of --webhook-port
		t.Errorf("webhooks are expected at port %d", ports["webhook-server"])
	}
	var budget policyv1.PodDisruptionBudget
	in.get(&budget, "PodDisruptionBudget", namePrefix+"controller-manager")
	selects(t, budget.Name, budget.Spec.Selector, pod)
	selects(t, manager.Name, manager.Spec.Selector, pod)
}

// Kubernetes kills what hasn't ended by then.
func TestTheDeploymentLetsTheWorkBeFinished(t *testing.T) {
	var manager appsv1.Deployment
	installedObjects(t).get(&manager, "Deployment", namePrefix+"controller-manager")

	if grace := time.Duration(*manager.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second; grace <= shutdownTimeout {
		t.Errorf("it is killed after %v, and takes %v to end", grace, shutdownTimeout)
	}
}

// manifests are what `make deploy` applies.
type manifests struct {
	objects map[string]map[string]any // by kind and name
	t       *testing.T
}

func installedObjects(t *testing.T) manifests {
	t.Helper()
	m := manifests{map[string]map[string]any{}, t}
	for _, object := range buildDefault(t) {
		m.objects[object.GetKind()+" "+object.GetName()] = object.Object
		if namespace := object.GetNamespace(); namespace != "" && namespace != installed {
			t.Errorf("%s %s is in the namespace %s", object.GetKind(), object.GetName(), namespace)
		}
	}
	return m
}

// get decodes the object of that name.
func (m manifests) get(into any, kind, name string) {
	m.t.Helper()
	object := m.objects[kind+" "+name]
	if object == nil {
		m.t.Fatalf("there is no %s %s", kind, name)
	}
	must(m.t, runtime.DefaultUnstructuredConverter.FromUnstructured(object, into))
}

func selects(t *testing.T, name string, selector *metav1.LabelSelector, pod labels.Set) {
	t.Helper()
	if got, err := metav1.LabelSelectorAsSelector(selector); err != nil || got.Empty() || !got.Matches(pod) {
		t.Errorf("%s doesn't select the manager's Pods: %v, %v", name, got, err)
	}
}

func hasArg(deployment appsv1.Deployment, arg string) bool {
	return slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, arg)
}

// readYAML decodes a file into object. A field that object's type doesn't have is an error.
func readYAML(t *testing.T, file string, object any) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
