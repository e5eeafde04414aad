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
)

// StoredVersion returns the version in which the program's CRD stores objects, such as v1.
func (p Program) StoredVersion() (string, error) {
	_, versions, err := p.readCRD()
	if err != nil {
		return "", err
	}
	for _, version := range versions {
		if version["storage"] == true {
			return fmt.Sprint(version["name"]), nil
		}
	}
	return "", fmt.Errorf("%s: no version is stored", p.CRD)
}

// Storing returns the program with another CRD, which stores objects in that version. It writes the
// CRD to dir, which the caller removes.
func (p Program) Storing(version, dir string) (Program, error) {
	crd, versions, err := p.readCRD()
	if err != nil {
		return p, err
	}
	var names []string
	for _, v := range versions {
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

// readCRD returns the program's CRD and its versions. A change of a version changes the CRD.
func (p Program) readCRD() (crd unstructured.Unstructured, versions []map[string]any, err error) {
	content, err := os.ReadFile(p.CRD)
	if err == nil {
		err = yaml.Unmarshal(content, &crd.Object)
	}
	if err != nil {
		return crd, nil, fmt.Errorf("%s: %w", p.CRD, err)
	}
	list, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	all, _ := list.([]any)
	for _, one := range all {
		if version, isMap := one.(map[string]any); isMap {
			versions = append(versions, version)
		}
	}
	return crd, versions, nil
}
