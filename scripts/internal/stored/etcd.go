// Package stored reads objects from etcd, as the API server has written them. The API server itself
// can't show that, because it converts each object to the version that the client asks for.
package stored

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// Etcd is an etcd that serves its API as JSON too, which is the default. So this package needs no
// gRPC. See https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/.
type Etcd struct {
	url  string
	http *http.Client
}

// Connect returns the etcd at config's host.
func Connect(config *rest.Config) (*Etcd, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd: %w", err)
	}
	client.Timeout = 30 * time.Second
	return &Etcd{config.Host, client}, nil
}

// entry is a key and its value. In JSON, both are in base64.
type entry struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

// pageSize is the number of entries in one response. With 1.5 MiB, the largest objects that etcd
// accepts, that's 150 MiB.
const pageSize = 100

// each calls do for each entry whose key begins with prefix, in the order of the keys.
func (e *Etcd) each(ctx context.Context, prefix string, do func(entry) error) error {
	from, end := []byte(prefix), []byte(prefix)
	end[len(end)-1]++ // the first key after all that have the prefix
	for {
		page, err := e.get(ctx, from, end)
		if err != nil {
			return fmt.Errorf("reading %s from etcd: %w", prefix, err)
		}
		for _, found := range page {
			if err := do(found); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		from = append(page[len(page)-1].Key, 0) // the next possible key
	}
}

// get returns the first entries with keys from one on, and before another one.
func (e *Etcd) get(ctx context.Context, from, before []byte) ([]entry, error) {
	asked, err := json.Marshal(map[string]any{"key": from, "range_end": before, "limit": pageSize})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/v3/kv/range", bytes.NewReader(asked))
	if err != nil {
		return nil, err
	}
	response, err := e.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		message, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return nil, fmt.Errorf("%s: %s", response.Status, message)
	}
	var got struct {
		Kvs []entry `json:"kvs"`
	}
	err = json.NewDecoder(response.Body).Decode(&got)
	return got.Kvs, err
}
