package deploy

// Charts and manifests as objects, and how two sets of objects differ.

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
)

// parseObjects returns objects by kind, namespace and name.
func parseObjects(t *testing.T, manifests string) map[string]map[string]any {
	t.Helper()
	objects := map[string]map[string]any{}
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		var object unstructured.Unstructured
		err := documents.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) > 0 {
			objects[fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())] = object.Object
		}
	}
}

func decode(t *testing.T, object map[string]any, into any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, into); err != nil {
		t.Fatal(err)
	}
}

// renderChart renders a chart as a new release, in a cluster with these objects. The error says which
// values it refuses.
func renderChart(t *testing.T, dir, release, values, namespace string, existing ...runtime.Object) (string, error) {
	t.Helper()
	chart, err := loader.LoadDir(dir)
	must(t, err)
	given, err := common.ReadValues([]byte("{" + values + "}"))
	must(t, err)
	all, err := util.ToRenderValues(chart, given, common.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return "", err
	}
	render := func() (map[string]string, error) {
		return engine.Engine{Strict: true}.RenderWithContext(t.Context(), chart, all)
	}
	if len(existing) > 0 {
		render = func() (map[string]string, error) {
			return engine.RenderWithClientProvider(chart, all, releaseCluster{fake.NewSimpleDynamicClient(runtime.NewScheme(), existing...)})
		}
	}
	files, err := render()
	maps.DeleteFunc(files, func(name, _ string) bool { return filepath.Base(name) == "NOTES.txt" })
	return strings.Join(slices.Collect(maps.Values(files)), "\n---\n"), err
}

// releaseCluster is where Helm looks up objects.
type releaseCluster struct{ dynamic.Interface }

func (c releaseCluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	return c.Resource(resource), true, nil
}

// changes returns, sorted, what objects have lost (-) and gained (+), and which values differ.
func changes(before, after map[string]map[string]any) (lines []string) {
	short := strings.NewReplacer(" elsewhere/tdset-operator-", " ", " /tdset-operator-", " ", " elsewhere/", " ", " /", " ")
	all := maps.Clone(before)
	maps.Copy(all, after)
	for key := range all {
		lines = append(lines, compare(short.Replace(key), parts(before[key]), parts(after[key]))...)
	}
	slices.Sort(lines)
	return lines
}

// compare compares what parts has returned.
func compare(path string, before, after any) (lines []string) {
	old, _ := before.(map[string]any)
	now, _ := after.(map[string]any)
	switch {
	case before != nil && after == nil:
		return []string{"-" + path}
	case before == nil && after != nil:
		return []string{"+" + path}
	case (old == nil || now == nil) && !reflect.DeepEqual(before, after):
		return []string{fmt.Sprintf("%s: %v to %v", path, before, after)}
	}
	all := maps.Clone(old)
	maps.Copy(all, now)
	for key := range all {
		lines = append(lines, compare(path+key, old[key], now[key])...)
	}
	return lines
}

// parts makes a map of each list, with the entries' names or values as keys, because their order
// means nothing here. It returns nil for an object that doesn't exist.
func parts(node any) any {
	found := map[string]any{}
	switch node := node.(type) {
	case map[string]any:
		if node == nil {
			return nil
		}
		for key, value := range node {
			found["."+key] = parts(value)
		}
	case []any:
		for i, entry := range node {
			key := entry
			if fields, isMap := entry.(map[string]any); isMap {
				key = fields["name"]
			}
			if key == nil {
				key = i
			}
			found[fmt.Sprintf("[%v]", key)] = parts(entry)
		}
	default:
		return node
	}
	return found
}
