package kind

// The stand-in for images that can't be pulled: see standin/main.go.

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
)

const (
	// StandIn is the stand-in's image, on this machine and on the node.
	StandIn = "operators-stand-in:1"
	// SlowStandIn takes five seconds to stop.
	SlowStandIn = "operators-stand-in:slow"
)

//go:embed standin/main.go
var standIn []byte

// SampleImages are those that the chapters' samples ask for.
func SampleImages() []string { return []string{"nginx:latest", "crccheck/hello-world:latest"} }

// LoadStandIn builds the stand-in and brings it to the cluster's node, as itself and under the other names: there, and only there, an
// image "nginx:latest" is the stand-in. What the node has isn't pulled any more.
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
	if err := BuildStatic(ctx, dir, "main.go", filepath.Join(dir, "standin"), nil); err != nil {
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

// standInBinding puts the policy in force for all Pods.
const standInBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: images-on-the-node-are-not-pulled}
spec: {policyName: images-on-the-node-are-not-pulled}
`

// dontPull has the API server tell the kubelet to take images as they are on the node. It refuses a cluster that is too old for that.
func (c *Cluster) dontPull(ctx context.Context) error {
	client, err := cluster.Client(c)
	if err != nil {
		return err
	}
	for resource, content := range map[string][]byte{
		"mutatingadmissionpolicies":       standInPolicy,
		"mutatingadmissionpolicybindings": []byte(standInBinding),
	} {
		err := client.AdmissionregistrationV1().RESTClient().Patch(types.ApplyYAMLPatchType).
			Resource(resource).Name("images-on-the-node-are-not-pulled").Param("fieldManager", "workshop").
			Body(content).Do(ctx).Error()
		if apierrors.IsNotFound(err) {
			return problem.New("the stand-in needs MutatingAdmissionPolicies, which Kubernetes has from 1.36 on, and this cluster is older").
				ToDo("leave --stand-in out, or make the cluster of a newer node image (down, then up --kind --image NAME)")
		}
		if err != nil {
			return fmt.Errorf("apply the policy by which the stand-in isn't pulled: %w", err)
		}
	}
	return nil
}
