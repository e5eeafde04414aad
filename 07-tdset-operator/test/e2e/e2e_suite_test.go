//go:build e2e

// Package e2e tests the operator as it is shipped, on a kind cluster: the tests build and load the
// image and apply the content of dist/install.yaml, a kubelet runs the manager, and the API server
// calls its webhooks through their Service. This needs docker and kubectl. `make test-e2e` passes
// on these environment variables:
//
//   - KIND_CLUSTER and KUBECONFIG: the name of your kind cluster, and the path of its kubeconfig. Both
//     are needed, so that no cluster is used by accident. At the end the tests delete the operator,
//     its CRD, and so every TDSet. That is why they refuse a cluster that has the CRD or the operator's
//     namespace already. (After Ctrl-C, run make undeploy.) Without both variables, the tests create
//     a cluster, and delete it at the end.
//   - KIND_NODE_IMAGE: the image of the created cluster's nodes (default: kind's).
//   - IMG: the image to build and deploy (default: tdset-operator:dev). DOCKER_BUILD: the target that
//     builds it, docker-build, or docker-prebuilt if you can't pull the golang image.
//   - KIND: the command that runs kind (default: kind).
//   - CERT_MANAGER: the file or URL of cert-manager's manifests, which the tests apply if the
//     cluster has no cert-manager (default: a release).
//
// Only cert-manager's images are pulled: the tests also build the one for their Pods (stand-in).
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/07-tdset-operator/test/utils"
)

const (
	operator  = "tdset-operator-system" // the operator's namespace
	crd       = "tdsets.schedule.rs"
	manager   = "deployment/tdset-operator-controller-manager"
	lease     = "lease/tdset-controller"
	ofManager = "control-plane=controller-manager" // the label of its Pods
)

// TestMain deploys the operator, runs the tests, and deletes it again.
func TestMain(m *testing.M) { os.Exit(suite(m)) }

func suite(m *testing.M) (code int) {
	cluster := &kindCluster{}
	cluster.cleanUpOnSignal()
	defer func() {
		if err := cluster.cleanUp(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	err := cluster.find()
	if err == nil {
		err = nothingIsInstalled()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the end-to-end tests can't run here:", err)
		return 1
	}
	if err := errors.Join(loadImages(cluster), installCertManager(cluster)); err != nil {
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

// nothingIsInstalled refuses a cluster that has the operator or its CRD, because make undeploy, at
// the end, would delete objects that the tests didn't create.
func nothingIsInstalled() error {
	for _, resource := range []string{"crd/" + crd, "namespace/" + operator} {
		found, err := utils.Exec("kubectl", "get", resource, "--ignore-not-found", "-o", "name")
		if err != nil {
			return err
		}
		if _, name, _ := strings.Cut(resource, "/"); strings.Contains(found, name) { // the output may also have warnings
			return fmt.Errorf("%s exists already, and at the end the tests would delete the operator, its CRD and every TDSet: "+
				"run make undeploy yourself, or unset KIND_CLUSTER and KUBECONFIG, so that the tests create one", resource)
		}
	}
	return nil
}

// deploy deploys the operator, and returns when it is ready.
func deploy() error {
	if err := do("make", "deploy", "IMG="+image()); err != nil {
		return err
	}
	return untilReady()
}

// untilReady waits for every replica, and until the API server reaches the webhook. If a Pod is
// created before its certificate's Secret, the kubelet may take two minutes to notice that. Then
// kube-proxy needs a moment to direct the Service to the Pods.
func untilReady() error {
	if err := do("kubectl", "rollout", "status", "-n", operator, manager, "--timeout=5m"); err != nil {
		return err
	}
	var refused error
	err := wait.PollUntilContextTimeout(context.Background(), time.Second, 3*time.Minute, true, func(context.Context) (bool, error) {
		_, refused = tryApply("default", "probe", always(lingering, 1), "--dry-run=server")
		return refused == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server doesn't reach the webhook: %w", refused)
	}
	return nil
}

// do runs a long command, and prints it first.
func do(name string, args ...string) error {
	fmt.Fprintln(os.Stderr, "e2e:", name, args)
	_, err := utils.Exec(name, args...)
	return err
}
