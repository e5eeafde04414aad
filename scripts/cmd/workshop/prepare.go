package main

// Everything that run needs before it can start a chapter's program, and what it removes at the end.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// prepared is a program that can start now.
type prepared struct {
	program    program.Program
	cluster    cluster.Backend
	config     *rest.Config // the administrator's
	kubectl    cluster.Kubectl
	binary     string
	dir        string   // for temporary files while the program runs
	kubeconfig string   // the program's, with no more permissions than its manifests grant
	flags      []string // that the program needs
	later      []string // examples that can be applied when the program converts objects between versions
	created    []string // examples that weren't there before

	stopServing func() // nil if the program serves no webhooks
}

// prepare starts the cluster, applies the program's manifests and examples, and builds the program.
// The API server calls the program's webhooks, unless it is in a container.
// The caller must call untilCleanedUp, and remove dir at the end.
func prepare(ctx context.Context, p program.Program) (*prepared, error) {
	c, err := ensureUp(ctx)
	if err != nil {
		return nil, err
	}
	r := &prepared{program: p, cluster: c, kubectl: cluster.KubectlFor(theRoot(), c)}
	if err := program.CheckOthers(ctx, c, r.kubectl, p.Kind, "", os.Stderr); err != nil {
		return nil, err
	}
	if r.binary, err = buildProgram(ctx, p); err != nil {
		return nil, err
	}
	if r.dir, err = os.MkdirTemp(filepath.Join(theRoot(), ".workshop"), "run-"+p.Name+"-"); err != nil {
		return nil, err
	}
	if err := r.apply(ctx, p.Webhooks != "" && c.Nodes() != cluster.Containers); err != nil {
		r.cleanUp(context.WithoutCancel(ctx))
		return nil, errors.Join(err, os.RemoveAll(r.dir))
	}
	return r, nil
}

// apply applies the manifests and the examples, and writes the program's kubeconfig.
func (r *prepared) apply(ctx context.Context, withWebhooks bool) (err error) {
	// Webhooks that a killed run has left would reject the examples.
	if err := program.DeleteWebhooks(ctx, r.kubectl); err != nil {
		return err
	}
	if err := r.program.Apply(ctx, r.kubectl); err != nil {
		return err
	}
	var local *operator.LocalWebhooks
	var configurations []byte
	if withWebhooks {
		// Before the example: without this conversion, a TDSet that is stored in v1 would lose its windows.
		local, configurations, err = r.program.PrepareWebhooks(ctx, r.kubectl, r.dir, "")
		if err != nil {
			return err
		}
	}
	if err := r.applyExamples(ctx, r.program.Examples); err != nil {
		return err
	}
	if r.config, err = cluster.RESTConfig(r.cluster); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(r.config)
	if err != nil {
		return err
	}
	r.kubeconfig = filepath.Join(r.dir, "kubeconfig")
	r.flags = []string{"--kubeconfig", r.kubeconfig}
	if withWebhooks {
		r.flags = append(r.flags, local.Flags()...)
		r.serve(ctx, local, configurations)
	}
	return operator.WriteKubeconfig(ctx, client, r.config, r.program.Namespace, r.program.ServiceAccount, r.kubeconfig)
}

// applyExamples leaves those for later that need a conversion while no program answers.
func (r *prepared) applyExamples(ctx context.Context, files []string) error {
	for _, file := range files {
		output, err := r.kubectl.Run(ctx, "apply", "-f", file)
		switch {
		case cluster.NeedsConversion(err):
			r.later = append(r.later, file)
		case err != nil:
			return err
		// A namespace stays, because the learner may have created other objects in it.
		case strings.HasSuffix(strings.TrimSpace(output), " created") && !strings.HasPrefix(output, "namespace/"):
			r.created = append(r.created, file)
		}
	}
	return nil
}

// suggestions are commands to look at the example, to change it, and to interfere.
var suggestions = map[string][]string{
	chapters.Foo: {
		"./scripts/workshop kubectl get foos,deployments",
		"./scripts/workshop kubectl scale foo/example-foo --replicas 3",
		"./scripts/workshop kubectl delete deployment/example-foo",
	},
	chapters.TDSet: {
		"./scripts/workshop kubectl get tdsets,deployments -n temp",
		"./scripts/workshop kubectl scale deployment/tdset-hello-world -n temp --replicas 9",
		"./scripts/workshop kubectl delete deployment/tdset-hello-world -n temp",
	},
}

// suggest returns commands for another terminal, or "" for a kind that only an exercise has.
func suggest(kind string) string {
	if len(suggestions[kind]) == 0 {
		return ""
	}
	return "\nTry in another terminal:\n    " + strings.Join(suggestions[kind], "\n    ")
}

// untilCleanedUp returns a context for the program. After the end of ctx, it lasts until cleanUp has
// removed the examples, because their finalizers and conversions need the program.
func (r *prepared) untilCleanedUp(ctx context.Context) (running context.Context, end func()) {
	always := context.WithoutCancel(ctx)
	running, cancel := context.WithCancel(always)
	end = sync.OnceFunc(func() {
		r.cleanUp(always)
		cancel()
	})
	context.AfterFunc(ctx, end)
	return running, end
}

// cleanUp has the API server call no webhooks any more, and removes the examples that weren't there
// before, so that the next chapter's text finds the cluster that it describes.
func (r *prepared) cleanUp(ctx context.Context) {
	if r.stopServing != nil {
		r.stopServing()
	}
	for _, file := range r.created {
		fmt.Fprintf(os.Stderr, "workshop: deleting %s\n", ui.Relative(theRoot(), file))
		_, err := r.kubectl.Run(ctx, "delete", "--ignore-not-found", "--timeout=3s", "-f", file)
		if err != nil { // the program, which may be unfinished, hasn't removed its finalizer yet
			_, err = r.kubectl.Run(ctx, "patch", "--type=merge", `--patch={"metadata":{"finalizers":null}}`, "-f", file)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "workshop: the example stays:", err)
		}
	}
}

// serve makes the API server call the program's webhooks once it answers, until cleanUp.
func (r *prepared) serve(ctx context.Context, local *operator.LocalWebhooks, configurations []byte) {
	serving, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() {
		if local.Await(serving) != nil {
			return // the program has ended before it answered
		}
		err := errors.Join(r.applyExamples(serving, r.later), r.kubectl.Apply(serving, configurations))
		if err != nil && serving.Err() == nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks aren't called:", err)
		}
	})
	r.stopServing = func() {
		cancel()
		background.Wait()
		if err := program.DeleteWebhooks(context.WithoutCancel(ctx), r.kubectl); err != nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks are still called, and the next run deletes them:", err)
		}
	}
}

// buildProgram shows the progress, because a first build may take a minute.
func buildProgram(ctx context.Context, p program.Program) (binary string, err error) {
	err = ui.New(os.Stderr).While("building "+p.Name, func(step *ui.Step) (string, error) {
		p.Progress = func(done gobuild.Progress) { step.Update("%s", done) }
		binary, err = p.Build(ctx, filepath.Join(theRoot(), ".workshop", "bin"))
		return "", err
	})
	return binary, err
}
