package judge

// judge explain: what a check does and why, and what judge.yaml may contain.

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

// Explain writes what a check does, all checks for "", or the fields of judge.yaml.
func Explain(w io.Writer, name string) error {
	switch {
	case name == "":
		for _, check := range All() {
			fmt.Fprintf(w, "%-26s %s\n", check.Name, check.Promise)
		}
		return nil
	case name == "judge.yaml":
		return explainFields(w)
	}
	found, err := Find(name)
	if err != nil {
		return err
	}
	check := found[0]
	fmt.Fprintf(w, "%s: %s\n\n%s\n\nThe course teaches this in %s.\n", check.Name, check.Promise, check.Why, check.Lesson)
	return nil
}

// field is a field in the JSON schema of judge.yaml.
type field struct {
	Description string           `json:"description"`
	Type        string           `json:"type"`
	Required    []string         `json:"required"`
	Properties  map[string]field `json:"properties"`
	Items       *field           `json:"items"`
}

func explainFields(w io.Writer) error {
	var root field
	if err := json.Unmarshal(Schema, &root); err != nil {
		return problem.New("the schema of judge.yaml is broken").Because(err)
	}
	fmt.Fprintln(w, "judge.yaml tells the judge what an operator manages. Fields with a * are required.")
	fmt.Fprintln(w)
	root.write(w, "")
	return nil
}

func (f field) write(w io.Writer, indent string) {
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		property := f.Properties[name]
		mark := " "
		if slices.Contains(f.Required, name) {
			mark = "*"
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%s%s%s  %s", indent, mark, name, property.Description), " "))
		property.write(w, indent+"    ")
		if property.Items != nil {
			property.Items.write(w, indent+"    ")
		}
	}
}
