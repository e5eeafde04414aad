package program

// The version in which a program's CRD stores objects.

import (
	"fmt"
	"os"
	"path/filepath"
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
			return version["name"].(string), nil
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
	found := false
	for _, v := range versions {
		v["storage"] = v["name"] == version
		found = found || v["name"] == version
		names = append(names, v["name"].(string))
	}
	if !found {
		return p, fmt.Errorf("%s doesn't have the version %q: choose %s", crd.GetName(), version, strings.Join(names, " or "))
	}
	content, err := yaml.Marshal(crd.Object)
	if err != nil {
		return p, fmt.Errorf("%s: %w", p.CRD, err)
	}
	p.CRD = filepath.Join(dir, "crd.yaml")
	return p, os.WriteFile(p.CRD, content, 0o600)
}

// readCRD returns the program's CRD, and its versions, each with a name. A change of a version
// changes the CRD.
func (p Program) readCRD() (crd unstructured.Unstructured, versions []map[string]any, err error) {
	content, err := os.ReadFile(p.CRD)
	if err == nil {
		err = yaml.Unmarshal(content, &crd.Object)
	}
	if err != nil {
		return crd, nil, fmt.Errorf("%s: %w", p.CRD, err)
	}
	all, _, err := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	list, isList := all.([]any)
	if err != nil || !isList {
		return crd, nil, fmt.Errorf("%s: spec.versions is %v, want a list", p.CRD, all)
	}
	for i, one := range list {
		version, _ := one.(map[string]any)
		if _, named := version["name"].(string); !named {
			return crd, nil, fmt.Errorf("%s: spec.versions[%d] has no name", p.CRD, i)
		}
		versions = append(versions, version)
	}
	return crd, versions, nil
}
