//go:build ignore

// Command openapi-schema prints the OpenAPI definitions of our types as JSON, the form in which
// applyconfiguration-gen reads them. The package that it imports exists only while
// update-codegen.sh runs.
package main

import (
	"encoding/json"
	"log"
	"os"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/operators/04-codegen/hack/openapi"
)

func main() {
	reference := func(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + friendly(name)) }
	definitions := spec.Definitions{}
	for name, definition := range openapi.GetOpenAPIDefinitions(reference) {
		schema := definition.Schema
		// A few types, such as IntOrString, differ in OpenAPI v2.
		if v2, ok := schema.Extensions[common.ExtensionV2Schema]; ok {
			schema = v2.(spec.Schema)
		}
		definitions[friendly(name)] = schema
	}
	info := &spec.Info{InfoProps: spec.InfoProps{Title: "Foo", Version: "v1alpha1"}}
	swagger := spec.Swagger{SwaggerProps: spec.SwaggerProps{Swagger: "2.0", Info: info, Definitions: definitions}}
	if err := json.NewEncoder(os.Stdout).Encode(swagger); err != nil {
		log.Fatal(err)
	}
}

// friendly returns a type's OpenAPI name. Kubernetes' own types already have theirs; ours are named
// by their Go package.
func friendly(name string) string {
	if strings.Contains(name, "/") {
		return util.ToRESTFriendlyName(name)
	}
	return name
}
