// The Helm chart of chapter 02's imageswap, rendered in this process, and used on an API server.

package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/testkit"
)

// chapter02 is a function, because each test has to read the environment: see testkit.Repository.
func chapter02() string { return filepath.Join(testkit.Repository(), "02-informers") }

func TestTheSwappersChart(t *testing.T) {
	files, err := renderSwapper(t, "namespace: shop", "default")
	must(t, err)
	objects := parseObjects(t, files)

	var role rbacv1.Role
	decode(t, objects["Role shop/swap"], &role)
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list", "watch", "update"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}},
	}
	if diff := cmp.Diff(want, role.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	var binding rbacv1.RoleBinding
	decode(t, objects["RoleBinding shop/swap"], &binding)
	if diff := cmp.Diff([]rbacv1.Subject{{Kind: "ServiceAccount", Name: "swap", Namespace: "default"}}, binding.Subjects); diff != "" || binding.RoleRef.Name != "swap" {
		t.Errorf("it binds %s, subjects (-want +got):\n%s", binding.RoleRef.Name, diff)
	}
	wantObjects := []string{"Deployment default/swap", "Role shop/swap", "RoleBinding shop/swap", "ServiceAccount default/swap"}
	if got := slices.Sorted(maps.Keys(objects)); !slices.Equal(got, wantObjects) {
		t.Errorf("objects %q, want %q", got, wantObjects)
	}
	for _, want := range []string{"args:[--namespace=shop]", "replicas:1", "type:Recreate"} { // never two at a time
		if deployment := fmt.Sprint(objects["Deployment default/swap"]); !strings.Contains(deployment, want) {
			t.Errorf("the Deployment has no %s: %s", want, deployment)
		}
	}
}

func TestTheSwappersChartRefuses(t *testing.T) {
	for sentence, test := range map[string]struct{ values, want string }{
		"no namespace":          {"", "missing property 'namespace'"},
		"its own namespace":     {"namespace: default", "imageswap would change its own image"},
		"a misspelled value":    {"namespace: shop, images: {}", "'images'"},
		"more than one replica": {"namespace: shop, replicas: 2", "'replicas'"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := renderSwapper(t, test.values, "default")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one that contains %q", err, test.want)
			}
		})
	}
}

// The chart's account may do all that the program needs, and its Pods are as restricted as can be.
// The nodes of this cluster run no containers, so the program runs here, as that account.
func TestTheSwapperWithTheChartsPermissions(t *testing.T) {
	must := func(err error) { t.Helper(); must(t, err) }
	config, client := testkit.Cluster(t)
	k := cluster.Kubectl{Binary: os.Getenv("TEST_KUBECTL"), Kubeconfig: os.Getenv("TEST_KUBECONFIG")}
	restricted := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	home, shop := testkit.NewNamespace(t, client, "imageswap-", restricted), testkit.NewNamespace(t, client, "shop-", nil)

	files, err := renderSwapper(t, "namespace: "+shop, home)
	must(err)
	must(k.Apply(t.Context(), []byte(files)))
	testkit.Await(t, time.Minute, "the namespace admits the chart's Pod", func() error {
		deployment, err := client.AppsV1().Deployments(home).Get(t.Context(), "swap", metav1.GetOptions{})
		if err == nil && deployment.Status.Replicas != 1 {
			err = fmt.Errorf("it has the status %+v", deployment.Status)
		}
		return err
	})

	dir := t.TempDir()
	binary, kubeconfig := filepath.Join(dir, "imageswap"), filepath.Join(dir, "kubeconfig")
	must(gobuild.Build{What: "imageswap", Dir: chapter02(), Args: []string{"-o", binary, "./imageswap"}}.Run(t.Context()))
	must(operator.WriteKubeconfig(t.Context(), client, config, home, "swap", kubeconfig))
	var log bytes.Buffer
	swapper := exec.CommandContext(t.Context(), binary, "--kubeconfig", kubeconfig, "--namespace", shop)
	swapper.Stderr = &log
	must(swapper.Start())
	_, err = k.Run(t.Context(), "create", "deployment", "web", "--image=old", "--namespace", shop)
	must(err)
	_, err = k.Run(t.Context(), "create", "configmap", "imageswap", "--from-literal=image=new", "--namespace", shop)
	must(err)
	testkit.Await(t, time.Minute, "the Deployment has the new image", func() error {
		deployment, err := client.AppsV1().Deployments(shop).Get(t.Context(), "web", metav1.GetOptions{})
		if err == nil && deployment.Spec.Template.Spec.Containers[0].Image != "new" {
			err = errors.New("it still has the old one")
		}
		return err
	})
	must(swapper.Process.Signal(os.Interrupt))
	must(swapper.Wait())
	if strings.Contains(log.String(), "forbidden") {
		t.Errorf("it lacks permissions:\n%s", &log)
	}
	// After a conflict, it reads the Deployment.
	if _, err := k.Run(t.Context(), "auth", "can-i", "get", "deployments/web", "--namespace", shop, "--as=system:serviceaccount:"+home+":swap"); err != nil {
		t.Errorf("may it get a Deployment? %v", err)
	}
}

// renderSwapper returns the objects of the chart.
func renderSwapper(t *testing.T, values, namespace string) (string, error) {
	t.Helper()
	return renderChart(t, filepath.Join(chapter02(), "imageswap", "chart"), "swap", values, namespace)
}
