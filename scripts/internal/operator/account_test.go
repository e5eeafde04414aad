package operator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/clientcmd"
)

func TestGrantAndRevokeMayBeRepeated(t *testing.T) {
	client := fake.NewClientset()
	asked := knowsGrantsLate(client)
	deletesCollections(client)
	p, err := parsePermissions([]byte(manyObjects))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Grant(t.Context(), client, "a"); err != nil {
			t.Fatal(err)
		}
	}
	bindings, err := client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(bindings.Items) != 2 {
		t.Fatalf("bindings %v, error %v", bindings, err)
	}
	if role, err := client.RbacV1().Roles("a").Get(t.Context(), "leads", metav1.GetOptions{}); err != nil || len(role.Rules) != 1 {
		t.Errorf("in its namespace it may %v (%v)", role, err)
	}
	if want := []string{"update leases in a", "get deployments in a"}; !slices.Equal(slices.Compact(*asked), slices.Concat(want, want)) {
		t.Errorf("asked until they were granted: %v", *asked)
	}
	if subject := bindings.Items[0].Subjects[0]; subject.Namespace != "a" || subject.Name != ServiceAccount {
		t.Errorf("bound to %+v", subject)
	}
	for range 2 {
		if err := Revoke(t.Context(), client, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if bindings, err := client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{}); err != nil || len(bindings.Items) > 0 {
		t.Errorf("left are %v, error %v", bindings, err)
	}
	if roles, err := client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{}); err != nil || len(roles.Items) > 0 {
		t.Errorf("left are %v, error %v", roles, err)
	}
}

// deletesCollections makes the fake client delete collections by label, which it doesn't support by
// itself.
func deletesCollections(client *fake.Clientset) {
	client.PrependReactor("delete-collection", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		kind := map[string]string{"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding"}[action.GetResource().Resource]
		all, err := client.Tracker().List(action.GetResource(), rbacv1.SchemeGroupVersion.WithKind(kind), "")
		if err != nil {
			return true, nil, err
		}
		selector := action.(clienttesting.DeleteCollectionAction).GetListRestrictions().Labels
		return true, nil, meta.EachListItem(all, func(object runtime.Object) error {
			found, err := meta.Accessor(object)
			if err != nil || !selector.Matches(labels.Set(found.GetLabels())) {
				return err
			}
			return client.Tracker().Delete(action.GetResource(), "", found.GetName())
		})
	})
}

// knowsGrantsLate makes the server answer no to every other SubjectAccessReview, and returns the
// reviews.
func knowsGrantsLate(client *fake.Clientset) (asked *[]string) {
	asked = &[]string{}
	client.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		about := review.Spec.ResourceAttributes
		*asked = append(*asked, fmt.Sprintf("%s %s in %s", about.Verb, about.Resource, about.Namespace))
		review.Status.Allowed = len(*asked)%2 == 0
		return true, review, nil
	})
	return asked
}

func TestWriteKubeconfig(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.GetSubresource() == "token", &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: "secret"}}, nil
	})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	cluster := &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}, BearerToken: "the administrator's"}
	if err := WriteKubeconfig(t.Context(), client, cluster, "a", ServiceAccount, path); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != cluster.Host || config.BearerToken != "secret" || string(config.CAData) != "ca" {
		t.Errorf("the kubeconfig says %+v", config)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}
