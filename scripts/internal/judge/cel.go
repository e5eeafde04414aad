package judge

// CEL expressions in judge.yaml. They have the functions that a CRD's validation rules have.

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// variables are those of every expression: the object that it is about, and the sample that this
// object belongs to. For a sample, both are the same.
var variables = environment.VersionedOptions{
	IntroducedVersion: version.MajorMinor(1, 0),
	EnvOptions:        []cel.EnvOption{cel.Variable("object", cel.DynType), cel.Variable("sample", cel.DynType)},
}

// Expression is a CEL expression whose result is a bool.
type Expression struct {
	text    string
	program cel.Program
}

// UnmarshalYAML compiles the expression.
func (e *Expression) UnmarshalYAML(node *yaml.Node) error {
	if err := e.compile(node.Value); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return nil
}

func (e *Expression) compile(text string) error {
	e.text = text
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(variables)
	if err != nil {
		return err
	}
	env, err := set.Env(environment.StoredExpressions)
	if err != nil {
		return err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return issues.Err()
	}
	if kind := ast.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return fmt.Errorf("the result is of type %s, and must be a bool", kind)
	}
	e.program, err = env.Program(ast, cel.CostLimit(1_000_000))
	return err
}

// holds returns nil if the expression is true, and otherwise why it isn't. An error in it, such as a
// field that isn't there yet, counts as false.
func (e *Expression) holds(object, sample *unstructured.Unstructured) error {
	result, _, err := e.program.Eval(map[string]any{"object": object.Object, "sample": sample.Object})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", e.text, err)
	case result.Type() != types.BoolType:
		return fmt.Errorf("%s: the result is %v, and must be a bool", e.text, result.Value())
	case result != types.True:
		return fmt.Errorf("not true: %s", e.text)
	}
	return nil
}
