// Which kubeconfig is taken, and what a wrong one leads to: a message that names the file and what
// is wrong with it.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain fails the whole run if a test leaves a goroutine behind: the manager must end with its
// context, and all that it runs. With a certain environment this program is the controller itself:
// see program_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(beTheController) != "" {
		main()
		return
	}
	shareLog()
	ctrl.SetLogger(klog.Background()) // as run does
	goleak.VerifyTestMain(andStop{m})
}

// andStop runs the tests, and then stops the API server that they have shared: its clients'
// connections aren't leaks.
type andStop struct{ *testing.M }

func (tests andStop) Run() (code int) {
	code = tests.M.Run()
	if err := stopAPIServer(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the API server:", err)
		return 1
	}
	return code
}

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

// without returns the good kubeconfig without a line, or with another in its place.
func without(line, instead string) *string {
	return new(strings.Replace(goodKubeconfig, line, instead, 1))
}

func TestLoadConfig(t *testing.T) {
	for name, test := range map[string]struct {
		file *string // nil: there is none
		want string  // a regular expression that the message matches, beside naming the file
	}{
		"the file is missing": {
			file: nil, want: "is it missing|no such file",
		},
		"the file is empty": {
			file: new(""), want: "is it missing, empty",
		},
		"the file is no YAML": {
			file: new("{{{"), want: "yaml: line 1",
		},
		"the file is something else's": {
			file: new("name: shopping list"), want: "names no cluster",
		},
		"there is no current-context": {
			file: without("current-context: a-context", ""), want: "without a current-context",
		},
		"the current-context is not in the file": {
			file: without("current-context: a-context", "current-context: another"), want: "context was not found for specified context: another",
		},
		"the certificate authority is in a file that is missing": {
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
					t.Fatalf("by %s: no error", way.name)
				}
				said, rest, named := strings.Cut(err.Error(), path)
				if !named || !regexp.MustCompile(test.want).MatchString(said+rest) {
					t.Errorf("by %s: the message is\n%v\nwant one that names the file and matches %q", way.name, err, test.want)
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
			t.Errorf("--kubeconfig %q leads to the server %s, want %s", flag, config.Host, want)
		}
	}
}

// Unless told otherwise, client-go sends no more than 5 requests a second: 300 new Foos would take
// two minutes.
func TestLoadConfigSetsNoLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	os.WriteFile(path, []byte(goodKubeconfig), 0o600)

	config, err := loadConfig(path)

	if err != nil {
		t.Fatal(err)
	}
	if config.QPS >= 0 {
		t.Errorf("%v requests a second, want no limit: a negative number", config.QPS)
	}
}

func TestRunRefuses(t *testing.T) {
	for flag, test := range map[string]struct {
		options options
		want    string
	}{
		"no workers": {options{}, "--workers 0: at least one is needed"},
	} {
		t.Run(flag, func(t *testing.T) {
			if err := run(t.Context(), test.options); err == nil || err.Error() != test.want {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}
