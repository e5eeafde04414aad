// The stages of config/migration have the schemas and the conversion of the CRD that is installed. They
// differ only in the versions that are served and stored.

package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

func TestMigrationStages(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	build := func(t *testing.T, folder string) (built apiextensionsv1.CustomResourceDefinition) {
		t.Helper()
		text := run(t, clone, "go", "tool", "kustomize", "build", folder)
		if err := yaml.UnmarshalStrict([]byte(text), &built); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		return built
	}
	var original apiextensionsv1.CustomResourceDefinition
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(parse(t, read(t, "dist/install.yaml"))[crd], &original))
	schemas := map[string]*apiextensionsv1.CustomResourceValidation{}
	for _, version := range original.Spec.Versions {
		schemas[version.Name] = version.Schema
	}
	for stage, want := range map[string]string{
		"1-v1-only":               "v1 served stored, Webhook",
		"2-both-served-v1-stored": "v1 served stored deprecated, v2 served, Webhook",
		"3-both-served-v2-stored": "v1 served deprecated, v2 served stored, Webhook",
		"4-v2-only":               "v2 served stored, Webhook",
	} {
		t.Run(stage, func(t *testing.T) {
			built := build(t, "config/migration/"+stage)
			if got := versionsOf(built); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			for _, version := range built.Spec.Versions {
				if diff := cmp.Diff(schemas[version.Name], version.Schema); diff != "" {
					t.Errorf("the schema of %s (-installed, +stage):\n%s", version.Name, diff)
				}
			}
			if diff := cmp.Diff(original.Spec.Conversion, built.Spec.Conversion); diff != "" {
				t.Errorf("the conversion (-installed, +stage):\n%s", diff)
			}
		})
	}
	t.Run("storageversionmigration.yaml names the CRD's resource", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(clone, "config/migration/storageversionmigration.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var migration struct {
			Spec struct {
				Resource struct{ Group, Resource string }
			}
		}
		if err := yaml.Unmarshal(text, &migration); err != nil {
			t.Fatal(err)
		}
		if got := migration.Spec.Resource; got.Group != original.Spec.Group || got.Resource != original.Spec.Names.Plural {
			t.Errorf("got %+v, want %s.%s", got, original.Spec.Names.Plural, original.Spec.Group)
		}
	})
}

// versionsOf returns the CRD's versions, with what each is, and its kind of conversion.
func versionsOf(built apiextensionsv1.CustomResourceDefinition) string {
	var all strings.Builder
	for _, version := range built.Spec.Versions {
		all.WriteString(version.Name)
		if version.Served {
			all.WriteString(" served")
		}
		if version.Storage {
			all.WriteString(" stored")
		}
		if version.Deprecated {
			all.WriteString(" deprecated")
		}
		all.WriteString(", ")
	}
	return all.String() + string(built.Spec.Conversion.Strategy)
}
