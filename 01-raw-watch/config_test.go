// Tests that loadConfig uses the right kubeconfig, and that the error for a wrong one names the
// file and the problem.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodKubeconfig = `
apiVersion: v1
kind: Config
clusters:
- name: a-cluster
  cluster: {server: "https://127.0.0.1:6443"}
contexts:
- name: a-context
  context: {cluster: a-cluster}
current-context: a-context
`

func writeKubeconfig(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestLoadConfigNamesTheFileAndTheProblem(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "") // not in a Pod
	for sentence, test := range map[string]struct{ text, want string }{
		"the file is empty":               {"", "is it missing, empty"},
		"the file isn't YAML":             {"{{{", "yaml: line 1"},
		"the file isn't a kubeconfig":     {"name: shopping list", "names no cluster"},
		"there is no current-context":     {strings.Replace(goodKubeconfig, "current-context: a-context", "", 1), "without a current-context"},
		"the current-context isn't in it": {strings.Replace(goodKubeconfig, "current-context: a", "current-context: another", 1), "context was not found"},
	} {
		t.Run(sentence, func(t *testing.T) {
			path := writeKubeconfig(t, test.text)
			t.Setenv("KUBECONFIG", path)
			for _, flag := range []string{path, ""} { // in the second case, from KUBECONFIG
				if _, err := loadConfig(flag); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("with --kubeconfig %q, got the error\n%v\nwant one that names the file and contains %q", flag, err, test.want)
				}
			}
		})
	}
}

func TestLoadConfigPrefersTheFlag(t *testing.T) {
	t.Setenv("KUBECONFIG", writeKubeconfig(t, goodKubeconfig))
	named := writeKubeconfig(t, strings.Replace(goodKubeconfig, "6443", "7443", 1))
	for flag, want := range map[string]string{named: "https://127.0.0.1:7443", "": "https://127.0.0.1:6443"} {
		config, err := loadConfig(flag)
		must(t, err)
		if config.Host != want {
			t.Errorf("with --kubeconfig %q, the server is %s, want %s", flag, config.Host, want)
		}
	}
}

// By default, client-go sends only 5 requests a second, so 300 new Foos would take two minutes.
func TestLoadConfigSetsNoLimit(t *testing.T) {
	config, err := loadConfig(writeKubeconfig(t, goodKubeconfig))
	must(t, err)
	if config.QPS >= 0 {
		t.Errorf("QPS is %v, want a negative number, which means no limit", config.QPS)
	}
}
