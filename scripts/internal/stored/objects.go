package stored

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// Object is an object in etcd.
type Object struct {
	Namespace, Name string // Namespace is "" if the resource has none
	metav1.TypeMeta        // the version in which it is stored

	value []byte
}

// elsewhere has the resources that have another name in etcd. The list is the API server's:
// SpecialDefaultResourcePrefixes in k8s.io/kubernetes/pkg/kubeapiserver.
var elsewhere = map[schema.GroupResource]string{
	{Resource: "replicationcontrollers"}:                "controllers",
	{Resource: "endpoints"}:                             "services/endpoints",
	{Resource: "nodes"}:                                 "minions",
	{Resource: "services"}:                              "services/specs",
	{Group: "networking.k8s.io", Resource: "ingresses"}: "ingress",
}

// prefixes returns the beginnings of a resource's keys. Those of custom resources and of a few
// others have the group.
func prefixes(resource schema.GroupResource) []string {
	if other, found := elsewhere[resource]; found {
		return []string{"/registry/" + other + "/"}
	}
	if resource.Group == "" {
		return []string{"/registry/" + resource.Resource + "/"}
	}
	if strings.Contains(resource.Group, ".") && !strings.HasSuffix(resource.Group, ".k8s.io") {
		return []string{"/registry/" + resource.Group + "/" + resource.Resource + "/"}
	}
	return []string{"/registry/" + resource.Group + "/" + resource.Resource + "/", "/registry/" + resource.Resource + "/"}
}

// Objects returns all objects of a resource.
func (e *Etcd) Objects(ctx context.Context, resource schema.GroupResource) (objects []Object, err error) {
	for _, prefix := range prefixes(resource) {
		err := e.each(ctx, prefix, func(found entry) error {
			object := Object{value: found.Value}
			// The rest of the key is the name, or the namespace and the name.
			rest := strings.TrimPrefix(string(found.Key), prefix)
			if namespace, name, namespaced := strings.Cut(rest, "/"); namespaced {
				object.Namespace, object.Name = namespace, name
			} else {
				object.Name = rest
			}
			var err error
			if object.TypeMeta, err = typeOf(found.Value); err != nil {
				return fmt.Errorf("%s in etcd: %w", found.Key, err)
			}
			objects = append(objects, object)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// protobufMagic begins the values of most built-in resources. Those of custom resources are JSON.
var protobufMagic = []byte("k8s\x00")

func typeOf(value []byte) (found metav1.TypeMeta, err error) {
	encoded, isProtobuf := bytes.CutPrefix(value, protobufMagic)
	if !isProtobuf {
		err = json.Unmarshal(value, &found)
		return found, err
	}
	var unknown runtime.Unknown
	err = unknown.Unmarshal(encoded)
	return metav1.TypeMeta{APIVersion: unknown.APIVersion, Kind: unknown.Kind}, err
}

// YAML returns the object as it is stored: in that version, with all of its fields.
func (o Object) YAML() ([]byte, error) {
	if !bytes.HasPrefix(o.value, protobufMagic) {
		return yaml.JSONToYAML(o.value)
	}
	decoded, _, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(o.value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding %s %s: %w", o.Kind, o.Name, err)
	}
	decoded.GetObjectKind().SetGroupVersionKind(o.GroupVersionKind())
	return yaml.Marshal(decoded)
}
