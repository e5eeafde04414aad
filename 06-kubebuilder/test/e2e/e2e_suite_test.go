//go:build e2e

// Package e2e tries the operator as it is shipped, on a kind cluster: the image is built and
// loaded, dist/install.yaml's content is applied, the kubelet runs the manager, and the API server
// calls its webhooks by their Service. It needs docker, and kubectl. These say what it works with;
// `make test-e2e` passes them on:
//
//   - KIND_CLUSTER and KUBECONFIG: a kind cluster of yours, its name and the path of its kubeconfig. Both are needed, so that nobody's
//     cluster is used by accident. At the end the tests delete the whole operator with its CRD, and so every Foo. That is why they refuse a
//     cluster that has the CRD or the operator's namespace already. (After Ctrl-C, make undeploy does that.) Without both, they make a
//     cluster, and delete it at the end;
//   - KIND_NODE_IMAGE: the image of that cluster's nodes (by default that of this version of kind);
//   - IMG: the image to build and deploy (foo-operator:dev by default), and DOCKER_BUILD, the target that builds it: docker-build, or
//     docker-prebuilt where the golang image can't be had;
//   - KIND: the program kind, if it isn't simply called so.
//
// Nothing else has to be pulled: what the tests' own Pods run is built too (stand-in).
package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/operators/06-kubebuilder/test/utils"
)

const (
	operator  = "foo-operator-system" // the operator's namespace
	crd       = "foos.samplecontroller.k8s.io"
	manager   = "deployment/foo-operator-controller-manager"
	lease     = "lease/foo-controller"
	ofManager = "control-plane=controller-manager" // the label of its Pods
)

// TestMain deploys the operator, runs the tests, and deletes it again.
func TestMain(m *testing.M) { os.Exit(suite(m)) }

func suite(m *testing.M) (code int) {
	cluster := &kindCluster{}
	cluster.leaveWhenTold()
	defer func() {
		if err := cluster.leave(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	err := cluster.find()
	if err == nil {
		err = nothingIsThere()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "The end-to-end tests can't run here:", err)
		return 1
	}
	if err := bringImages(cluster); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := do("make", "undeploy"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	if err := deploy(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		dump(operator)
		return 1
	}
	if code = m.Run(); code != 0 {
		dump(operator)
	}
	return code
}

// nothingIsThere refuses a cluster that has the operator or its CRD, because make undeploy, at the
// end, would delete what the tests didn't create.
func nothingIsThere() error {
	for _, resource := range []string{"crd/" + crd, "namespace/" + operator} {
		said, err := utils.Exec("kubectl", "get", resource, "--ignore-not-found", "-o", "name")
		if err != nil {
			return err
		}
		if _, name, _ := strings.Cut(resource, "/"); strings.Contains(said, name) { // kubectl may say other things as well
			return fmt.Errorf("%s exists already, and at the end they would delete the operator, its CRD and every Foo there is: "+
				"do so yourself, by make undeploy, or unset KIND_CLUSTER and KUBECONFIG, and they make a cluster of their own", resource)
		}
	}
	return nil
}

// deploy returns when the operator runs: all tests need that.
func deploy() error {
	if err := do("make", "deploy", "IMG="+image()); err != nil {
		return err
	}
	return untilReady()
}

// untilReady waits for every copy. On the first start the certificate comes with the kubelet's next
// look at the Secret: that may take a minute or two.
func untilReady() error {
	return do("kubectl", "rollout", "status", "-n", operator, manager, "--timeout=5m")
}

// do runs a command of those that take long, and says so.
func do(name string, args ...string) error {
	fmt.Fprintln(os.Stderr, "e2e:", name, args)
	_, err := utils.Exec(name, args...)
	return err
}
