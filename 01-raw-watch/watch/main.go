// Command watch opens one watch and prints its events until the server ends it. That is all there
// is to a watch: a GET whose response doesn't end. ../listwatch also lists the existing objects
// first, and starts the next watch when one ends.
//
//	go run ./01-raw-watch/watch /api/v1/namespaces/default/pods
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	flag.Parse()
	if err := watch(*kubeconfig, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "watch:", err)
		os.Exit(1)
	}
}

// watch prints the changes in the collection at path, such as /api/v1/pods.
func watch(kubeconfig, path string) error {
	if path == "" {
		return errors.New("which collection? Give its path, such as /api/v1/pods")
	}

	// 1. Credentials: the only thing that client-go does here.
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	files := strings.Join(rules.GetLoadingPrecedence(), ", ")
	if clientcmd.IsEmptyConfig(err) {
		return fmt.Errorf("kubeconfig %s names no cluster: is it missing, empty, or without a current-context? "+
			"Fix it, or name another with --kubeconfig or KUBECONFIG", files)
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", files, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}

	// 2. GET.
	response, err := client.Get(config.Host + path + "?watch=true")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}

	// 3. Decode and print one JSON object after another.
	decoder := json.NewDecoder(response.Body)
	for {
		var event struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		fmt.Printf("%-8s  %s %s  resourceVersion=%s\n",
			event.Type, event.Object.Kind, event.Object.Name, event.Object.ResourceVersion)
	}
}
