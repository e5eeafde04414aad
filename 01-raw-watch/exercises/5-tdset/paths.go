// The URL paths of the objects.

package main

// tdsetsPath returns the path of the TDSets in namespace; "" means all namespaces.
func tdsetsPath(namespace string) string {
	return collectionPath("/apis/schedule.rs/v1", namespace, "tdsets")
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
