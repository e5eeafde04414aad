package operator

import (
	"os"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/clientcmd"
)

func TestWriteKubeconfig(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		status := authenticationv1.TokenRequestStatus{Token: "secret"}
		return action.GetSubresource() == "token", &authenticationv1.TokenRequest{Status: status}, nil
	})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	cluster := &rest.Config{
		Host: "https://127.0.0.1:1", BearerToken: "the administrator's",
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")},
	}
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
