package kind

// The stand-in for images that can't be pulled: see standin/main.go.

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

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
	if err := c.checkStandIn(); err != nil {
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

// checkStandIn refuses a cluster that is too old for the policy by which images aren't pulled.
func (c *Cluster) checkStandIn() error {
	client, err := c.client()
	if err != nil {
		return err
	}
	group := admissionregistrationv1.SchemeGroupVersion.String()
	resources, err := client.Discovery().ServerResourcesForGroupVersion(group)
	if err != nil {
		return fmt.Errorf("ask for the resources of %s: %w", group, err)
	}
	if !slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == "mutatingadmissionpolicies" }) {
		return &problem.Problem{
			What: "the stand-in needs MutatingAdmissionPolicies, which Kubernetes has from 1.36 on, and this cluster is older",
			Mend: "leave --stand-in out, or make the cluster of a newer node image (down, then up --kind --image NAME)",
		}
	}
	return nil
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
