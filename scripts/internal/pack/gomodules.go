package pack

// Go and the modules. The go command fetches both into empty module caches, and checks their
// checksums. So each cache has exactly what is needed, and its cache/download has the layout of a
// module proxy.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

// goModule is the module with Go itself, by version and platform, which the go command uses too.
const goModule = "golang.org/toolchain"

// modules is the module cache for the archive's modules.
func (p *packer) modules() string { return filepath.Join(p.new(), "modules") }

// fetchGo fetches the version of Go that runs here, because that is the tested one.
func (p *packer) fetchGo(ctx context.Context, _ *ui.Step) error {
	version, err := p.goCommand(ctx, "scripts", nil, "env", "GOVERSION")
	if err != nil {
		return err
	}
	env, err := p.fetchInto(ctx, filepath.Join(p.new(), "go"))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s@v0.0.1-%s.%s-%s", goModule, strings.TrimSpace(version), p.OS, p.Arch)
	answer, err := p.goCommand(ctx, "scripts", env, "mod", "download", "-json", name)
	if err != nil {
		return err
	}
	var got struct{ Dir string }
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return err
	}
	if err := os.Rename(got.Dir, p.brought("go")); err != nil {
		return err
	}
	return completeGo(p.brought("go"))
}

// completeGo undoes what Go needs to be published as a module: its go.mod files have another name
// there, and no file is executable. The go command does the same when it uses such a module.
func completeGo(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if entry.Name() == "_go.mod" {
			return os.Rename(path, filepath.Join(filepath.Dir(path), "go.mod"))
		}
		below, err := filepath.Rel(dir, path)
		isProgram := strings.HasPrefix(below, "bin/") || strings.HasPrefix(below, "pkg/tool/")
		if err != nil || !isProgram {
			return err
		}
		return os.Chmod(path, 0o755)
	})
}

// fetchModules fetches what go needs in each module, in the workspace, and for generators.
func (p *packer) fetchModules(ctx context.Context, step *ui.Step) error {
	all, err := chapters.All(p.source)
	if err != nil {
		return err
	}
	env, err := p.fetchInto(ctx, p.modules())
	if err != nil {
		return err
	}
	alone := append(slices.Clone(env), "GOWORK=off")
	// List packages in the workspace, because "mod download" would fetch every module that any module
	// names. With -e, a learner's package may be broken.
	packages := []string{"list", "-e", "-deps", "-test", "-tags=check,e2e"}
	for _, module := range chapters.Modules(all) {
		step.Update("%s", module)
		packages = append(packages, "./"+module+"/...")
		// The graph needs more modules' go.mod files than the download.
		for _, args := range [][]string{{"mod", "download"}, {"mod", "graph"}} {
			if _, err := p.goCommand(ctx, module, alone, args...); err != nil {
				return err
			}
		}
		if err := p.fetchGenerators(ctx, module, alone); err != nil {
			return err
		}
	}
	step.Update("go.work")
	inWorkspace := append(env, "GOWORK="+filepath.Join(p.source, "go.work")) // overrides the user's
	if _, err := p.goCommand(ctx, ".", inWorkspace, packages...); err != nil {
		return err
	}
	_, err = process.Git(ctx, p.source, "checkout", "--quiet", "--", ".") // go has changed go.work.sum
	return err
}

// codeGenerator is the module whose script kube_codegen.sh builds generators in the module's own
// folder, with its own go.mod.
const codeGenerator = "k8s.io/code-generator"

func (p *packer) fetchGenerators(ctx context.Context, module string, env []string) error {
	goMod, err := os.ReadFile(filepath.Join(p.source, module, "go.mod"))
	if err != nil || !strings.Contains(string(goMod), codeGenerator+" v") {
		return err
	}
	dir, err := p.goCommand(ctx, module, env, "list", "-m", "-f", "{{.Dir}}", codeGenerator)
	if err != nil {
		return err
	}
	generators := []string{"./cmd/...", "k8s.io/kube-openapi/cmd/openapi-gen"}
	_, err = p.goCommand(ctx, strings.TrimSpace(dir), env, append([]string{"list", "-deps"}, generators...)...)
	return err
}

// addProxy turns the module cache, when nothing needs it any more, into the archive's proxy.
func (p *packer) addProxy(context.Context, *ui.Step) error {
	downloaded := filepath.Join(p.modules(), "cache", "download")
	return errors.Join(
		os.RemoveAll(filepath.Join(downloaded, filepath.FromSlash(goModule))), // go may have fetched one for itself
		os.Rename(downloaded, p.brought("proxy")),
	)
}

// fetchInto makes go fetch into a cache of its own. It asks the user's cache first, to save network
// traffic.
func (p *packer) fetchInto(ctx context.Context, cache string) ([]string, error) {
	answer, err := p.goCommand(ctx, "scripts", nil, "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	users, proxy, _ := strings.Cut(strings.TrimSpace(answer), "\n")
	own := (&url.URL{Scheme: "file", Path: filepath.Join(users, "cache", "download")}).String()
	return []string{
		"GOMODCACHE=" + cache,
		"GOFLAGS=-modcacherw",
		"GOPROXY=" + strings.ReplaceAll(own, ",", "%2C") + "," + proxy, // a list
	}, nil
}

var downloading = regexp.MustCompile(`(?m)^go: downloading .*\n`)

// goCommand runs go in a folder, which may be relative to the packed source, and returns its
// output.
func (p *packer) goCommand(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	command := process.NewCommand(ctx, 5*time.Second, "go", args...)
	if command.Dir = folder; !filepath.IsAbs(folder) {
		command.Dir = filepath.Join(p.source, folder)
	}
	command.Env = slices.Concat(os.Environ(), env)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if err == nil || ctx.Err() != nil {
		return stdout.String(), ctx.Err()
	}
	reported := stdout.String() + downloading.ReplaceAllString(stderr.String(), "") // some answers are in JSON
	failed := problem.New("go %s in %s failed", strings.Join(args, " "), folder).
		ToDo("see what go reports").
		Because(fmt.Errorf("%w\n%s", err, reported))
	failed.Explain(problem.OfGo(), reported)
	return "", failed
}
