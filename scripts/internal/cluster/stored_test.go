package cluster

import (
	"context"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"example.com/operators/scripts/internal/stored"
)

var (
	foos       = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "foos"}
	migrations = schema.GroupVersionResource{Group: "storagemigration.k8s.io", Version: "v1", Resource: "storageversionmigrations"}
)

// storedVersionsAreShown stores one Foo in v1 and one in v2, which etcd shows.
func storedVersionsAreShown(t *testing.T, r real) {
	config, err := RESTConfig(r)
	if err != nil {
		t.Fatal(err)
	}
	crds := apiextensions.NewForConfigOrDie(config).ApiextensionsV1().CustomResourceDefinitions()
	client := dynamic.NewForConfigOrDie(config)
	if _, err := crds.Create(t.Context(), fooCRD("v1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	create := func(name string) {
		t.Helper()
		foo := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Foo", "metadata": map[string]any{"name": name},
		}}
		eventually(t, func(ctx context.Context) (bool, error) { // when the CRD is served
			_, err := client.Resource(foos).Namespace("default").Create(ctx, foo, metav1.CreateOptions{})
			return err == nil, nil
		})
	}
	create("in-v1")
	eventually(t, func(ctx context.Context) (bool, error) { // others update the CRD's status
		crd, err := crds.Get(ctx, "foos.example.com", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		crd.Spec.Versions = fooCRD("v2").Spec.Versions
		_, err = crds.Update(ctx, crd, metav1.UpdateOptions{})
		return err == nil, nil
	})
	eventually(t, func(ctx context.Context) (bool, error) { // when the API server has noticed
		_ = client.Resource(foos).Namespace("default").Delete(ctx, "in-v2", metav1.DeleteOptions{})
		create("in-v2")
		return slices.Contains(storedFoos(t, r), "default/in-v2 example.com/v2"), nil
	})
	if got := storedFoos(t, r); !slices.Equal(got, []string{"default/in-v1 example.com/v1", "default/in-v2 example.com/v2"}) {
		t.Errorf("got %v, want one in v1 and one in v2", got)
	}
}

// storageIsMigrated has the cluster rewrite ConfigMaps by a StorageVersionMigration. (The page about
// TDSet's versions migrates objects from one version to another. That takes longer, because the
// garbage collector, whose cache the migration uses, looks for new kinds every 30 s.)
func storageIsMigrated(t *testing.T, r real) {
	config, err := RESTConfig(r)
	if err != nil {
		t.Fatal(err)
	}
	client := dynamic.NewForConfigOrDie(config)
	migration := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration", "metadata": map[string]any{"name": "configmaps"},
		"spec": map[string]any{"resource": map[string]any{"group": "", "resource": "configmaps"}},
	}}
	if _, err := client.Resource(migrations).Create(t.Context(), migration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	configMaps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	err = wait.PollUntilContextTimeout(t.Context(), 500*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		// The migration waits until that cache has seen a newer change.
		newer := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"generateName": "newer-"}}}
		if _, err := configMaps.Create(ctx, newer, metav1.CreateOptions{}); err != nil {
			return false, err
		}
		got, err := client.Resource(migrations).Get(ctx, "configmaps", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, err := unstructured.NestedSlice(got.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(c any) bool {
			condition, _ := c.(map[string]any)
			return condition["type"] == "Succeeded" && condition["status"] == "True"
		}), err
	})
	if err != nil {
		t.Errorf("the migration has no success: %v", err)
	}
}

// storedFoos returns the Foos in etcd, with the versions in which they are stored.
func storedFoos(t *testing.T, r real) (found []string) {
	t.Helper()
	config, err := r.Etcd()
	if err != nil {
		t.Fatal(err)
	}
	etcd, err := stored.Connect(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := etcd.Objects(t.Context(), foos.GroupResource())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		found = append(found, object.Namespace+"/"+object.Name+" "+object.APIVersion)
	}
	return found
}

// fooCRD serves v1 and v2, and stores one of them.
func fooCRD(storage string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "foos.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: foos.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: foos.Resource, Kind: "Foo"},
			Scope: apiextensionsv1.NamespaceScoped,
		},
	}
	for _, version := range []string{"v1", "v2"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: version == storage,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
		})
	}
	return crd
}
