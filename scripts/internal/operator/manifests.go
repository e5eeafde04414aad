package operator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// ReadObjects reads a file with YAML.
func ReadObjects(file string) (objects []*unstructured.Unstructured, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}
