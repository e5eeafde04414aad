// The promise T12, bad input.

package acceptance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/program"
)

func badTDSet(s *scenario) {
	const container = `"container":{"image":"a","port":80}`
	spec := func(fields string) string { return `{` + container + `,"defaultReplica":1,` + fields + `}` }
	windows := func(list string) string { return spec(`"schedulingConfig":[` + list + `]`) }
	type bad struct{ name, spec, want string }
	all := map[string]bad{
		"no spec":                 {"a", ``, "spec"},
		"no container":            {"a", `{"schedulingConfig":[],"defaultReplica":1}`, "spec.container"},
		"no schedulingConfig":     {"a", `{` + container + `,"defaultReplica":1}`, "spec.schedulingConfig"},
		"an empty image":          {"a", `{"container":{"image":"","port":80},"schedulingConfig":[],"defaultReplica":1}`, "spec.container.image"},
		"port 0":                  {"a", `{"container":{"image":"a","port":0},"schedulingConfig":[],"defaultReplica":1}`, "spec.container.port"},
		"port 65536":              {"a", `{"container":{"image":"a","port":65536},"schedulingConfig":[],"defaultReplica":1}`, "spec.container.port"},
		"no default replicas":     {"a", `{` + container + `,"schedulingConfig":[],"defaultReplica":0}`, "spec.defaultReplica"},
		"start 24":                {"a", windows(`{"startTime":24,"endTime":1,"replica":1}`), "spec.schedulingConfig[0].startTime"},
		"end 25":                  {"a", windows(`{"startTime":1,"endTime":25,"replica":1}`), "spec.schedulingConfig[0].endTime"},
		"start is end":            {"a", windows(`{"startTime":5,"endTime":5,"replica":1}`), "spec.schedulingConfig[0]"},
		"fewer than no replicas":  {"a", windows(`{"startTime":1,"endTime":2,"replica":-1}`), "spec.schedulingConfig[0].replica"},
		"replicas in words":       {"a", windows(`{"startTime":1,"endTime":2,"replica":"three"}`), "spec.schedulingConfig[0].replica"},
		"25 windows":              {"a", windows(strings.Repeat(`{"startTime":1,"endTime":2,"replica":1},`, 24) + `{"startTime":1,"endTime":2,"replica":1}`), "spec.schedulingConfig"},
		"an interval of 0":        {"a", spec(`"schedulingConfig":[],"intervalMint":0`), "spec.intervalMint"},
		"port 0 for the Service":  {"a", spec(`"schedulingConfig":[],"service":{"port":0}`), "spec.service.port"},
		"a name of 64 characters": {strings.Repeat("a", 64), spec(`"schedulingConfig":[]`), "metadata.name"},
	}
	if s.chapter.Number() >= "06" { // its CRD is made from markers, and says more
		all["the same hours twice"] = bad{"a", windows(`{"startTime":9,"endTime":0,"replica":1},{"startTime":9,"endTime":24,"replica":2}`), "spec.schedulingConfig"}
	}
	if s.isFull() {
		for sentence, zone := range map[string]string{"an unknown zone": "Mars/Olympus", "the computer's zone": "Local", "an offset": "+05:30", "an empty zone": ""} {
			all[sentence] = bad{"a", spec(`"schedulingConfig":[],"timeZone":"` + zone + `"`), "spec.timeZone"}
		}
		all["an image with a blank"] = bad{"a", `{"container":{"image":"a b","port":80},"schedulingConfig":[],"defaultReplica":1}`, "spec.container.image"}
		all["a name that is no Service's"] = bad{"1.a", spec(`"schedulingConfig":[],"service":{"port":80}`), "metadata.name"}
	}
	for sentence, test := range all {
		object := tdsetObject(test.name, 1)
		delete(object.Object, "spec")
		if test.spec != "" {
			var spec map[string]any
			s.must(yaml.Unmarshal([]byte(test.spec), &spec))
			object.Object["spec"] = spec
		}
		// The server may need a moment to learn of this program's CRD, after another's.
		s.eventually(sentence+" is refused, and "+test.want+" is named", func() error {
			_, err := s.objects().Create(s.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
				return fmt.Errorf("the answer is: %v", err)
			}
			return nil
		})
	}
}

func forbiddenTDSet(s *scenario) {
	s.must(program.Revoke(s.Context(), s.client, s.namespace))
	s.startAt(at(10, 30))
	s.createTDSet("a", 1)
	s.eventually("the program says that it may not", func() error {
		if !s.operator.says("forbidden") {
			return errors.New("not a word of it")
		}
		return nil
	})
	s.grant()
	s.becomesScheduled("a", 1)
}

func TestMissingCRDOfTDSets(t *testing.T) {
	alone(t, chapters.TDSet, "T12 bad input: a CRD that is missing is waited for", nil, waitForCRD)
}
