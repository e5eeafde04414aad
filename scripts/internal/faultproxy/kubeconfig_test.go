package faultproxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestKubeconfig(t *testing.T) {
	_, proxy, config := setup(t)
	if config.Host != proxy.Address() || string(config.CAData) != string(proxy.CAData()) || config.BearerToken != token {
		t.Errorf("the kubeconfig says %+v", config)
	}
	if !strings.HasPrefix(proxy.Address(), "https://127.0.0.1:") {
		t.Errorf("the proxy is at %s", proxy.Address())
	}

	directory := t.TempDir()
	inFile := kubeconfig("https://127.0.0.1:1")
	inFile.AuthInfos["program"].Token, inFile.AuthInfos["program"].TokenFile = "", "token"
	certificate := kubeconfig("https://127.0.0.1:1")
	certificate.AuthInfos["program"].ClientCertificate = "admin.crt"
	for name, config := range map[string]clientcmdapi.Config{"file": inFile, "certificate": certificate} {
		if err := clientcmd.WriteToFile(config, filepath.Join(directory, name)); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(t.TempDir(), "kubeconfig")
	if err := proxy.Kubeconfig(filepath.Join(directory, "file"), copied); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(copied); err != nil || !strings.Contains(string(content), filepath.Join(directory, "token")) {
		t.Errorf("a path relative to the original has to hold in the copy: %s, %v", content, err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info, err)
	}
	for sentence, test := range map[string]struct{ original, want string }{
		"a client certificate can't pass": {"certificate", "use a token"},
		"a file that isn't there":         {"none", "read the kubeconfig"},
	} {
		err := proxy.Kubeconfig(filepath.Join(directory, test.original), filepath.Join(directory, "copy"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", sentence, err, test.want)
		}
	}
}
