package kind

// Images: their names, loading them onto the node, so that the kubelet doesn't pull them, and the
// stand-in for those that can't be pulled (see standin/main.go).

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
)

// Load loads an image from docker onto the cluster's node, where it also gets the other names.
func (c *Cluster) Load(ctx context.Context, image string, names ...string) error {
	command, err := c.kind(ctx, func(string) {}, "load", "docker-image", image)
	if err != nil {
		return err
	}
	if printed, err := command.CombinedOutput(); err != nil {
		err = fmt.Errorf("%w: %s", err, printed)
		return cmp.Or(ctx.Err(), explain(err, err.Error(), fmt.Sprintf("image %s can't be loaded onto node %s", image, c.Node()), ""))
	}
	for _, name := range names {
		_, err := docker(ctx, "exec", c.Node(), "ctr", "--namespace=k8s.io", "images", "tag", "--force", qualified(image), qualified(name))
		if err != nil {
			return err
		}
	}
	return nil
}

func BuildImage(ctx context.Context, dir, image string, args ...string) error {
	_, err := docker(ctx, append(append([]string{"build", "--tag", image}, args...), dir)...)
	return err
}

// BuildStatic runs go build with args in dir, for the node, which has this machine's architecture.
// progress may be nil.
func BuildStatic(ctx context.Context, dir, binary string, progress func(gobuild.Progress), args ...string) error {
	return gobuild.Build{
		What: filepath.Base(binary) + " in " + dir,
		Dir:  dir, Args: append([]string{"-o", binary}, args...), Env: []string{"GOOS=linux"}, Progress: progress,
	}.Run(ctx)
}

// qualified is an image's name as containerd knows it: nginx is docker.io/library/nginx:latest. It
// has no digest, because a name may be given with or without one.
func qualified(image string) string {
	image, _, _ = strings.Cut(image, "@")
	host, _, hasFolder := strings.Cut(image, "/")
	switch {
	case !hasFolder:
		image = "docker.io/library/" + image
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		image = "docker.io/" + image
	}
	if !strings.Contains(path.Base(image), ":") {
		image += ":latest"
	}
	return image
}

const (
	// StandIn is the stand-in's image, in docker and on the node.
	StandIn = "operators-stand-in:1"
	// SlowStandIn takes five seconds to stop.
	SlowStandIn = "operators-stand-in:slow"
)

//go:embed standin/main.go
var standIn []byte

func SampleImages() []string { return []string{"nginx:latest", "crccheck/hello-world:latest"} }

// LoadStandIn builds the stand-in and loads it onto the cluster's node, under its own and the other
// names. Only there, an image "nginx:latest" is the stand-in. From then on, the kubelet doesn't
// pull images that the node has.
func (c *Cluster) LoadStandIn(ctx context.Context, names ...string) error {
	if err := c.dontPull(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "stand-in-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), standIn, 0o600); err != nil {
		return err
	}
	if err := BuildStatic(ctx, dir, filepath.Join(dir, "standin"), nil, "main.go"); err != nil {
		return err
	}
	const from = "FROM scratch\nCOPY standin /standin\n"
	for image, entrypoint := range map[string]string{
		StandIn:     `ENTRYPOINT ["/standin"]`,
		SlowStandIn: `ENTRYPOINT ["/standin", "-stop-after", "5s"]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(from+entrypoint+"\n"), 0o600); err != nil {
			return err
		}
		if err := BuildImage(ctx, dir, image); err != nil {
			return err
		}
	}
	if err := c.Load(ctx, SlowStandIn); err != nil {
		return err
	}
	return c.Load(ctx, StandIn, names...)
}

//go:embed standin-policy.yaml
var standInPolicy []byte

//go:embed standin-binding.yaml
var standInBinding []byte

// dontPull makes the API server tell the kubelet to use images that are on the node. It returns an
// error if the cluster is too old for that.
func (c *Cluster) dontPull(ctx context.Context) error {
	client, err := cluster.Client(c)
	if err != nil {
		return err
	}
	for resource, content := range map[string][]byte{
		"mutatingadmissionpolicies":       standInPolicy,
		"mutatingadmissionpolicybindings": standInBinding,
	} {
		err := client.AdmissionregistrationV1().RESTClient().Patch(types.ApplyYAMLPatchType).
			Resource(resource).Name("images-on-the-node-are-not-pulled").Param("fieldManager", "workshop").
			Body(content).Do(ctx).Error()
		if apierrors.IsNotFound(err) {
			return problem.New("the stand-in needs MutatingAdmissionPolicies, which Kubernetes has since 1.36, but this cluster is older").
				ToDo("leave --stand-in out, or create the cluster with a newer node image (down, then up --kind --image NAME)")
		}
		if err != nil {
			return fmt.Errorf("apply the policy not to pull the stand-in: %w", err)
		}
	}
	return nil
}
