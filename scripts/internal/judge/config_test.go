package judge

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/testkit"
)

const valid = `version: v1
manifests: [crd.yaml]
samples: [sample.yaml]
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
	dir := testkit.Write(t, t.TempDir(), map[string]string{
		"judge.yaml": text, "crd.yaml": "", "sample.yaml": "", "foo.yaml": "", "bar.yaml": "", "rbac.yaml": "", "secret.yaml": "",
		"webhooks.yaml": "",
	})
	return Read(filepath.Join(dir, "judge.yaml"))
}

func TestRead(t *testing.T) {
	config, err := read(t, valid)
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Limits; got.Converge != time.Minute || got.Quiet != 10*time.Second {
		t.Errorf("the limits are %v", got)
	}
	if got := config.Samples[0]; !filepath.IsAbs(got) || filepath.Base(got) != "sample.yaml" {
		t.Errorf("the sample is %s, want an absolute path", got)
	}
	if got := asJSON(config.Mutations[0].Patch); got != `{"spec":{"replicas":3}}` {
		t.Errorf("the patch is %s", got)
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	for sentence, test := range map[string]struct{ old, new, want string }{
		"an unknown field":          {"limits:", "limit:", "line 12: field limit not found"},
		"a missing field":           {"samples: [sample.yaml]\n", "", "samples is missing"},
		"another version":           {"version: v1", "version: v2", "version must be v1"},
		"two ways to be ready":      {"{condition: Ready}", "{condition: Ready, cel: 'true'}", "either condition or cel"},
		"a duration without a unit": {"converge: 1m", "converge: '30'", "line 13: cannot unmarshal"},
		"a list that is a text":     {"[sample.yaml]", "sample.yaml", "line 3: cannot unmarshal"},
		"an expression with a typo": {"object.spec.replicas == 3", "object.spec.", "line 11: ERROR"},
		"an expectation of nothing": {", cel: object.spec.replicas == 3", "", `"scale" expects a kind, and cel or count`},
		"a file that doesn't exist": {"[sample.yaml]", "[other.yaml]", "other.yaml: no such file"},
		"no YAML":                   {"version: v1", "version: [", "yaml: line 2"},
		"an empty file":             {valid, "", "owns is missing"},
		"a kind without samples":    {"limits:\n  converge: 1m", "---\nowns: [{kind: Foo}]", "samples is missing"},
		"a kind with a cluster":     {"limits:\n  converge: 1m", "---\nmanifests: []", "line 13: field manifests not found"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := read(t, strings.Replace(valid, test.old, test.new, 1))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

// "judge explain judge.yaml" prints the reference, so that it must have all fields, with the defaults.
func TestTheReferenceIsComplete(t *testing.T) {
	config, err := read(t, Reference)
	if err != nil {
		t.Fatal(err)
	}
	fields := reflect.ValueOf(*config)
	for _, field := range reflect.VisibleFields(fields.Type()) {
		if fields.FieldByIndex(field.Index).IsZero() && field.Name != "From" { // which is a flag
			t.Errorf("the reference lacks %s", field.Name)
		}
	}
	if config.Limits != NewConfig().Limits {
		t.Errorf("the reference's limits are %v, and the defaults are %v", config.Limits, NewConfig().Limits)
	}
}

// Each judge.yaml in the repository is valid, and so are its samples and its permissions.
func TestTheJudgeFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Repository(), "scripts", "judge", "*", "*", "judge.yaml"))
	if err != nil || len(files) < 9 {
		t.Fatalf("found %q (%v), want those of seven chapters and two examples", files, err)
	}
	for _, file := range files {
		config, err := Read(file)
		if err != nil {
			t.Error(err)
			continue
		}
		j := &judge{config: config}
		if err := j.readSamples(); err != nil {
			t.Error(err)
		}
		if _, err := operator.ReadPermissions(config.Permissions...); err != nil {
			t.Error(err)
		}
	}
}
