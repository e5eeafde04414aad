package kind

// The stand-in for images that can't be pulled: see standin/main.go.

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
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
	dir, err := os.MkdirTemp("", "stand-in-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), standIn, 0o600); err != nil {
		return err
	}
	if err := BuildStatic(ctx, dir, "main.go", filepath.Join(dir, "standin")); err != nil {
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
	if err := c.Load(ctx, StandIn, names...); err != nil {
		return err
	}
	return c.dontPull(ctx)
}

//go:embed standin-policy.yaml
var standInPolicy []byte

// dontPull has the API server tell the kubelet to take images as they are on the node.
func (c *Cluster) dontPull(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{}
	if err := yaml.UnmarshalStrict(standInPolicy, policy); err != nil {
		return err
	}
	admission := client.AdmissionregistrationV1()
	if _, err := admission.MutatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the policy by which the stand-in isn't pulled: %w", err)
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name},
	}
	if _, err := admission.MutatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the binding of the policy by which the stand-in isn't pulled: %w", err)
	}
	return nil
}
