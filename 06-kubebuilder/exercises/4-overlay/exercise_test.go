//go:build check || solution

// These tests check the promises of Staging. They compare the objects that kustomize makes from it
// with those of the first installation and of config/manager. All are built from ../../config.
//
// As given, Staging installs everything again. `workshop test` checks these failures:
//
// fails: TestStaging/the first installation is unchanged
// says: its subject becomes the account in staging, and the first installation loses its permissions
//
// fails: TestStaging/it has no CRD
// says: CustomResourceDefinition foos.samplecontroller.k8s.io belongs to the first installation
//
// fails: TestStaging/it has no webhooks
// says: MutatingWebhookConfiguration foo-operator-mutating-webhook-configuration
//
// fails: TestStaging/it has no Namespace
// says: Namespace staging belongs to the team
//
// fails: TestStaging/it runs the new version
// says: it runs foo-operator:dev, want foo-operator:0.2.0-rc.1
//
// fails: TestStaging/it runs one replica, whose node can be drained
// says: 2 replicas, want 1
//
// fails: TestStaging/it acts on the Foos in staging only
// says: it acts on the Foos in all namespaces
//
// fails: TestStaging/it has its permissions in staging
// says: no RoleBinding in staging gives its account the role manager-role
//
// fails: TestStaging/it has no permissions elsewhere
// says: ClusterRoleBinding foo-operator-manager-rolebinding gives it permissions in all namespaces

package overlay

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	namespace = "staging"
	image     = "foo-operator:0.2.0-rc.1"
)

// objects are the objects that kustomize builds.
type objects []*resource.Resource

func TestBuild(t *testing.T) {
	t.Run("kustomize can build it", func(t *testing.T) {
		staging, err := build("staging")
		if err != nil {
			t.Fatal(inExercise(err))
		}
		for _, object := range staging {
			t.Log(describe(object))
		}
	})
}

func TestStaging(t *testing.T) {
	staging, err := build("staging")
	if err != nil {
		t.Skip("kustomize can't build it")
	}
	for sentence, check := range map[string]func(*testing.T, objects){
		"the first installation is unchanged":            firstUnchanged,
		"it has no CRD":                                  noCRD,
		"it has no webhooks":                             noWebhooks,
		"it has no Namespace":                            noNamespace,
		"all its objects are in staging":                 allInStaging,
		"it runs the new version":                        theImage,
		"it runs one replica, whose node can be drained": oneReplica,
		"it acts on the Foos in staging only":            actsOnStaging,
		"its Lease is in its own namespace":              ownLease,
		"it has its permissions in staging":              hasPermissions,
		"it has no permissions elsewhere":                noOtherPermissions,
	} {
		t.Run(sentence, func(t *testing.T) { check(t, staging) })
	}
}

func firstUnchanged(t *testing.T, staging objects) {
	first := mustBuild(t, "production")
	shared := map[string][]string{} // by kind
	for _, object := range staging {
		kind := object.GetKind()
		if kind == "CustomResourceDefinition" || kind == "Namespace" {
			continue // these have tests of their own
		}
		if slices.ContainsFunc(first, func(other *resource.Resource) bool { return other.CurId().Equals(object.CurId()) }) {
			shared[kind] = append(shared[kind], object.GetName())
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(shared)) {
		why := "the last one applied wins, and deleting one deletes both"
		switch kind {
		case "ClusterRoleBinding":
			why = "once this is applied, its subject becomes the account in " + namespace + ", and the first installation loses its permissions"
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			why = "once this is applied, it names the Service in " + namespace + ", and the API server no longer calls the first installation"
		}
		t.Errorf("%s %s also belongs to the first installation: %s", kind, strings.Join(shared[kind], ", "), why)
	}
	if t.Failed() {
		t.Log("Objects without a namespace need another name: see namePrefix")
	}
}

func noCRD(t *testing.T, staging objects) {
	for _, object := range staging.of("CustomResourceDefinition") {
		t.Errorf("%s belongs to the first installation, and can't have another name: if you delete this installation, you "+
			"delete it too, and every Foo", describe(object))
	}
}

func noWebhooks(t *testing.T, staging objects) {
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		for _, object := range staging.of(kind) {
			t.Errorf("%s: the API server would call this installation too, for Foos of all namespaces, and refuse them while it is down",
				describe(object))
		}
	}
	for _, volume := range deployment(t, staging).Spec.Template.Spec.Volumes {
		if secret := volume.Secret; secret != nil {
			t.Errorf("the Pod's volume %s mounts the Secret %s, which only webhooks need: if it doesn't exist, the Pod never starts", volume.Name, secret.SecretName)
		}
	}
	if !slices.Contains(manager(t, staging).Env, corev1.EnvVar{Name: "ENABLE_WEBHOOKS", Value: "false"}) {
		t.Error("the manager's environment doesn't have ENABLE_WEBHOOKS=false: it would look for the certificate of its webhooks, find none, and exit")
	}
}

func noNamespace(t *testing.T, staging objects) {
	for _, object := range staging.of("Namespace") {
		t.Errorf("%s belongs to the team: an apply sets the labels that the manager wants, and the team's nginx Pods are refused "+
			"(pod-security enforce: restricted). If you delete this installation, you delete the namespace with everything in it", describe(object))
	}
}

func allInStaging(t *testing.T, staging objects) {
	for _, object := range staging {
		if !object.GetGvk().IsClusterScoped() && object.GetNamespace() != namespace {
			t.Errorf("%s isn't in the namespace %s", describe(object), namespace)
		}
	}
}

func theImage(t *testing.T, staging objects) {
	if got := manager(t, staging).Image; got != image {
		t.Errorf("it runs %s, want %s (kustomize knows the image by the name that config/manager gives it, not by the one in manager.yaml)", got, image)
	}
}

func oneReplica(t *testing.T, staging objects) {
	if replicas := ptr.Deref(deployment(t, staging).Spec.Replicas, 1); replicas != 1 {
		t.Errorf("%d replicas, want 1", replicas)
	}
	for _, object := range staging.of("PodDisruptionBudget") {
		var budget policyv1.PodDisruptionBudget
		decode(t, object, &budget)
		none := []intstr.IntOrString{intstr.FromInt32(0), intstr.FromString("0%")}
		least, most := budget.Spec.MinAvailable, budget.Spec.MaxUnavailable
		if least != nil && !slices.Contains(none, *least) || most != nil && slices.Contains(none, *most) {
			t.Errorf("%s allows no eviction of a single Pod: a drain of its node would wait forever", describe(object))
		}
	}
}

func actsOnStaging(t *testing.T, staging objects) {
	args := manager(t, staging).Args
	const flag = "--namespace="
	var namespaces []string
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, flag); ok {
			namespaces = append(namespaces, value)
		} else if arg == "--namespace" && i+1 < len(args) {
			namespaces = append(namespaces, args[i+1])
		}
	}
	switch {
	case len(namespaces) == 0:
		t.Errorf("it acts on the Foos in all namespaces, even the first installation's: its arguments are %s, want %s%s as well",
			args, flag, namespace)
	case namespaces[len(namespaces)-1] != namespace:
		t.Errorf("it acts on the Foos in %q, want %q: its arguments are %s", namespaces[len(namespaces)-1], namespace, args)
	}
	given := manager(t, mustBuild(t, "manager")).Args
	for _, arg := range given {
		if !slices.Contains(args, arg) {
			t.Errorf("its argument %s is missing. A list of arguments in a patch replaces the whole list, but a JSON patch can add to it", arg)
		}
	}
}

func ownLease(t *testing.T, staging objects) {
	elects, where := false, ""
	container := manager(t, staging)
	for _, arg := range container.Args {
		elects = elects || arg == "--leader-elect" || arg == "--leader-elect=true"
		if value, ok := strings.CutPrefix(arg, "--leader-election-namespace="); ok {
			where = value
		}
	}
	for _, variable := range container.Env {
		if variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil && variable.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
			where = strings.ReplaceAll(where, "$("+variable.Name+")", namespace)
		}
	}
	switch {
	case !elects:
		t.Error("it has no --leader-elect: during an update, the old Pod and the new one would both work")
	case where != namespace:
		t.Errorf("its Lease is in the namespace %q, want %q: the Lease there belongs to the first installation, or can't be written", where, namespace)
	}
	ofLeases := func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "leases") }
	if !slices.ContainsFunc(grants(t, staging), func(g grant) bool {
		return g.namespace == namespace && slices.ContainsFunc(g.rules, ofLeases)
	}) {
		t.Errorf("it has no permission to write a Lease in %s", namespace)
	}
}

func hasPermissions(t *testing.T, staging objects) {
	var work []rbacv1.PolicyRule
	for _, g := range grants(t, mustBuild(t, "production")) {
		if strings.HasSuffix(g.binding, "manager-rolebinding") {
			work = g.rules
		}
	}
	var found []string
	for _, g := range grants(t, staging) {
		if g.namespace == namespace && reflect.DeepEqual(g.rules, work) {
			return
		}
		found = append(found, g.binding)
	}
	t.Errorf("no RoleBinding in %s gives its account the role manager-role. "+
		"Bindings of its account, %s: %s", namespace, account(t, staging), cmp.Or(strings.Join(found, ", "), "nothing"))
	for _, object := range staging.of("RoleBinding") {
		var binding rbacv1.RoleBinding
		decode(t, object, &binding)
		if role := staging.find(binding.RoleRef.Kind, binding.RoleRef.Name); role == nil {
			t.Errorf("%s names the %s %s, which doesn't exist", describe(object), binding.RoleRef.Kind, binding.RoleRef.Name)
		}
	}
}

func noOtherPermissions(t *testing.T, staging objects) {
	for _, g := range grants(t, staging) {
		if g.namespace == namespace {
			continue
		}
		var resources []string
		for _, rule := range g.rules {
			resources = append(resources, rule.Resources...)
		}
		if slices.Equal(resources, []string{"tokenreviews", "subjectaccessreviews"}) {
			continue // allowed: they are about clients of the metrics, and have no namespace
		}
		slices.Sort(resources)
		t.Errorf("%s gives it permissions in %s: on %s", g.binding, cmp.Or(g.namespace, "all namespaces"),
			strings.Join(slices.Compact(resources), ", "))
	}
}

// grant is what one binding allows the manager's account to do.
type grant struct {
	binding   string
	namespace string // "" means all
	rules     []rbacv1.PolicyRule
}

// grants returns all grants of the manager's account.
func grants(t *testing.T, all objects) (found []grant) {
	t.Helper()
	for _, object := range all {
		if kind := object.GetKind(); kind != "ClusterRoleBinding" && kind != "RoleBinding" {
			continue
		}
		var binding rbacv1.RoleBinding
		decode(t, object, &binding)
		if !slices.ContainsFunc(binding.Subjects, func(s rbacv1.Subject) bool {
			return s.Kind == "ServiceAccount" && s.Namespace+"/"+s.Name == account(t, all)
		}) {
			continue
		}
		g := grant{binding: describe(object)}
		if object.GetKind() == "RoleBinding" {
			g.namespace = cmp.Or(object.GetNamespace(), "default")
		}
		if role := all.find(binding.RoleRef.Kind, binding.RoleRef.Name); role != nil {
			var rules rbacv1.Role
			decode(t, role, &rules)
			g.rules = rules.Rules
		}
		found = append(found, g)
	}
	return found
}

// account returns the namespace and name of the manager's ServiceAccount.
func account(t *testing.T, all objects) string {
	t.Helper()
	d := deployment(t, all)
	return d.Namespace + "/" + d.Spec.Template.Spec.ServiceAccountName
}

// deployment returns the only Deployment, which is the manager's.
func deployment(t *testing.T, all objects) *appsv1.Deployment {
	t.Helper()
	found := all.of("Deployment")
	if len(found) != 1 {
		t.Fatalf("got %d Deployments, want only the manager's", len(found))
	}
	d := &appsv1.Deployment{}
	decode(t, found[0], d)
	if len(d.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("its Pods have %d containers, want only the manager", len(d.Spec.Template.Spec.Containers))
	}
	return d
}

func manager(t *testing.T, all objects) corev1.Container {
	t.Helper()
	return deployment(t, all).Spec.Template.Spec.Containers[0]
}

func (o objects) of(kind string) (found objects) {
	for _, object := range o {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	return found
}

// find returns the object of that kind and name, or nil.
func (o objects) find(kind, name string) *resource.Resource {
	for _, object := range o.of(kind) {
		if object.GetName() == name {
			return object
		}
	}
	return nil
}

func describe(object *resource.Resource) string {
	name := object.GetName()
	if object.GetNamespace() != "" && !object.GetGvk().IsClusterScoped() {
		name = object.GetNamespace() + "/" + name
	}
	return object.GetKind() + " " + name
}

func decode(t *testing.T, object *resource.Resource, into any) {
	t.Helper()
	content, err := object.AsYAML()
	if err == nil {
		err = yaml.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", describe(object), err)
	}
}

const config = "../../config"

// build returns the objects that kustomize builds from a folder in config. Here, config also has
// the folders production and staging.
func build(folder string) (objects, error) {
	files := filesys.MakeFsInMemory()
	err := filepath.WalkDir(config, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return files.WriteFile("/config"+filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(config))), content)
	})
	if err != nil {
		return nil, err
	}
	for name, content := range map[string]string{"production": Production, "staging": Staging} {
		if err := files.WriteFile("/config/"+name+"/kustomization.yaml", []byte(content)); err != nil {
			return nil, err
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/config/"+folder)
	if err != nil {
		return nil, err
	}
	return built.Resources(), nil
}

func mustBuild(t *testing.T, folder string) objects {
	t.Helper()
	built, err := build(folder)
	if err != nil {
		t.Fatalf("kustomize can't build config/%s: %v", folder, err)
	}
	return built
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// inExercise returns kustomize's error. If it names a line of the constant, inExercise adds the
// line in exercise.go. If it is about security, it adds an explanation.
func inExercise(err error) string {
	message := err.Error()
	if strings.Contains(message, "security; file") {
		message += "\n(kustomize includes whole folders from elsewhere, but no single files)"
	}
	match := lineNumber.FindStringSubmatch(message)
	content, err := os.ReadFile("exercise.go")
	before, _, found := strings.Cut(string(content), "const Staging = `")
	if match == nil || err != nil || !found {
		return message
	}
	n, _ := strconv.Atoi(match[1])
	return fmt.Sprintf("%s\n(at or near exercise.go:%d)", message, n+strings.Count(before, "\n"))
}
