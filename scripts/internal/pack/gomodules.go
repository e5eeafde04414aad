package pack

// Go, and the modules. Both are fetched by the go command, which checks them by its checksums, into module caches of their own: what a
// cache that was empty has in the end is what is needed, and a cache's cache/download has the layout of a module proxy.

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
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

// goModule is the module that has Go itself, by version and platform. The go command gets its toolchains there.
const goModule = "golang.org/toolchain"

// fetchGo fetches the Go of the version that runs here, since that is the one that was tested with.
func (p *packer) fetchGo(ctx context.Context, step *ui.Step) (string, error) {
	said, err := p.goCommand(ctx, "scripts", nil, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	p.goIs = strings.TrimSpace(said)
	step.Update("%s for %s", p.goIs, p.Platform)
	cache := p.path("go")
	name := fmt.Sprintf("%s@v0.0.1-%s.%s-%s", goModule, p.goIs, p.Platform.OS, p.Platform.Arch)
	said, err = p.goCommand(ctx, ".", p.fetching(ctx, cache), "mod", "download", "-json", name)
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal([]byte(said), &got); err == nil {
		err = jsonErr
	}
	if err != nil {
		return "", cantBeHad(name, err, got.Error)
	}
	return p.goIs + " for " + p.Platform.String(), p.add(".workshop/go", got.Dir)
}

// fetchModules fetches what go needs in each module of the repository, in the workspace, and where a script goes for a generator.
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
		// The graph takes more modules' go.mod files than the download.
		for _, args := range [][]string{{"mod", "download"}, {"mod", "graph"}} {
			if _, err := p.goCommand(ctx, module, alone, args...); err != nil {
				return "", cantBeHad("the modules of "+module, err, "")
			}
		}
		if err := p.fetchGenerators(ctx, module, alone); err != nil {
			return "", err
		}
	}
	step.Update("go.work")
	// Packages, not "mod download": that would fetch each module that any module names. -e: a learner's package may be broken.
	args := []string{"list", "-e", "-deps", "-test", "-tags=check,e2e"}
	for _, module := range modules {
		args = append(args, "./"+module+"/...")
	}
	workspace := append(env, "GOWORK="+filepath.Join(p.source, "go.work")) // whatever the user has set
	if _, err := p.goCommand(ctx, ".", workspace, args...); err != nil {
		return "", cantBeHad("the modules of go.work", err, "")
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

// codeGenerator is the module whose script kube_codegen.sh builds the generators in its own folder, and so by its own go.mod.
const codeGenerator = "k8s.io/code-generator"

func (p *packer) fetchGenerators(ctx context.Context, module string, env []string) error {
	goMod, err := os.ReadFile(filepath.Join(p.source, module, "go.mod"))
	if err != nil || !strings.Contains(string(goMod), codeGenerator+" v") {
		return err
	}
	dir, err := p.goCommand(ctx, module, env, "list", "-m", "-f", "{{.Dir}}", codeGenerator)
	if err != nil {
		return cantBeHad(codeGenerator, err, "")
	}
	_, err = p.goCommand(ctx, strings.TrimSpace(dir), env, "list", "-deps", "./cmd/...", "k8s.io/kube-openapi/cmd/openapi-gen")
	if err != nil {
		return cantBeHad("the modules of "+codeGenerator, err, "")
	}
	return nil
}

// fetching makes go fetch into a cache of its own, by way of the user's: what that has needn't come over the network again.
func (p *packer) fetching(ctx context.Context, cache string) []string {
	said, _ := p.goCommand(ctx, "scripts", nil, "env", "-json", "GOMODCACHE", "GOPROXY") // without an answer, over the network
	user := map[string]string{}
	_ = json.Unmarshal([]byte(said), &user)
	env := []string{"GOMODCACHE=" + cache, "GOFLAGS=-modcacherw"}
	if own := filepath.Join(user["GOMODCACHE"], "cache", "download"); filepath.IsAbs(own) {
		env = append(env, "GOPROXY="+fileProxy(own)+","+user["GOPROXY"])
	}
	return env
}

// fileProxy is a folder as GOPROXY takes it, which is a list.
func fileProxy(dir string) string {
	return strings.ReplaceAll((&url.URL{Scheme: "file", Path: dir}).String(), ",", "%2C")
}

// goCommand runs go in a folder, which may be relative to the packed source, and returns its output.
func (p *packer) goCommand(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	command := process.NewCommand(ctx, 5*time.Second, "go", args...)
	if command.Dir = folder; !filepath.IsAbs(folder) {
		command.Dir = filepath.Join(p.source, folder)
	}
	command.Env = slices.Concat(os.Environ(), env)
	var stdout strings.Builder
	var said []string
	command.Stdout = &stdout
	command.Stderr = &output.Lines{Do: func(line string) {
		if !strings.HasPrefix(line, "go: downloading ") {
			said = append(said, line)
		}
	}}
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return stdout.String(), fmt.Errorf("go %s: %w\n%s", args[0], err, shorten(strings.Join(said, "\n")))
	}
	return stdout.String(), nil
}

// cantBeHad says that something couldn't be fetched, and why if that is known.
func cantBeHad(what string, err error, said string) error {
	if said != "" {
		err = errors.New(said)
	}
	p := problem.New("%s can't be had", what).ToDo("see what go says").Because(err)
	p.Explain(problem.OfGo(), err.Error())
	return p
}
