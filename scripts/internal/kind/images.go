package kind

// Image names, and loading images into the node, so that the kubelet doesn't have to pull them.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/distribution/reference"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
)

// Load brings an image that docker has to the cluster's node. There it also gets the other names, whatever docker itself has under them.
func (c *Cluster) Load(ctx context.Context, image string, names ...string) error {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "image.tar")
	if _, err := docker(ctx, "save", "--output", archive, image); err != nil {
		return err
	}
	node, err := c.node()
	if err != nil {
		return err
	}
	if err := load(node, archive); err != nil {
		return explain(err, fmt.Sprintf("image %s can't be brought to node %s", image, node), "")
	}
	for _, name := range names {
		if err := tag(node, image, name); err != nil {
			return explain(err, fmt.Sprintf("image %s can't be named %s on node %s", image, name, node), "")
		}
	}
	return nil
}

func load(node nodes.Node, archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	return nodeutils.LoadImageArchive(node, f)
}

func tag(node nodes.Node, image, name string) error {
	from, err := qualified(image)
	if err != nil {
		return err
	}
	to, err := qualified(name)
	if err != nil {
		return err
	}
	return nodeutils.ReTagImage(node, from, to)
}

// node is the one that the cluster has, as kind sees it.
func (c *Cluster) node() (nodes.Node, error) {
	all, err := c.provider(logger{}).ListInternalNodes(c.KindName())
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, problem.New("cluster %q has no node", c.name).ToDo("./scripts/workshop up --kind")
	}
	return all[0], nil
}

// BuildImage builds the image from the Dockerfile in dir, whose context that folder is.
func BuildImage(ctx context.Context, dir, image string, args ...string) error {
	_, err := docker(ctx, append(append([]string{"build", "--tag", image}, args...), dir)...)
	return err
}

// BuildStatic builds the Go program in the package at dir, for the node, which has this machine's architecture. progress may be nil.
func BuildStatic(ctx context.Context, dir, pkg, binary string, progress func(gobuild.Progress)) error {
	return gobuild.Build{
		What: filepath.Base(binary) + " in " + dir,
		Dir:  dir, Args: []string{"-o", binary, pkg}, Env: []string{"GOOS=linux"}, Progress: progress,
	}.Run(ctx)
}

// qualified is an image's name as containerd knows it: nginx is docker.io/library/nginx:latest.
func qualified(image string) (string, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", err
	}
	return reference.TagNameOnly(named).String(), nil
}

// sameImage reports whether two names mean one image. It ignores digests: only one may have one.
func sameImage(a, b string) bool {
	a, _, _ = strings.Cut(a, "@")
	b, _, _ = strings.Cut(b, "@")
	first, errFirst := qualified(a)
	second, errSecond := qualified(b)
	return errFirst == nil && errSecond == nil && first == second
}
