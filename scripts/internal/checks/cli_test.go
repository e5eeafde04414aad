package checks

import (
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testfiles"
)

func TestKubebuilderCLI(t *testing.T) {
	const project = "06-kubebuilder"
	ours := &repository{root: testfiles.Repository()}
	good := map[string]string{}
	for file := range cliParts {
		path := strings.ReplaceAll(file, "VERSION", "v1alpha1")
		text, err := ours.read(project, path)
		if err != nil || text == "" {
			t.Fatalf("%s: %v, or it is empty", path, err)
		}
		good[project+"/"+path] = text
	}
	const (
		suite = project + "/internal/controller/suite_test.go"
		hooks = project + "/internal/webhook/v1alpha1/foo_webhook_test.go"
	)
	for sentence, test := range map[string]struct {
		file, old, new string
		want           []string
	}{
		"all is well": {},
		"a marker is missing": {project + "/cmd/main.go", "// +kubebuilder:scaffold:builder", "",
			[]string{project + `/cmd/main.go: the kubebuilder CLI looks for // \+kubebuilder:scaffold:builder$`}},
		"another import alias": {project + "/cmd/main.go", "\tsamplecontrollerv1alpha1 \"", "\t\"",
			[]string{project + `/cmd/main.go: the kubebuilder CLI looks for ^\tGROUPVERSION "`}},
		"a variable of the suite has another name": {suite, "\tk8sClient client.Client", "\tapi client.Client",
			[]string{suite + `: the kubebuilder CLI looks for ^\tk8sClient +client\.Client\b`}},
		"a target is missing": {project + "/Makefile", "\nlint-fix:", "\nlint-repair:",
			[]string{project + "/Makefile: the kubebuilder CLI looks for ^lint-fix:"}},
		"a plain test where the CLI writes Ginkgo": {hooks, "", "package v1alpha1\n",
			[]string{hooks + ": the kubebuilder CLI adds a Context to its Describe, and it has none"}},
		"a Describe there": {hooks, "", "package v1alpha1\n\nvar _ = Describe(\"Foo Webhook\", func() {\n})\n", nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testfiles.Write(t, t.TempDir(), good)
			if test.file != "" {
				text := test.new
				if test.old != "" {
					text = strings.Replace(good[test.file], test.old, test.new, 1)
				}
				testfiles.Write(t, root, map[string]string{test.file: text})
			}
			got, err := run(t.Context(), root, kubebuilderCLI)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("problems %q, want %q; error %v", got, test.want, err)
			}
		})
	}
}
