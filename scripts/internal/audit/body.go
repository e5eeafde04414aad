package audit

import (
	"encoding/json"
	"strings"

	"k8s.io/client-go/kubernetes/scheme"
)

// Readable is a request's body as JSON, or as YAML, which is how a server-side apply may look.
func Readable(body string) string {
	if !strings.HasPrefix(body, "k8s\x00") { // the prefix of protobuf
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
