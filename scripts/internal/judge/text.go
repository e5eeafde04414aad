package judge

// How objects, bodies and errors look in findings.

import (
	"bytes"
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/audit"
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

// mentionsFinalizers reports whether a body sets finalizers.
func mentionsFinalizers(body string) bool {
	return bytes.Contains([]byte(audit.Readable(body)), []byte(`finalizers`))
}

// random matches what differs between two runs: the namespace, and how long it took.
var random = regexp.MustCompile(`judge-[a-z0-9]{5}\b| \(after [^)]*\)`)

// plain is an error's text without that.
func (s *scenario) plain(err error) string { return random.ReplaceAllString(err.Error(), "") }
