// The rule: each image of a Deployment comes from one of the allowed registries.
// manifests/policy.yaml has the same rule in CEL.

package main

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// allowedRegistries reads one registry a line, or a path in one. An empty line is a prefix of every
// image, so it mustn't be in the list.
func allowedRegistries(configMap *corev1.ConfigMap) (registries []string) {
	for line := range strings.Lines(configMap.Data["allowed"]) {
		if line = strings.TrimSpace(line); line != "" {
			registries = append(registries, line)
		}
	}
	return registries
}

// isBelow reports whether the image is in that registry, or below that path. It compares whole parts
// of a path, because registry.example.com/team must not allow registry.example.com/team-of-others.
func isBelow(registry, image string) bool {
	return strings.HasPrefix(image, strings.TrimSuffix(registry, "/")+"/")
}

// refusedImages returns an error for each image that isn't allowed. It accepts the images that the
// old Deployment has already, so that an old one can still be changed. For a new Deployment, old is
// nil.
func refusedImages(old, deployment *appsv1.Deployment, registries []string) (refused field.ErrorList) {
	var stored []string
	if old != nil {
		stored = images(old)
	}
	check := func(list string, containers []corev1.Container) {
		for i, container := range containers {
			allowed := func(registry string) bool { return isBelow(registry, container.Image) }
			if !slices.Contains(stored, container.Image) && !slices.ContainsFunc(registries, allowed) {
				path := field.NewPath("spec", "template", "spec", list).Index(i).Child("image")
				refused = append(refused, field.Invalid(path, container.Image, fmt.Sprintf("must come from one of [%s]", strings.Join(registries, ", "))))
			}
		}
	}
	check("containers", deployment.Spec.Template.Spec.Containers)
	check("initContainers", deployment.Spec.Template.Spec.InitContainers)
	return refused
}

// images returns the images of all containers.
func images(deployment *appsv1.Deployment) (images []string) {
	pod := deployment.Spec.Template.Spec
	for _, container := range slices.Concat(pod.Containers, pod.InitContainers) {
		images = append(images, container.Image)
	}
	return images
}
