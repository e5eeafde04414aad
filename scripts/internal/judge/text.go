package judge

// How objects, bodies and errors look in findings.

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// text is an object as YAML, without managedFields.
func text(object *unstructured.Unstructured) string {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	return asYAML(object.Object)
}

func asYAML(value any) string {
	content, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// readable is a body as JSON, or as YAML, which is how a server-side apply may look.
func readable(body string) string {
	if !strings.HasPrefix(body, "k8s\x00") {
		return body
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(body), nil, nil)
	if err != nil {
		return "(protobuf)"
	}
	content, err := json.Marshal(object)
	if err != nil {
		return "(protobuf)"
	}
	return string(content)
}

// mentionsFinalizers reports whether a body sets finalizers.
func mentionsFinalizers(body string) bool {
	return bytes.Contains([]byte(readable(body)), []byte(`finalizers`))
}

// random matches what differs between two runs: the namespace, and how long it took.
var random = regexp.MustCompile(`judge-[a-z0-9]{5}\b| \(after [^)]*\)`)

// plain is an error's text without that.
func (b *Bench) plain(err error) string { return random.ReplaceAllString(err.Error(), "") }
