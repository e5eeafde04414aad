//go:build e2e

// The images that the tests load into the nodes: the operator's, the image policy's, and stand-in for
// the tests' own Pods.

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"example.com/operators/06-kubebuilder/test/utils"
)

// standIn is the image of the tests' own Pods. A tag other than latest isn't pulled if the node has
// it.
const standIn = "stand-in:e2e"

// imagePolicy is the image in imagepolicy/manifests/program.yaml.
const imagePolicy = "image-policy:dev"

// image is the operator's.
func image() string { return cmp.Or(os.Getenv("IMG"), "foo-operator:dev") }

// loadImages builds the images and loads them into the cluster's nodes.
func loadImages(cluster *kindCluster) error {
	if err := do("make", cmp.Or(os.Getenv("DOCKER_BUILD"), "docker-build"), "IMG="+image()); err != nil {
		return err
	}
	for tag, source := range map[string]string{standIn: "./test/e2e/stand-in", imagePolicy: "./imagepolicy"} {
		if err := build(tag, source); err != nil {
			return err
		}
	}
	if err := kind("load", "docker-image", "--name", cluster.name, image(), standIn, imagePolicy); err != nil {
		return err
	}
	return standInForNginx(cluster)
}

// build builds the program in a folder, and then the image with the Dockerfile there.
func build(tag, source string) error {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := do("env", "CGO_ENABLED=0", "GOOS=linux", "go", "build", "-o", filepath.Join(dir, filepath.Base(source)), source); err != nil {
		return err
	}
	return do("docker", "build", "-t", tag, "-f", source+"/Dockerfile", dir)
}

// standInForNginx tags the stand-in with the image name of every Foo's Deployment, in the nodes
// that don't have that image. At the end it removes the tag, so that the next Foo there gets the
// real image.
func standInForNginx(cluster *kindCluster) error {
	const nginx = "docker.io/library/nginx:latest"
	nodes, err := utils.Exec("docker", "ps", "--filter", "label=io.x-k8s.kind.cluster="+cluster.name, "--format", "{{.Names}}")
	if err != nil {
		return err
	}
	for _, node := range strings.Fields(nodes) {
		images := []string{"exec", node, "ctr", "--namespace=k8s.io", "images"}
		has, err := utils.Exec("docker", append(images, "ls", "--quiet", "name=="+nginx)...)
		if err != nil {
			return err
		}
		if !strings.Contains(has, nginx) { // the output may also have warnings
			cluster.atEnd(func() error { return do("docker", append(images, "remove", nginx)...) })
			if err := do("docker", append(images, "tag", "docker.io/library/"+standIn, nginx)...); err != nil {
				return err
			}
		}
	}
	return nil
}
