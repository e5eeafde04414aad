package kind

// Loading images onto the node, so that the kubelet doesn't pull them, and the tests' stand-in for
// real ones (see standin.go).

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
)

// Load loads an image from docker onto the cluster's node.
func (c *Cluster) Load(ctx context.Context, image string) error {
	command, err := c.kind(ctx, func(string) {}, "load", "docker-image", image)
	if err != nil {
		return err
	}
	var printed strings.Builder
	command.Stdout, command.Stderr = &printed, &printed
	err = command.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	err = fmt.Errorf("%w: %s", err, &printed)
	return explain(fmt.Sprintf("image %s can't be loaded onto node %s", image, c.Node()), err, err.Error())
}

func BuildImage(ctx context.Context, dir, image string, args ...string) error {
	_, err := docker(ctx, append(append([]string{"build", "--tag", image}, args...), dir)...)
	return err
}

// BuildStatic runs go build with args in dir, for the node, which has this machine's architecture.
// progress may be nil.
func BuildStatic(ctx context.Context, dir, binary string, progress func(gobuild.Progress), args ...string) error {
	return gobuild.Build{
		What:     filepath.Base(binary) + " in " + dir,
		Dir:      dir,
		Args:     append([]string{"-o", binary}, args...),
		Env:      []string{"GOOS=linux"},
		Progress: progress,
	}.Run(ctx)
}

const (
	standIn = "operators-stand-in:1"
	// SlowStandIn takes five seconds to stop.
	SlowStandIn = "operators-stand-in:slow"
)

//go:embed standin.go
var standInSource []byte

// standInPolicy makes the API server tell the kubelet to use images that are on the node.
//
//go:embed standin.yaml
var standInPolicy []byte

// SampleImages are the images in the chapters' samples, with their full names.
func SampleImages() []string {
	return []string{"docker.io/library/nginx:latest", "docker.io/crccheck/hello-world:latest"}
}

// LoadStandIn builds the stand-in and loads it onto the cluster's node, where it gets these full
// names, too. Only there, an image "nginx:latest" is the stand-in.
func (c *Cluster) LoadStandIn(ctx context.Context, k cluster.Kubectl, names ...string) error {
	if err := k.Apply(ctx, standInPolicy); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "stand-in-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), standInSource, 0o600); err != nil {
		return err
	}
	if err := BuildStatic(ctx, dir, filepath.Join(dir, "standin"), nil, "main.go"); err != nil {
		return err
	}
	for image, argument := range map[string]string{standIn: "0s", SlowStandIn: "5s"} {
		dockerfile := fmt.Sprintf("FROM scratch\nCOPY standin /standin\nENTRYPOINT [\"/standin\", %q]\n", argument)
		if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o600); err != nil {
			return err
		}
		if err := BuildImage(ctx, dir, image); err != nil {
			return err
		}
		if err := c.Load(ctx, image); err != nil {
			return err
		}
	}
	tag := []string{"exec", c.Node(), "ctr", "--namespace=k8s.io", "images", "tag", "--force"}
	for _, name := range names {
		if _, err := docker(ctx, append(tag, "docker.io/library/"+standIn, name)...); err != nil {
			return err
		}
	}
	return nil
}
