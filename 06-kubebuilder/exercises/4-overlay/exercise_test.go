//go:build check || solution

// These tests check the promises of Staging. They compare the objects that kustomize makes from it
// with those of the first installation and of config/manager. All are built from ../../config.
//
// As given, Staging installs everything again. `workshop test` checks these failures:
//
// fails: TestStaging/the first installation is unchanged
// says: ClusterRoleBinding foo-operator-manager-rolebinding also belongs to the first installation
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
// says: no RoleBinding in staging gives its account, staging/foo-operator-controller-manager, the role manager-role
//
// fails: TestStaging/it has no permissions elsewhere
// says: ClusterRoleBinding foo-operator-manager-rolebinding gives it permissions in all namespaces

package overlay

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	for _, object := range build(t, "staging") {
		t.Log(describe(object))
	}
}

func TestStaging(t *testing.T) {
	staging := build(t, "staging")
	for sentence, check := range map[string]func(*testing.T, objects){
		"the first installation is unchanged":            firstUnchanged,
		"it has no CRD":                                  noCRD,
		"it has no webhooks":                             noWebhooks,
		"it has no Namespace":                            noNamespace,
		"all its objects are in staging":                 allInStaging,
		"it runs the new version":                        theImage,
		"it runs one replica, whose node can be drained": oneReplica,
		"it acts on the Foos in staging only":            actsOnStaging,
		"it has its permissions in staging":              hasPermissions,
		"it has no permissions elsewhere":                noOtherPermissions,
	} {
		t.Run(sentence, func(t *testing.T) { check(t, staging) })
	}
}

func firstUnchanged(t *testing.T, staging objects) {
	first := build(t, "production")
	for _, object := range staging {
		kind := object.GetKind()
		if kind == "CustomResourceDefinition" || kind == "Namespace" {
			continue // these have tests of their own
		}
		if slices.ContainsFunc(first, func(other *resource.Resource) bool { return other.CurId().Equals(object.CurId()) }) {
			t.Errorf("%s also belongs to the first installation: the last one applied wins, and deleting one deletes both. "+
				"Objects without a namespace need another name: see namePrefix", describe(object))
		}
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
		if least := budget.Spec.MinAvailable; least != nil && *least != intstr.FromInt32(0) {
			t.Errorf("%s allows no eviction of a single Pod: a drain of its node would wait forever", describe(object))
		}
	}
}

func actsOnStaging(t *testing.T, staging objects) {
	container, given := manager(t, staging), manager(t, build(t, "manager"))
	if want := "--namespace=" + namespace; !slices.Contains(container.Args, want) {
		t.Errorf("it acts on the Foos in all namespaces, even the first installation's: its arguments are %s, want %s as well",
			container.Args, want)
	}
	for _, arg := range given.Args {
		if !slices.Contains(container.Args, arg) {
			t.Errorf("its argument %s is missing. A list of arguments in a patch replaces the whole list, but a JSON patch can add to it", arg)
		}
	}
	for _, variable := range given.Env {
		if !slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name }) {
			t.Errorf("its environment has no %s any more, which its arguments use", variable.Name)
		}
	}
}

func hasPermissions(t *testing.T, staging objects) {
	isWork := func(g grant) bool { return strings.HasSuffix(g.binding, "manager-rolebinding") }
	first := grants(t, build(t, "production"))
	work := first[slices.IndexFunc(first, isWork)]
	if !slices.ContainsFunc(grants(t, staging), func(g grant) bool {
		return g.namespace == namespace && reflect.DeepEqual(g.rules, work.rules)
	}) {
		t.Errorf("no RoleBinding in %s gives its account, %s, the role manager-role", namespace, account(t, staging))
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
	must(t, err)
	must(t, yaml.Unmarshal(content, into))
}

const config = "../../config"

// build returns the objects that kustomize builds from a folder in config. Here, config also has
// the folders production and staging.
func build(t *testing.T, folder string) objects {
	t.Helper()
	files := filesys.MakeFsInMemory()
	must(t, fs.WalkDir(os.DirFS(config), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(config, path))
		if err != nil {
			return err
		}
		return files.WriteFile("/config/"+path, content)
	}))
	must(t, files.WriteFile("/config/production/kustomization.yaml", []byte(Production)))
	must(t, files.WriteFile("/config/staging/kustomization.yaml", []byte(Staging)))
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/config/"+folder)
	if err != nil {
		t.Fatalf("kustomize can't build config/%s: %v\n(It includes whole folders from elsewhere, but no single files.)", folder, err)
	}
	return built.Resources()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
