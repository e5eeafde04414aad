package pack

// Go and the modules. The go command fetches both into empty module caches, and checks their
// checksums. So each cache has exactly what is needed, and its cache/download has the layout of a
// module proxy.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
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

// fetchGo fetches the version of Go that runs here, because that is the tested one.
func (p *packer) fetchGo(ctx context.Context, step *ui.Step) (string, error) {
	version, err := p.goCommand(ctx, "scripts", nil, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	p.goVersion = strings.TrimSpace(version)
	step.Update("%s for %s", p.goVersion, p.Platform)
	cache := p.path("go")
	name := fmt.Sprintf("%s@v0.0.1-%s.%s-%s", goModule, p.goVersion, p.Platform.OS, p.Platform.Arch)
	answer, err := p.goCommand(ctx, ".", p.fetching(ctx, cache), "mod", "download", "-json", name)
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal([]byte(answer), &got); err == nil {
		err = jsonErr
	}
	if err != nil {
		return "", fetchProblem(name, err, got.Error)
	}
	return p.goVersion + " for " + p.Platform.String(), p.add(".workshop/go", got.Dir)
}

// fetchModules fetches what go needs in each module, in the workspace, and for generators.
func (p *packer) fetchModules(ctx context.Context, step *ui.Step) (string, error) {
	all, err := chapters.All(p.source)
	if err != nil {
		return "", err
	}
	modules := chapters.Modules(all)
	cache := p.path("modules")
	env := p.fetching(ctx, cache)
	alone := append(slices.Clone(env), "GOWORK=off")
	for _, module := range modules {
		step.Update("%s", module)
		// The graph needs more modules' go.mod files than the download.
		for _, args := range [][]string{{"mod", "download"}, {"mod", "graph"}} {
			if _, err := p.goCommand(ctx, module, alone, args...); err != nil {
				return "", fetchProblem("the modules of "+module, err, "")
			}
		}
		if err := p.fetchGenerators(ctx, module, alone); err != nil {
			return "", err
		}
	}
	step.Update("go.work")
	// List packages, because "mod download" would fetch every module that any module names. With
	// -e, a learner's package may be broken.
	args := []string{"list", "-e", "-deps", "-test", "-tags=check,e2e"}
	for _, module := range modules {
		args = append(args, "./"+module+"/...")
	}
	workspace := append(env, "GOWORK="+filepath.Join(p.source, "go.work")) // overrides the user's
	if _, err := p.goCommand(ctx, ".", workspace, args...); err != nil {
		return "", fetchProblem("the modules of go.work", err, "")
	}
	before, zips := len(p.entries), 0
	if err := p.add(".workshop/proxy", filepath.Join(cache, "cache", "download")); err != nil {
		return "", err
	}
	for _, e := range p.entries[before:] {
		if strings.HasSuffix(e.Name, ".zip") {
			zips++
		}
	}
	return fmt.Sprintf("%d for %s and go.work", zips, ui.Plural(len(modules), "module")), nil
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
		return fetchProblem(codeGenerator, err, "")
	}
	_, err = p.goCommand(ctx, strings.TrimSpace(dir), env, "list", "-deps", "./cmd/...", "k8s.io/kube-openapi/cmd/openapi-gen")
	if err != nil {
		return fetchProblem("the modules of "+codeGenerator, err, "")
	}
	return nil
}

// fetching makes go fetch into a cache of its own. It asks the user's cache first, to save network
// traffic.
func (p *packer) fetching(ctx context.Context, cache string) []string {
	// Without an answer, go fetches over the network.
	answer, _ := p.goCommand(ctx, "scripts", nil, "env", "-json", "GOMODCACHE", "GOPROXY")
	user := map[string]string{}
	_ = json.Unmarshal([]byte(answer), &user)
	env := []string{"GOMODCACHE=" + cache, "GOFLAGS=-modcacherw"}
	if own := filepath.Join(user["GOMODCACHE"], "cache", "download"); filepath.IsAbs(own) {
		env = append(env, "GOPROXY="+fileProxy(own)+","+user["GOPROXY"])
	}
	return env
}

// fileProxy is a folder as an element of GOPROXY, which is a list.
func fileProxy(dir string) string {
	return strings.ReplaceAll((&url.URL{Scheme: "file", Path: dir}).String(), ",", "%2C")
}

// goCommand runs go in a folder, which may be relative to the packed source, and returns its
// output.
func (p *packer) goCommand(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	command := process.NewCommand(ctx, 5*time.Second, "go", args...)
	if command.Dir = folder; !filepath.IsAbs(folder) {
		command.Dir = filepath.Join(p.source, folder)
	}
	command.Env = slices.Concat(os.Environ(), env)
	var stdout strings.Builder
	var messages []string
	command.Stdout = &stdout
	command.Stderr = &process.Lines{Do: func(line string) {
		if !strings.HasPrefix(line, "go: downloading ") {
			messages = append(messages, line)
		}
	}}
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return stdout.String(), fmt.Errorf("go %s: %w\n%s", args[0], err, shorten(strings.Join(messages, "\n")))
	}
	return stdout.String(), nil
}

// fetchProblem says that something couldn't be fetched, and why if that is known.
func fetchProblem(what string, err error, reason string) error {
	if reason != "" {
		err = errors.New(reason)
	}
	p := problem.New("%s can't be fetched", what).ToDo("see what go reports").Because(err)
	p.Explain(problem.OfGo(), err.Error())
	return p
}
