package operator

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/problem"
)

// mounts is a shell script. It mounts the folder $0 where a Pod has its ServiceAccount's files, and
// then becomes the command in its arguments.
const mounts = `files=/var/run/secrets/kubernetes.io/serviceaccount
mount -t tmpfs tmpfs /var/run && mkdir -p $files && mount --bind "$0" $files && exec "$@"`

// CanImitatePods returns why InPod can't work on this machine, or nil.
func CanImitatePods() error {
	cant := problem.New("operators can't run as in a Pod on this machine").
		ToDo("give the operator a kubeconfig, or use Linux, with user namespaces for everybody")
	if runtime.GOOS != "linux" {
		return cant
	}
	command := exec.Command("sh", "-c", mounts, os.TempDir(), "true")
	command.SysProcAttr = &syscall.SysProcAttr{}
	separate(command.SysProcAttr)
	if output, err := command.CombinedOutput(); err != nil {
		return cant.Because(fmt.Errorf("%w: %s", err, output))
	}
	return nil
}

// inPod changes options so that the process finds the API server as in a Pod of the namespace: by
// variables, and by files that only this process sees. dir is a new folder for them.
func inPod(options *Options, config *rest.Config, dir string) error {
	server, err := url.Parse(config.Host)
	err = errors.Join(err, os.Mkdir(dir, 0o700))
	for name, content := range map[string]string{
		"token": config.BearerToken, "ca.crt": string(config.CAData), "namespace": options.InPod,
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	options.Args = append([]string{"-c", mounts, dir, options.Binary}, options.Args...)
	options.Binary = "sh"
	options.Env = append(options.Env, "KUBERNETES_SERVICE_HOST="+server.Hostname(), "KUBERNETES_SERVICE_PORT="+server.Port(),
		"KUBECONFIG=", "HOME="+dir) // the user's ~/.kube isn't there
	return err
}
