package checks

// The kubebuilder CLI can add APIs and webhooks to chapters 06 and 07, if it finds certain names,
// markers and sections.

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// cliParts are what the CLI relies on, by file. GROUPVERSION is the alias of the API's package.
var cliParts = map[string][]string{
	"PROJECT": {`^cliVersion: 4\.15\.0$`, `^- go\.kubebuilder\.io/v4$`, `^projectName: KIND-operator$`, `^repo: example\.com/operators/CHAPTER$`},
	"api/VERSION/groupversion_info.go": {
		`\bSchemeGroupVersion\b.*=`, `\bGroupVersion\b.*=`, `\bSchemeBuilder = runtime\.NewSchemeBuilder\(`,
		`\bAddToScheme = SchemeBuilder\.AddToScheme$`,
	},
	"cmd/main.go": {
		`^\tGROUPVERSION "`, `\bsetupLog +=`, `^\t"os"$`, `ENABLE_WEBHOOKS`, `\bmgr(, err :=)? ctrl\.(NewManager\(|Manager\b)`,
		`// \+kubebuilder:scaffold:imports$`, `// \+kubebuilder:scaffold:scheme$`, `// \+kubebuilder:scaffold:builder$`,
	},
	"internal/controller/suite_test.go": append(suiteParts(), `^func TestControllers\(`),
	"internal/webhook/VERSION/webhook_suite_test.go": append(suiteParts(),
		`^func TestAPIs\(`, `// \+kubebuilder:scaffold:webhook$`, `^\terr = Setup\w+WebhookWithManager\(mgr\)$`),
	"config/crd/kustomization.yaml": {
		`^patches:$`, `^# \+kubebuilder:scaffold:crdkustomizeresource$`, `^# \+kubebuilder:scaffold:crdkustomizewebhookpatch$`,
		`^#?configurations:\n#?- kustomizeconfig\.yaml$`,
	},
	"config/default/kustomization.yaml": {
		`^- \.\./crd$`, `^- \.\./webhook$`, `^#?- \.\./certmanager$`, `^patches:$`, `^- path: manager_webhook_patch\.yaml$`, `^#?replacements:$`,
		`^#? - source: # Uncomment the following block if you have any webhook$`,
		`^#? - source: # Uncomment the following block if you have a ValidatingWebhook \(--programmatic-validation\)$`,
		`^#? - source: # Uncomment the following block if you have a DefaultingWebhook \(--defaulting \)$`,
		`^#? - source: # Uncomment the following block if you have a ConversionWebhook \(--conversion\)$`,
		`^#?         kind: ValidatingWebhookConfiguration$`, `^#?         kind: MutatingWebhookConfiguration$`,
		`^# \+kubebuilder:scaffold:crdkustomizecainjectionns$`, `^# \+kubebuilder:scaffold:crdkustomizecainjectionname$`,
	},
	"test/e2e/e2e_test.go": {
		`// \+kubebuilder:scaffold:e2e-metrics-webhooks-readiness$`, `// \+kubebuilder:scaffold:e2e-webhooks-checks$`,
		`^const namespace = `, `^func Test\w+\(t \*testing\.T\) \{\n\tRegisterFailHandler\(Fail\)$`,
	},
	"test/utils/utils.go": {`^func Run\(\w+ \*exec\.Cmd\) \(string, error\)`},
	"Makefile": {
		`^docker-push:`, `^docker-buildx:`, `^lint-fix:`, `^lint-config:`, `^setup-test-e2e:`, `^cleanup-test-e2e:`, `^uninstall:`,
		`^undeploy:`, `^build-installer:`,
	},
}

func suiteParts() []string {
	return []string{
		`^\tctx +context\.Context\b`, `^\tcancel +context\.CancelFunc\b`, `^\ttestEnv +\*envtest\.Environment\b`, `^\tcfg +\*rest\.Config\b`,
		`^\tk8sClient +client\.Client\b`, `\tRunSpecs\(t, `, `^var _ = BeforeSuite\(`, `^\tvar err error$`,
		`^\terr = GROUPVERSION\.AddToScheme\(scheme\.Scheme\)\n\tExpect\(err\)\.NotTo\(HaveOccurred\(\)\)$`,
		`// \+kubebuilder:scaffold:imports$`, `// \+kubebuilder:scaffold:scheme$`,
	}
}

var cliProjects = map[string]struct{ version, alias, kind string }{
	"06": {"v1alpha1", "samplecontrollerv1alpha1", "foo"},
	"07": {"v2", "schedulev2", "tdset"},
}

// kubebuilderCLI: 06 and 07 have everything in cliParts, and Ginkgo tests where the CLI adds more.
func kubebuilderCLI(_ context.Context, r *repository) error {
	for _, chapter := range r.chapters {
		project, ok := cliProjects[chapter.Name[:2]]
		if !ok {
			continue
		}
		for _, file := range slices.Sorted(maps.Keys(cliParts)) {
			path := strings.ReplaceAll(file, "VERSION", project.version)
			text, err := r.read(chapter.Name, path)
			if err != nil {
				return err
			}
			for _, part := range cliParts[file] {
				pattern := strings.NewReplacer("GROUPVERSION", project.alias, "KIND", project.kind, "CHAPTER", chapter.Name).Replace(part)
				if !regexp.MustCompile(`(?m)` + pattern).MatchString(text) {
					r.report("%s/%s: the kubebuilder CLI looks for %s", chapter.Name, path, part)
				}
			}
		}
		path := "internal/webhook/" + project.version + "/" + project.kind + "_webhook_test.go"
		text, err := r.read(chapter.Name, path)
		if err != nil {
			return err
		}
		if text != "" && !regexp.MustCompile(`(?m)^var _ = Describe\(`).MatchString(text) {
			r.report("%s/%s: the kubebuilder CLI adds a Context to its Describe, and it has none", chapter.Name, path)
		}
	}
	return nil
}
