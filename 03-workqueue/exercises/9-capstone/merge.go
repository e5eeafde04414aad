// How the controller builds an update from the existing object and the desired one. This file is
// the same in chapters 01 to 03. In chapter 04, server-side apply does this.

package main

import appsv1 "k8s.io/api/apps/v1"

// merge returns a copy of observed with the values that desired sets. It keeps all other values.
func merge(observed, desired *appsv1.Deployment) *appsv1.Deployment {
	merged := observed.DeepCopy()
	merged.Labels = withLabels(merged.Labels, desired.Labels)
	merged.Spec.Replicas = desired.Spec.Replicas
	template := &merged.Spec.Template
	template.Labels = withLabels(template.Labels, desired.Spec.Template.Labels)
	want := desired.Spec.Template.Spec.Containers[0]
	for i := range template.Spec.Containers {
		if container := &template.Spec.Containers[i]; container.Name == want.Name {
			container.Image, container.ImagePullPolicy = want.Image, want.ImagePullPolicy
			return merged
		}
	}
	template.Spec.Containers = append(template.Spec.Containers, want)
	return merged
}

// withLabels adds the labels in want to labels.
func withLabels(labels, want map[string]string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	for key, value := range want {
		labels[key] = value
	}
	return labels
}
