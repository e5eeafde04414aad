//go:build e2e

// The images that the tests load into the nodes: the operator's, and stand-in for the tests' own
// Pods.

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
)

// What the tests' own Pods run. A tag other than latest isn't pulled if the node has it.
const (
	standIn   = "stand-in:e2e"
	lingering = "stand-in:lingers" // a Pod of it stops only once it is released
)

// image is the operator's.
func image() string { return cmp.Or(os.Getenv("IMG"), "tdset-operator:dev") }

// loadImages builds the images and loads them into the cluster's nodes.
func loadImages(cluster *kindCluster) error {
	if err := do("make", cmp.Or(os.Getenv("DOCKER_BUILD"), "docker-build"), "IMG="+image()); err != nil {
		return err
	}
	if err := buildStandIns(); err != nil {
		return err
	}
	return kind("load", "docker-image", "--name", cluster.name, image(), standIn, lingering)
}

func buildStandIns() error {
	dir, err := os.MkdirTemp("", "stand-in")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const source = "./test/e2e/stand-in"
	if err := do("env", "CGO_ENABLED=0", "GOOS=linux", "go", "build", "-o", filepath.Join(dir, "stand-in"), source); err != nil {
		return err
	}
	for name, lingers := range map[string]string{standIn: "", lingering: "true"} {
		if err := do("docker", "build", "-t", name, "--build-arg", "LINGERS="+lingers, "-f", source+"/Dockerfile", dir); err != nil {
			return err
		}
	}
	return nil
}
