package main

// The shell script scripts/workshop, in a repository of its own with a fake go command.

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/testkit"
)

// fakeGo "builds" a program that prints its root and arguments, or prints $SAYS and fails.
const fakeGo = `#!/bin/sh
case "$1 $2" in
"env GOVERSION") echo go1.20.1; exit ;;
"env "*) echo "the value of $2"; exit ;;
"version "*) exit ;;
esac
echo some/package >&2
if [ -n "$SAYS" ]; then printf '%s\n' "$SAYS" >&2; exit 1; fi
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho "root: $WORKSHOP_ROOT"; printf "<%%s>" "$@"\n' > "$2" && chmod +x "$2"
`

// newRepository makes a folder with a space in its name that only has the script, and a folder with
// a fake go and the few tools that the script needs. That folder is all of PATH, because many
// systems have a real go next to those tools.
func newRepository(t *testing.T) (root, goDir string) {
	t.Helper()
	script, err := os.ReadFile("../../workshop")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, goDir = filepath.Join(dir, "a repository"), filepath.Join(dir, "go")
	for path, content := range map[string]string{
		filepath.Join(root, "scripts", "workshop"): string(script),
		filepath.Join(root, "scripts", "go.mod"):   "module x\n\ngo 1.26.0\n",
		filepath.Join(goDir, "go"):                 fakeGo,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const tools = "dirname readlink sed mkdir chmod find uname date grep getconf seq"
	for tool := range strings.FieldsSeq(tools) {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(goDir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	return root, goDir
}

// entry runs the script as a user would, from another folder.
func entry(path, goDir, message string) (output string, err error) {
	cmd := exec.Command(path, "one", "two words", "--flag=$x")
	cmd.Env = []string{"PATH=" + goDir, "SAYS=" + message, "GOROOT=/an old one"}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTheScriptBuildsAndRunsTheTool(t *testing.T) {
	root, goDir := newRepository(t)
	script := filepath.Join(root, "scripts", "workshop")
	link := filepath.Join(goDir, "link")
	if err := os.Symlink(script, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{script, link} {
		out, err := entry(path, goDir, "")
		if err != nil || !strings.Contains(out, "root: "+root+"\n<one><two words><--flag=$x>") {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

func TestTheScriptOnlyBuildsTheToolIfItsSourceIsNewer(t *testing.T) {
	root, goDir := newRepository(t)
	script := filepath.Join(root, "scripts", "workshop")
	source := filepath.Join(root, "scripts", "cmd", "main.go")
	testkit.Write(t, filepath.Join(root, "scripts"), map[string]string{
		"cmd/main.go": "", "internal/a.go": "", "go.sum": "",
	})
	sameAge(t, root)
	if out, err := entry(script, goDir, ""); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := entry(script, goDir, "go was asked to build"); err != nil || strings.Contains(out, "building") {
		t.Errorf("nothing has changed: %v\n%s", err, out)
	}
	future := time.Now().Add(time.Minute)
	if err := os.Chtimes(source, future, future); err != nil {
		t.Fatal(err)
	}
	out, err := entry(script, goDir, "go was asked to build")
	if err == nil || !strings.Contains(out, "go said: go was asked to build") {
		t.Errorf("its source has changed: %v\n%s", err, out)
	}
}

func TestTheScriptExplainsWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		message string // go's output; "": there is no go command
		want    []string
	}{
		"no Go": {"", []string{"Go is missing", "1.26.0 or newer from https://go.dev/dl/"}},
		"an old Go": {
			"go: go.mod requires go >= 1.26.0 (running go 1.20.1; GOTOOLCHAIN=local)",
			[]string{"Go is too old: this is go1.20.1, 1.26.0", "https://go.dev/dl/"},
		},
		"no network": {
			"go: k8s.io/api@v0.37.2: Get \"https://proxy\": dial tcp: lookup proxy: no such host",
			[]string{"couldn't be downloaded", "the value of GOPROXY"},
		},
		"a broken tool": {
			"./main.go:1:1: syntax error", []string{"go said: ./main.go:1:1: syntax error", "can't be built"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root, goDir := newRepository(t)
			if test.message == "" {
				if err := os.Remove(filepath.Join(goDir, "go")); err != nil {
					t.Fatal(err)
				}
			}
			out, err := entry(filepath.Join(root, "scripts", "workshop"), goDir, test.message)
			if err == nil {
				t.Error("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q isn't in:\n%s", want, out)
				}
			}
		})
	}
}

// A folder may bring Go and the modules for a machine without a network.
func TestTheScriptUsesTheGoAndModulesInTheFolder(t *testing.T) {
	root, goDir := newRepository(t)
	const program = "#!/bin/sh\nprintf '<%s>' \"$@\"; command -v go; echo \"$GOROOT $GOPROXY $GOSUMDB $GOTOOLCHAIN\"\n"
	for path, content := range map[string]string{
		".workshop/proxy/a": "", ".workshop/go/bin/go": fakeGo, ".workshop/bin/workshop": program,
		"scripts/cmd/a.go": "", "scripts/go.sum": "", "scripts/internal/a": "",
	} {
		testkit.Write(t, root, map[string]string{path: content})
		if err := os.Chmod(filepath.Join(root, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(goDir, "go")); err != nil {
		t.Fatal(err)
	}
	sameAge(t, root)
	state := filepath.Join(root, ".workshop")
	want := "<one><two words><--flag=$x>" + filepath.Join(state, "go", "bin", "go") + "\n file://" +
		strings.ReplaceAll(filepath.Join(state, "proxy"), " ", "%20") + " off local\n"

	out, err := entry(filepath.Join(root, "scripts", "workshop"), goDir, "")

	if err != nil || out != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

// sameAge gives everything one age, as tar does.
func sameAge(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEnvGivesAShellTheSameSettingsAsTheTool(t *testing.T) {
	t.Setenv("GOFLAGS", " '-gcflags=-l -dwarf=false'")
	t.Setenv("GOPROXY", "it's a proxy")
	shell := exec.Command("/bin/sh", "-c", exports("/a clone", "/a kubeconfig")+`
echo "$KUBECONFIG, $GOFLAGS, $GOPROXY, $PATH"`)
	shell.Env = []string{"PATH=/usr/bin"}
	out, err := shell.CombinedOutput()
	const want = "/a kubeconfig, '-gcflags=-l -dwarf=false', it's a proxy, " +
		"/a clone/.workshop/go/bin:/usr/bin:/a clone/.workshop/bin\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}
