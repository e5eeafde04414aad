package cluster

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

func TestPurgeKeepsMatchingFiles(t *testing.T) {
	own := []string{"progress*.json", "kept"}
	for sentence, test := range map[string]struct {
		files, keep, want []string // kept
	}{
		"a learner's files": {[]string{"bin/controlplane", "kept/01-1.go", "progress.json", "progress-damaged.json", "run.kubeconfig"}, own, []string{"kept", "progress-damaged.json", "progress.json"}},
		"no file matches":   {[]string{"bin/controlplane"}, own, nil},
		"no patterns":       {[]string{"bin/controlplane", "kept/01-1.go", "progress.json"}, nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			state := filepath.Join(root, ".workshop")
			for _, file := range test.files {
				writeFile(t, filepath.Join(state, file), "content of "+file)
			}
			ended, kept, err := Purge(t.Context(), root, test.keep, nil)
			if err != nil || ended != 0 || !slices.Equal(kept, test.want) {
				t.Errorf("ended %d, kept %q, error %v; want %q kept", ended, kept, err, test.want)
			}
			entries, err := os.ReadDir(state)
			if test.want == nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("left: %v, error %v, want nothing", entries, err)
			}
			if len(entries) != len(test.want) {
				t.Errorf("left: %v", entries)
			}
			for _, file := range test.files {
				if name, _, _ := strings.Cut(file, "/"); !slices.Contains(test.want, name) {
					continue
				}
				if content, err := os.ReadFile(filepath.Join(state, file)); err != nil || string(content) != "content of "+file {
					t.Errorf("%s is now %q, error %v", file, content, err)
				}
			}
		})
	}
}

// startComponent starts a program as a component, and waits for it.
func startComponent(t *testing.T, executable, home string) *gopsutil.Process {
	t.Helper()
	command := exec.Command(executable, "-c", "echo up; read line")
	command.Args[0] = filepath.Join(home, "etcd")
	input, inErr := command.StdinPipe()
	output, outErr := command.StdoutPipe()
	if err := errors.Join(inErr, outErr, command.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close() // that ends it
		_ = command.Wait()
	})
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p, err := gopsutil.NewProcess(int32(command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPurgeFollowsNoLinkIntoAnotherRepository(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	program, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	for sentence, test := range map[string]struct {
		link    string // below both roots; "": there is none
		theirs  bool   // the other repository's process keeps running
		refused bool
	}{
		"a program that is a link":   {link: ".workshop/bin/controlplane", theirs: true},
		"all programs by one link":   {link: ".workshop/bin", theirs: true},
		".workshop itself is a link": {link: ".workshop", theirs: true, refused: true},
		"no link":                    {},
	} {
		t.Run(sentence, func(t *testing.T) {
			ours, others := resolve(t.TempDir()), resolve(t.TempDir())
			etcd := filepath.Join(others, ".workshop", "bin", "controlplane")
			writeFile(t, etcd, string(program))
			if err := os.Chmod(etcd, 0o700); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(ours, test.link)
			if test.link == "" {
				ours = others
			} else if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(filepath.Join(others, test.link), link)); err != nil {
				t.Fatal(err)
			}
			theirs := startComponent(t, etcd, filepath.Join(others, ".workshop", "clusters", "workshop"))
			want := 1
			if test.refused {
				want = 0
			} else if test.link != "" { // a cluster of ours, run by their program
				startComponent(t, etcd, filepath.Join(ours, ".workshop", "clusters", "workshop"))
			}
			ended, _, err := Purge(t.Context(), ours, nil, nil)
			if ended != want || (err != nil) != test.refused {
				t.Errorf("ended %d, error %v; want %d, refused: %v", ended, err, want, test.refused)
			}
			if process.Runs(t.Context(), theirs) != test.theirs {
				t.Errorf("the other repository's process runs: %v, want %v", !test.theirs, test.theirs)
			}
			if _, err := os.Stat(etcd); (err == nil) != test.theirs {
				t.Errorf("the other repository's program: %v", err)
			}
		})
	}
}
