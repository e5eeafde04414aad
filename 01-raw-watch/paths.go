// The paths of the requests. From chapter 02 on, client-go builds them.

package main

// foosPath returns the path of the Foos in namespace; "" means all namespaces. For one Foo, add a
// slash and its name.
func foosPath(namespace string) string {
	return collectionPath("/apis/samplecontroller.k8s.io/v1alpha1", namespace, "foos")
}

// deploymentsPath returns the same for Deployments.
func deploymentsPath(namespace string) string {
	return collectionPath("/apis/apps/v1", namespace, "deployments")
}

func collectionPath(groupVersion, namespace, resource string) string {
	if namespace == "" {
		return groupVersion + "/" + resource
	}
	return groupVersion + "/namespaces/" + namespace + "/" + resource
}
