package cluster

// Reading objects from etcd, as the API server has written them. The API server itself can't show
// that, because it converts each object to the version that the client asks for.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Stored returns all objects of a custom resource, in the version in which they are stored. It reads
// them with the API server's certificate. etcd serves its API as JSON too, so this needs no gRPC. See
// https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/.
func (c *Cluster) Stored(ctx context.Context, resource schema.GroupResource) ([]unstructured.Unstructured, error) {
	first, err := c.firstPort()
	if err != nil {
		return nil, err
	}
	path := func(file string) string { return filepath.Join(c.dir, file) }
	client, err := rest.UnversionedRESTClientFor(&rest.Config{
		Host:            httpsURL(first + etcdPort),
		TLSClientConfig: rest.TLSClientConfig{CAFile: path(caFile), CertFile: path(certFile), KeyFile: path(keyFile)},
		ContentConfig:   rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()},
	})
	if err != nil {
		return nil, err
	}
	prefix := []byte("/registry/" + resource.Group + "/" + resource.Resource + "/")
	end := bytes.Clone(prefix)
	end[len(end)-1]++ // the first key after all that have the prefix
	query, err := json.Marshal(map[string]any{"key": prefix, "range_end": end})
	if err != nil {
		return nil, err
	}
	answer, err := client.Post().AbsPath("/v3/kv/range").Body(query).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading %s from etcd: %w", prefix, err)
	}
	var found struct {
		Kvs []struct{ Value []byte } // in base64
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, err
	}
	objects := make([]unstructured.Unstructured, len(found.Kvs))
	for i, entry := range found.Kvs {
		err = errors.Join(err, objects[i].UnmarshalJSON(entry.Value))
	}
	return objects, err
}
