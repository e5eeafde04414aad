// The manifests match the code. Names, ports and labels are repeated in several files, and nothing
// else compares them. rbac_test.go compares the permissions with the manager's requests.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

func TestTheSamplesAreFoos(t *testing.T) {
	var list struct{ Resources []string }
	readYAML(t, "../config/samples/kustomization.yaml", &list)
	files, err := filepath.Glob("../config/samples/samplecontroller_*.yaml")
	must(t, err)
	for _, file := range files {
		if !slices.Contains(list.Resources, filepath.Base(file)) {
			t.Errorf("%s isn't in config/samples/kustomization.yaml", file)
		}
		if !strings.HasPrefix(filepath.Base(file), "samplecontroller_v1alpha1_foo") {
			continue // another kind, or version
		}
		var foo samplecontrollerv1alpha1.Foo
		readYAML(t, file, &foo)
		if got := foo.GroupVersionKind(); got != samplecontrollerv1alpha1.GroupVersion.WithKind("Foo") {
			t.Errorf("%s is a %v, want a %v", file, got, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))
		}
		if foo.Spec.DeploymentName == "" {
			t.Errorf("%s has no deploymentName, so it only works with the webhook: add one", file)
		}
	}
	if len(files) == 0 || len(files) != len(list.Resources) {
		t.Errorf("the samples are %q, but kustomization.yaml lists %q", files, list.Resources)
	}
}

// The kubebuilder CLI reads PROJECT.
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
		t.Errorf("PROJECT has the repo %s, want the module in go.mod", project.Repo)
	}
	if project.ProjectName+"-" != namePrefix {
		t.Errorf("PROJECT has the projectName %s, but the manifests' namePrefix is %s", project.ProjectName, namePrefix)
	}
	if len(project.Resources) == 0 { // the CLI adds more at the end
		t.Fatal("PROJECT has no resources")
	}
	foo := project.Resources[0]
	if foo.Group+"."+foo.Domain != samplecontrollerv1alpha1.GroupVersion.WithKind("Foo").Group || foo.Version != samplecontrollerv1alpha1.GroupVersion.WithKind("Foo").Version || foo.Kind != samplecontrollerv1alpha1.GroupVersion.WithKind("Foo").Kind || foo.Path != project.Repo+"/api/"+foo.Version {
		t.Errorf("PROJECT has the resource %+v, want %v", foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))
	}
}

// The names that kustomize makes from those in config.
const (
	namePrefix     = "foo-operator-"
	webhookService = namePrefix + "webhook-service"
	mutating       = namePrefix + "mutating-webhook-configuration"
	validating     = namePrefix + "validating-webhook-configuration"
)

func TestNamesAgree(t *testing.T) {
	in := installedObjects(t)
	var manager appsv1.Deployment
	var certificate certManagerCertificate
	in.get(&manager, "Deployment", namePrefix+"controller-manager")
	in.get(&certificate, "Certificate", namePrefix+"serving-cert")
	in.get(&corev1.Service{}, "Service", webhookService)
	in.get(&corev1.Namespace{}, "Namespace", installed)
	if volumes := manager.Spec.Template.Spec.Volumes; len(volumes) != 1 || volumes[0].Secret == nil || volumes[0].Secret.SecretName != certificate.Spec.SecretName {
		t.Errorf("the manager mounts %+v, want the Secret %s", volumes, certificate.Spec.SecretName)
	}
	if want := webhookService + "." + installed + ".svc"; certificate.Spec.DNSNames[0] != want {
		t.Errorf("the certificate is for %q, want %s", certificate.Spec.DNSNames, want)
	}
	if mounts := manager.Spec.Template.Spec.Containers[0].VolumeMounts; len(mounts) != 1 || !hasArg(manager, "--webhook-cert-path="+mounts[0].MountPath) {
		t.Errorf("the certificate is mounted at %+v, but the arguments are %q", mounts, manager.Spec.Template.Spec.Containers[0].Args)
	}

	var mutate admissionv1.MutatingWebhookConfiguration
	var validate admissionv1.ValidatingWebhookConfiguration
	in.get(&mutate, "MutatingWebhookConfiguration", mutating)
	in.get(&validate, "ValidatingWebhookConfiguration", validating)
	for name, called := range map[string]admissionv1.WebhookClientConfig{mutating: mutate.Webhooks[0].ClientConfig, validating: validate.Webhooks[0].ClientConfig} {
		if called.Service.Name != webhookService || called.Service.Namespace != installed {
			t.Errorf("%s calls the Service %s/%s, want %s/%s", name, called.Service.Namespace, called.Service.Name, installed, webhookService)
		}
	}

	annotation, want := "cert-manager.io/inject-ca-from", installed+"/"+namePrefix+"serving-cert"
	for _, object := range []metav1.Object{&mutate, &validate} {
		if got := object.GetAnnotations()[annotation]; got != want {
			t.Errorf("%s: the annotation %s is %q, want %q", object.GetName(), annotation, got, want)
		}
	}

	var election rbacv1.Role
	in.get(&election, "Role", namePrefix+"leader-election-role")
	var leases []string
	for _, rule := range election.Rules {
		leases = append(leases, rule.ResourceNames...)
	}
	if want := []string{"foo-controller"}; !slices.Equal(leases, want) {
		t.Errorf("the manager may write the Leases %q, want %q", leases, want)
	}
}

// certManagerCertificate has the fields of cert-manager's Certificate that the test reads.
type certManagerCertificate struct {
	Spec struct {
		SecretName string   `json:"secretName"`
		DNSNames   []string `json:"dnsNames"`
	} `json:"spec"`
}

// A Service and a NetworkPolicy must name a port that the manager listens on.
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
		t.Errorf("the webhooks' port is %d, want 9443, the default of --webhook-port", ports["webhook-server"])
	}
	var budget policyv1.PodDisruptionBudget
	in.get(&budget, "PodDisruptionBudget", namePrefix+"controller-manager")
	selects(t, budget.Name, budget.Spec.Selector, pod)
	selects(t, manager.Name, manager.Spec.Selector, pod)
}

// After terminationGracePeriodSeconds, the kubelet kills the manager.
func TestTheGracePeriodCoversTheShutdown(t *testing.T) {
	var manager appsv1.Deployment
	installedObjects(t).get(&manager, "Deployment", namePrefix+"controller-manager")

	if grace := time.Duration(*manager.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second; grace <= shutdownTimeout {
		t.Errorf("terminationGracePeriodSeconds is %v, want more than the shutdown timeout, %v", grace, shutdownTimeout)
	}
}

// manifests are the objects that `make deploy` applies.
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
			t.Errorf("%s %s is in the namespace %s, want %s", object.GetKind(), object.GetName(), namespace, installed)
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
