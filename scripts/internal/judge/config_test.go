package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const valid = `version: v1
manifests: [crd.yaml]
samples:
- sample.yaml
owns:
- {apiVersion: apps/v1, kind: Deployment}
ready: {condition: Ready}
mutations:
- name: scale
  patch: {spec: {replicas: 3}}
  expect:
  - {kind: Deployment, cel: object.spec.replicas == 3}
limits:
  converge: 1m
`

func read(t *testing.T, text string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"judge.yaml": text, "crd.yaml": "", "sample.yaml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, err := Read(filepath.Join(dir, "judge.yaml"))
	if err != nil {
		err = errorText(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return config, err
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestRead(t *testing.T) {
	config, err := read(t, valid)
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Limits; got.Converge.Duration != time.Minute || got.Quiet.Duration != 10*time.Second || got.Shutdown.Duration != 30*time.Second {
		t.Errorf("the limits are %v", got)
	}
	if got := config.Samples[0]; !filepath.IsAbs(got) || filepath.Base(got) != "sample.yaml" {
		t.Errorf("the sample is %s, want an absolute path", got)
	}
	if got := string(config.Mutations[0].Patch); got != `{"spec":{"replicas":3}}` {
		t.Errorf("the patch is %s", got)
	}
}

func TestReadNamesLineAndField(t *testing.T) {
	for sentence, test := range map[string]struct{ old, new, want string }{
		"an unknown field":          {"limits:", "limit:", "judge.yaml:13: limit: there is no such field: judge explain judge.yaml lists all fields"},
		"a missing field":           {"ready: {condition: Ready}\n", "", "judge.yaml:1: the file: missing property 'ready'"},
		"another version":           {"version: v1", "version: v2", "judge.yaml:1: version: value must be 'v1'"},
		"two ways to be ready":      {"{condition: Ready}", "{condition: Ready, cel: 'true'}", "judge.yaml:7: ready: maxProperties: got 2, want 1"},
		"a duration without a unit": {"converge: 1m", "converge: '30'", "judge.yaml:14: limits.converge: '30' does not match pattern"},
		"a kind that is a number":   {"kind: Deployment}", "kind: 7}", "judge.yaml:6: owns.0.kind: got number, want string"},
		"a file that doesn't exist": {"- sample.yaml", "- other.yaml", "judge.yaml:4: samples.0: there is no file other.yaml"},
		"no YAML":                   {"version: v1", "version: [", "judge.yaml: yaml: line 2"},
		"an empty file":             {valid, "", "judge.yaml is empty"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := read(t, strings.Replace(valid, test.old, test.new, 1))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}
