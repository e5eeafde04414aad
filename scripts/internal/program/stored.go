package program

// The version in which a program's CRD stores objects.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/operator"
)

// StoredVersion returns the version in which the program's CRD stores objects, such as v1.
func (p Program) StoredVersion() (string, error) {
	crd, err := p.readCRD()
	if err != nil {
		return "", err
	}
	for _, version := range operator.MapsIn(crd, "spec", "versions") {
		if version["storage"] == true {
			return fmt.Sprint(version["name"]), nil
		}
	}
	return "", fmt.Errorf("%s: no version is stored", p.CRD)
}

// Storing returns the program with another CRD, which stores objects in that version. It writes the
// CRD to dir, which the caller removes.
func (p Program) Storing(version, dir string) (Program, error) {
	crd, err := p.readCRD()
	if err != nil {
		return p, err
	}
	var names []string
	for _, v := range operator.MapsIn(crd, "spec", "versions") {
		v["storage"] = v["name"] == version
		names = append(names, fmt.Sprint(v["name"]))
	}
	if !slices.Contains(names, version) {
		return p, fmt.Errorf("%s doesn't have the version %q: choose %s", crd.GetName(), version, strings.Join(names, " or "))
	}
	content, err := yaml.Marshal(crd.Object)
	if err != nil {
		return p, fmt.Errorf("%s: %w", p.CRD, err)
	}
	p.CRD = filepath.Join(dir, "crd.yaml")
	return p, os.WriteFile(p.CRD, content, 0o600)
}

func (p Program) readCRD() (*unstructured.Unstructured, error) {
	objects, err := operator.ReadObjects(p.CRD)
	if err == nil && len(objects) != 1 {
		err = fmt.Errorf("%s has %d objects, want a CRD", p.CRD, len(objects))
	}
	if err != nil {
		return nil, err
	}
	return objects[0], nil
}
