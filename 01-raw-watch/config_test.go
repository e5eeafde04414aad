// Tests that loadConfig uses the right kubeconfig, and that the error for a wrong one names the
// file and the problem.

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const goodKubeconfig = `
apiVersion: v1
kind: Config
clusters:
- name: a-cluster
  cluster: {server: "https://127.0.0.1:6443"}
users:
- name: a-user
  user: {token: a-token}
contexts:
- name: a-context
  context: {cluster: a-cluster, user: a-user}
current-context: a-context
`

// without returns the good kubeconfig with one line removed or replaced.
func without(line, instead string) *string {
	return new(strings.Replace(goodKubeconfig, line, instead, 1))
}

func TestLoadConfig(t *testing.T) {
	for name, test := range map[string]struct {
		file *string // nil: there is none
		want string  // a regular expression for the message, which also has to name the file
	}{
		"the file is missing": {
			file: nil, want: "is it missing|no such file",
		},
		"the file is empty": {
			file: new(""), want: "is it missing, empty",
		},
		"the file isn't YAML": {
			file: new("{{{"), want: "yaml: line 1",
		},
		"the file is valid YAML, but not a kubeconfig": {
			file: new("name: shopping list"), want: "names no cluster",
		},
		"there is no current-context": {
			file: without("current-context: a-context", ""), want: "without a current-context",
		},
		"the current-context names a context that isn't in the file": {
			file: without("current-context: a-context", "current-context: another"), want: "context was not found for specified context: another",
		},
		"the certificate authority's file is missing": {
			file: without(`6443"`, `6443", certificate-authority: ca.crt`), want: "ca.crt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if test.file != nil {
				if err := os.WriteFile(path, []byte(*test.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("KUBECONFIG", path)
			t.Setenv("KUBERNETES_SERVICE_HOST", "") // not in a Pod
			for _, way := range []struct{ name, flag string }{{"--kubeconfig", path}, {"KUBECONFIG", ""}} {
				_, err := loadConfig(way.flag)
				if err == nil {
					t.Fatalf("%s: got no error, want one that matches %q", way.name, test.want)
				}
				before, after, named := strings.Cut(err.Error(), path)
				if !named || !regexp.MustCompile(test.want).MatchString(before+after) {
					t.Errorf("%s: got the error\n%v\nwant one that names the file and matches %q", way.name, err, test.want)
				}
			}
		})
	}
}

func TestLoadConfigPrefersTheFlag(t *testing.T) {
	dir := t.TempDir()
	named, inEnvironment := filepath.Join(dir, "named"), filepath.Join(dir, "in the environment")
	os.WriteFile(named, []byte(strings.Replace(goodKubeconfig, "6443", "7443", 1)), 0o600)
	os.WriteFile(inEnvironment, []byte(goodKubeconfig), 0o600)
	t.Setenv("KUBECONFIG", inEnvironment)
	for flag, want := range map[string]string{named: "https://127.0.0.1:7443", "": "https://127.0.0.1:6443"} {
		config, err := loadConfig(flag)
		if err != nil {
			t.Fatal(err)
		}
		if config.Host != want {
			t.Errorf("with --kubeconfig %q, the server is %s, want %s", flag, config.Host, want)
		}
	}
}

// By default, client-go sends only 5 requests a second, so 300 new Foos would take two minutes.
func TestLoadConfigSetsNoLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	os.WriteFile(path, []byte(goodKubeconfig), 0o600)

	config, err := loadConfig(path)

	if err != nil {
		t.Fatal(err)
	}
	if config.QPS >= 0 {
		t.Errorf("QPS is %v, want a negative number, which means no limit", config.QPS)
	}
}
