package cluster

// Reading objects from etcd, as the API server has written them. The API server itself can't show
// that, because it converts each object to the version that the client asks for.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// StoredObject is a custom object in etcd.
type StoredObject struct {
	Namespace, Name string // Namespace is "" if the resource has none
	metav1.TypeMeta        // the version in which it is stored
	JSON            []byte
}

// Stored returns all objects of a custom resource. It reads them with the API server's certificate.
func (c *Cluster) Stored(ctx context.Context, resource schema.GroupResource) (objects []StoredObject, err error) {
	prefix := "/registry/" + resource.Group + "/" + resource.Resource + "/"
	entries, err := c.etcdRange(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("reading %s from etcd: %w", prefix, err)
	}
	for _, found := range entries {
		object := StoredObject{JSON: found.Value}
		// The rest of the key is the name, or the namespace and the name.
		rest := strings.TrimPrefix(string(found.Key), prefix)
		var namespaced bool
		if object.Namespace, object.Name, namespaced = strings.Cut(rest, "/"); !namespaced {
			object.Namespace, object.Name = "", rest
		}
		if err := json.Unmarshal(found.Value, &object.TypeMeta); err != nil {
			return nil, fmt.Errorf("%s in etcd: %w", found.Key, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// entry is a key and its value. In JSON, both are in base64.
type entry struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

// etcdRange returns the entries whose keys begin with prefix, in the order of the keys. etcd serves
// its API as JSON too, so this needs no gRPC. See
// https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/.
func (c *Cluster) etcdRange(ctx context.Context, prefix string) ([]entry, error) {
	first, err := c.firstPort()
	if err != nil {
		return nil, err
	}
	path := func(file string) string { return filepath.Join(c.dir, file) }
	client, err := rest.HTTPClientFor(&rest.Config{
		TLSClientConfig: rest.TLSClientConfig{CAFile: path(caFile), CertFile: path(certFile), KeyFile: path(keyFile)},
	})
	if err != nil {
		return nil, err
	}
	end := []byte(prefix)
	end[len(end)-1]++ // the first key after all that have the prefix
	asked, err := json.Marshal(map[string]any{"key": []byte(prefix), "range_end": end})
	if err != nil {
		return nil, err
	}
	url := httpsURL(first+etcdPort) + "/v3/kv/range"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(asked))
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	if err != nil {
		return nil, err
	}
	var got struct {
		Kvs []entry `json:"kvs"`
	}
	err = json.Unmarshal(answer, &got)
	return got.Kvs, err
}
