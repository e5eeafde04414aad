package leak

import (
	"fmt"
	"strings"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// report describes a Foo in about two kilobytes.
func report(foo *samplecontrollerv1alpha1.Foo) string {
	return fmt.Sprintf("Foo %s/%s asks for the Deployment %s.\n%s", foo.Namespace, foo.Name, foo.Spec.DeploymentName, strings.Repeat("All is well. ", 150))
}
