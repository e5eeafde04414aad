package cluster

// Reading objects from etcd, as the API server has written them. The API server itself can't show
// that, because it converts each object to the version that the client asks for.

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// StoredObject is a custom object in etcd, in the version in which it is stored.
type StoredObject struct {
	metav1.PartialObjectMetadata
	JSON []byte
}

// Stored returns all objects of a custom resource. It reads them with the API server's certificate.
func (c *Cluster) Stored(ctx context.Context, resource schema.GroupResource) (objects []StoredObject, err error) {
	prefix := "/registry/" + resource.Group + "/" + resource.Resource + "/"
	values, err := c.etcdRange(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("reading %s from etcd: %w", prefix, err)
	}
	for _, value := range values {
		object := StoredObject{JSON: value}
		if err := json.Unmarshal(value, &object.PartialObjectMetadata); err != nil {
			return nil, fmt.Errorf("%s in etcd: %w", prefix, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// etcdRange returns the values whose keys begin with prefix, in the order of the keys. etcd serves
// its API as JSON too, so this needs no gRPC. See
// https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/.
func (c *Cluster) etcdRange(ctx context.Context, prefix string) (values [][]byte, err error) {
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
	end := []byte(prefix)
	end[len(end)-1]++ // the first key after all that have the prefix
	query, err := json.Marshal(map[string]any{"key": []byte(prefix), "range_end": end})
	if err != nil {
		return nil, err
	}
	answer, err := client.Post().AbsPath("/v3/kv/range").Body(query).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var got struct {
		Kvs []struct{ Value []byte } // in base64
	}
	err = json.Unmarshal(answer, &got)
	for _, entry := range got.Kvs {
		values = append(values, entry.Value)
	}
	return values, err
}
