package judge

// Reading judge.yaml, which says what the operator manages, and how to see that it has done its work.

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
)

// Reference is a judge.yaml with all fields, which describes them.
//
//go:embed reference.yaml
var Reference string

// Config is judge.yaml. Reference describes the fields. All paths are absolute.
type Config struct {
	Version           string
	Args              []string
	Env               map[string]string
	InCluster         bool `yaml:"inCluster"`
	Manifests         []string
	Permissions       []string
	UnusedPermissions map[string]string       `yaml:"unusedPermissions"`
	SecondReplica     struct{ Args []string } `yaml:"secondReplica"` // nil: only one can run
	Webhooks          []string
	Endpoints         map[string]string // URLs
	Limits            Limits
	Managed           `yaml:",inline"`
	// Others are further kinds that the operator manages: the other documents of judge.yaml.
	Others []Managed `yaml:"-"`
	// From is the program of an older version, which --from names, or "".
	From string `yaml:"-"`
}

// Managed is what judge.yaml says about one kind that the operator manages.
type Managed struct {
	InNamespace []string `yaml:"inNamespace"`
	Samples     []string
	Unique      []string
	Owns        []Kind
	Ready       Ready
	Mutations   []Mutation
	BadInput    []Change `yaml:"badInput"`
	Cost        []int
}

// kinds are all that the operator manages, in the order of judge.yaml.
func (c *Config) kinds() []Managed { return append([]Managed{c.Managed}, c.Others...) }

// Kind is a kind of objects.
type Kind struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
}

func (k Kind) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
}

// Ready says when the operator has done its work for a sample. Without either field, any sample is
// ready.
type Ready struct {
	Condition string
	CEL       *Expression
}

// Change is a JSON merge patch of a sample.
type Change struct {
	Name  string
	Patch map[string]any
}

// Mutation is a change, and what must become true of owned objects.
type Mutation struct {
	Change `yaml:",inline"`
	Expect []Expectation
}

// Expectation is about the objects of a kind that the sample owns. CEL and Count may be nil.
type Expectation struct {
	Kind  string
	CEL   *Expression
	Count *int
}

// Limits are the longest times to wait, and the most writes.
type Limits struct {
	Converge, Recover, Quiet, Shutdown time.Duration

	WritesPerObject int `yaml:"writesPerObject"`
}

// NewConfig returns a Config with the default limits.
func NewConfig() *Config {
	return &Config{Limits: Limits{
		Converge: 30 * time.Second, Recover: 60 * time.Second, Quiet: 10 * time.Second, Shutdown: 30 * time.Second,
		WritesPerObject: 5,
	}}
}

// Read reads judge.yaml.
func Read(file string) (*Config, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	config := NewConfig()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	err = decoder.Decode(config)
	for err == nil {
		var other Managed
		if err = decoder.Decode(&other); err == nil {
			config.Others = append(config.Others, other)
		}
	}
	if errors.Is(err, io.EOF) {
		err = errors.Join(config.validate(), config.findFiles(filepath.Dir(file)))
	}
	if err != nil {
		return nil, problem.New("%s isn't what the judge needs", file).
			ToDo("correct it; judge explain judge.yaml describes all fields").Because(err)
	}
	return config, nil
}

// validate says what is missing.
func (c *Config) validate() error {
	var errs []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	require(c.Version == "v1", "version must be v1")
	require(len(c.Manifests) > 0, "manifests is missing")
	require(c.Limits.Shutdown <= operator.Grace, "limits.shutdown is more than %v, after which the operator is killed",
		operator.Grace)
	for _, managed := range c.kinds() {
		require(len(managed.Samples) > 0, "samples is missing")
		require(len(managed.Owns) > 0, "owns is missing")
		require((managed.Ready.Condition == "") != (managed.Ready.CEL == nil), "ready needs either condition or cel")
		for _, m := range managed.Mutations {
			require(len(m.Patch) > 0 && len(m.Expect) > 0, "mutation %q needs patch and expect", m.Name)
			for _, e := range m.Expect {
				require(e.Kind != "" && (e.CEL != nil || e.Count != nil), "mutation %q expects a kind, and cel or count", m.Name)
			}
		}
		for _, bad := range managed.BadInput {
			require(len(bad.Patch) > 0, "badInput %q needs a patch", bad.Name)
		}
	}
	return errors.Join(errs...)
}

// findFiles makes all paths absolute.
func (c *Config) findFiles(dir string) (err error) {
	all := [][]string{c.Manifests, c.Permissions, c.Webhooks}
	for _, managed := range c.kinds() {
		all = append(all, managed.InNamespace, managed.Samples)
	}
	for _, paths := range all {
		for i, path := range paths {
			if !filepath.IsAbs(path) {
				paths[i] = filepath.Join(dir, path)
			}
			_, failed := os.Stat(paths[i])
			err = errors.Join(err, failed)
		}
	}
	return err
}

// holds returns nil if the sample is ready, and otherwise why it isn't.
func (r Ready) holds(sample *unstructured.Unstructured) error {
	if r.CEL != nil {
		return r.CEL.holds(sample, sample)
	}
	for _, c := range conditions(sample) {
		observed, isObserved := c["observedGeneration"]
		isCurrent := !isObserved || observed == sample.GetGeneration()
		if c["type"] == r.Condition && c["status"] == "True" && isCurrent {
			return nil
		}
	}
	if r.Condition == "" {
		return nil
	}
	return fmt.Errorf("the condition %s isn't True for the current generation", r.Condition)
}

// conditions returns the conditions in an object's status.
func conditions(object *unstructured.Unstructured) (all []map[string]any) {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range list {
		if condition, ok := one.(map[string]any); ok {
			all = append(all, condition)
		}
	}
	return all
}

// holds returns nil if one of the objects that a sample owns is as the expression says.
func (e Expectation) holds(owned []*unstructured.Unstructured, sample *unstructured.Unstructured) error {
	if e.CEL == nil {
		return nil
	}
	err := fmt.Errorf("there is no %s", e.Kind)
	for _, object := range owned {
		if object.GetKind() != e.Kind {
			continue
		}
		if err = e.CEL.holds(object, sample); err == nil {
			return nil
		}
	}
	return err
}
