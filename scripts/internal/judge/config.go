// Package judge holds any operator to the course's contract. This file reads judge.yaml, which tells
// what the operator manages, and how to see that it has done its work.
package judge

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Schema is the JSON schema of judge.yaml, version v1.
//
//go:embed schema.json
var Schema []byte

// Config is judge.yaml. All paths are absolute.
type Config struct {
	// Version is the version of this format: v1.
	Version string `json:"version"`
	// Args are arguments of the operator. Those of the command line follow.
	Args []string `json:"args"`
	// Manifests are files to apply before the operator starts: its CRDs, and whatever else it needs.
	Manifests []string `json:"manifests"`
	// Permissions is a file with the Roles and ClusterRoles of the operator, or "". Without it, the
	// operator may do everything, and nothing is said about permissions.
	Permissions string `json:"permissions"`
	// Samples are files with one object each, which the operator manages.
	Samples []string `json:"samples"`
	// Unique are the fields of a sample, such as spec.deploymentName, that must differ between two
	// samples in a namespace. The judge sets them to the sample's name.
	Unique []string `json:"unique"`
	// Owns are the kinds of objects that the operator creates for a sample.
	Owns []metav1.TypeMeta `json:"owns"`
	// Ready says when the operator has done its work for a sample.
	Ready Ready `json:"ready"`
	// Mutations are changes of the first sample, and their effects.
	Mutations []Mutation `json:"mutations"`
	// BadInput are changes of a sample that the operator must refuse. They have no expectations.
	BadInput []Mutation `json:"badInput"`
	// UnusedPermissions say why the operator needs permissions that it doesn't use here, such as
	// update secrets.
	UnusedPermissions map[string]string `json:"unusedPermissions"`
	// Cost are the numbers of objects for the check cost, such as 10, 100 and 1000.
	Cost []int `json:"cost"`
	// SecondReplica has the arguments that each of several replicas needs. It is nil if there can be only one.
	SecondReplica *Replica `json:"secondReplica"`
	// Endpoints are the operator's, and may be empty.
	Endpoints Endpoints `json:"endpoints"`
	// Limits are the longest times to wait.
	Limits Limits `json:"limits"`
}

// Ready is either the type of a condition that must be True, or a CEL expression about the object.
type Ready struct {
	Condition string `json:"condition"`
	CEL       string `json:"cel"`
}

// Mutation is a JSON merge patch of a sample, and what must become true of owned objects.
type Mutation struct {
	Name   string          `json:"name"`
	Patch  json.RawMessage `json:"patch"`
	Expect []Expectation   `json:"expect"`
}

// Expectation is about the objects of a kind that the sample owns.
type Expectation struct {
	Kind string `json:"kind"`
	// CEL is an expression that is true for at least one of them. It may be "".
	CEL string `json:"cel,omitempty"`
	// Count is how many there are. Without it, any number will do.
	Count *int `json:"count,omitempty"`
}

// Replica has arguments for one replica of the operator.
type Replica struct {
	Args []string `json:"args"`
}

// Endpoints are URLs on the loopback interface.
type Endpoints struct {
	Metrics string `json:"metrics"`
	Healthz string `json:"healthz"`
	Readyz  string `json:"readyz"`
}

// Limits are durations such as 30s. Read sets those that are missing.
type Limits struct {
	// Converge is for the operator to do its work: 30 s by default.
	Converge metav1.Duration `json:"converge"`
	// Recover is for the operator to do its work after a fault: 60 s by default.
	Recover metav1.Duration `json:"recover"`
	// Quiet is how long the operator is watched to see whether it writes: 10 s by default.
	Quiet metav1.Duration `json:"quiet"`
	// Shutdown is for the operator to end after SIGTERM: 30 s by default, which is a Pod's.
	Shutdown metav1.Duration `json:"shutdown"`
	// WritesPerObject is how often an object may be written until the sample is ready. The default of
	// 5 allows for a finalizer and for a status for each step on the way.
	WritesPerObject int `json:"writesPerObject"`
}

// Read reads judge.yaml. An error names each bad line and its field.
func Read(file string) (*Config, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(document.Content) == 0 {
		return nil, fmt.Errorf("%s is empty: judge init writes one", file)
	}
	root := document.Content[0]
	var value any
	if err := root.Decode(&value); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := validate(file, root, value); err != nil {
		return nil, err
	}
	content, err = json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	config := NewConfig()
	if err := json.Unmarshal(content, config); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return config, config.findFiles(file, root)
}

// NewConfig returns a Config with the default limits.
func NewConfig() *Config {
	return &Config{Version: "v1", Limits: Limits{
		Converge: metav1.Duration{Duration: 30 * time.Second},
		Recover:  metav1.Duration{Duration: 60 * time.Second},
		Quiet:    metav1.Duration{Duration: 10 * time.Second},
		Shutdown: metav1.Duration{Duration: 30 * time.Second},

		WritesPerObject: 5,
	}}
}

// findFiles makes all paths absolute. They are relative to judge.yaml.
func (c *Config) findFiles(file string, root *yaml.Node) (err error) {
	find := func(path string, at ...string) string {
		absolute := path
		if !filepath.IsAbs(path) {
			absolute = filepath.Join(filepath.Dir(file), path)
		}
		if _, failed := os.Stat(absolute); failed != nil {
			err = errors.Join(err, mistake(file, root, at, fmt.Sprintf("there is no file %s", absolute)))
		}
		return absolute
	}
	for i := range c.Manifests {
		c.Manifests[i] = find(c.Manifests[i], "manifests", strconv.Itoa(i))
	}
	for i := range c.Samples {
		c.Samples[i] = find(c.Samples[i], "samples", strconv.Itoa(i))
	}
	if c.Permissions != "" {
		c.Permissions = find(c.Permissions, "permissions")
	}
	return err
}

// validate checks the value against the schema. The error has a line for each leaf of the schema's
// errors, in the order of the file.
func validate(file string, root *yaml.Node, value any) error {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return fmt.Errorf("the schema of judge.yaml: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("judge.schema.json", parsed); err != nil {
		return fmt.Errorf("the schema of judge.yaml: %w", err)
	}
	schema, err := compiler.Compile("judge.schema.json")
	if err != nil {
		return fmt.Errorf("the schema of judge.yaml: %w", err)
	}
	var invalid *jsonschema.ValidationError
	if err = schema.Validate(value); !errors.As(err, &invalid) {
		return err
	}
	var problems []error
	english := message.NewPrinter(language.English)
	for _, leaf := range causes(invalid) {
		unknown, isUnknown := leaf.ErrorKind.(*kind.AdditionalProperties)
		if !isUnknown {
			problems = append(problems, mistake(file, root, leaf.InstanceLocation, leaf.ErrorKind.LocalizedString(english)))
			continue
		}
		for _, property := range unknown.Properties {
			at := append(slices.Clone(leaf.InstanceLocation), property)
			problems = append(problems, mistake(file, root, at, "there is no such field: judge explain judge.yaml "+
				"lists all fields"))
		}
	}
	return errors.Join(problems...)
}

func causes(of *jsonschema.ValidationError) (found []*jsonschema.ValidationError) {
	if len(of.Causes) == 0 {
		return []*jsonschema.ValidationError{of}
	}
	for _, cause := range of.Causes {
		found = append(found, causes(cause)...)
	}
	slices.SortStableFunc(found, func(a, b *jsonschema.ValidationError) int {
		return slices.Compare(a.InstanceLocation, b.InstanceLocation)
	})
	return found
}

// mistake is an error about the field at that place.
func mistake(file string, root *yaml.Node, at []string, text string) error {
	field := strings.Join(at, ".")
	if field == "" {
		field = "the file"
	}
	return fmt.Errorf("%s:%d: %s: %s", file, line(root, at), field, text)
}

// line returns the line of the field at that place, or that of the nearest field around it.
func line(node *yaml.Node, at []string) int {
	if len(at) == 0 {
		return node.Line
	}
	switch node.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(at[0]); err == nil && i < len(node.Content) {
			return line(node.Content[i], at[1:])
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key := node.Content[i]; key.Value == at[0] {
				if len(at) == 1 {
					return key.Line
				}
				return line(node.Content[i+1], at[1:])
			}
		}
	}
	return node.Line
}
