package acceptance

// The promise T12, bad input.

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func badTDSet(s *scenario) {
	spec := func(container, fields string) string {
		return `{"container":` + container + `,"defaultReplica":1,` + fields + `}`
	}
	const good, noWindows = `{"image":"a","port":80}`, `"schedulingConfig":[]`
	windows := func(list string) string { return spec(good, `"schedulingConfig":[`+list+`]`) }
	const office = `{"startTime":9,"endTime":17,"replica":1}`
	type bad struct{ name, spec, want string }
	all := map[string]bad{
		"no spec":             {"a", ``, "spec"},
		"no container":        {"a", `{"defaultReplica":1,` + noWindows + `}`, "spec.container"},
		"no schedulingConfig": {"a", `{"container":` + good + `,"defaultReplica":1}`, "spec.schedulingConfig"},
		"an empty image":      {"a", spec(`{"image":"","port":80}`, noWindows), "spec.container.image"},
		"port 0":              {"a", spec(`{"image":"a","port":0}`, noWindows), "spec.container.port"},
		"port 65536":          {"a", spec(`{"image":"a","port":65536}`, noWindows), "spec.container.port"},
		"no default replicas": {"a", `{"container":` + good + `,"defaultReplica":0,` + noWindows + `}`,
			"spec.defaultReplica"},
		"start 24": {"a", windows(`{"startTime":24,"endTime":1,"replica":1}`),
			"spec.schedulingConfig[0].startTime"},
		"end 25": {"a", windows(`{"startTime":1,"endTime":25,"replica":1}`),
			"spec.schedulingConfig[0].endTime"},
		"start is end": {"a", windows(`{"startTime":5,"endTime":5,"replica":1}`), "spec.schedulingConfig[0]"},
		"negative replicas": {"a", windows(`{"startTime":1,"endTime":2,"replica":-1}`),
			"spec.schedulingConfig[0].replica"},
		"replicas as text": {"a", windows(`{"startTime":1,"endTime":2,"replica":"three"}`),
			"spec.schedulingConfig[0].replica"},
		"25 windows":              {"a", windows(strings.Repeat(office+",", 24) + office), "spec.schedulingConfig"},
		"an interval of 0":        {"a", spec(good, noWindows+`,"intervalMint":0`), "spec.intervalMint"},
		"port 0 for the Service":  {"a", spec(good, noWindows+`,"service":{"port":0}`), "spec.service.port"},
		"a name of 64 characters": {strings.Repeat("a", 64), spec(good, noWindows), "metadata.name"},
	}
	if s.chapter.Number() >= "06" { // its CRD is generated from markers, and has more rules
		const twice = `{"startTime":9,"endTime":0,"replica":1},{"startTime":9,"endTime":0,"replica":2}`
		all["the same hours twice"] = bad{"a", windows(twice), "spec.schedulingConfig"}
	}
	if s.isFull() {
		for sentence, zone := range map[string]string{
			"an unknown zone": "Mars/Olympus", "the local zone": "Local", "an offset": "+05:30", "an empty zone": "",
		} {
			all[sentence] = bad{"a", spec(good, noWindows+`,"timeZone":"`+zone+`"`), "spec.timeZone"}
		}
		all["an image with a space"] = bad{"a", spec(`{"image":"a b","port":80}`, noWindows), "spec.container.image"}
		all["a name that isn't valid for a Service"] = bad{"1.a", spec(good, noWindows+`,"service":{"port":80}`),
			"metadata.name"}
	}
	for sentence, test := range all {
		object := tdsetObject(test.name, 1)
		delete(object.Object, "spec")
		if test.spec != "" {
			var spec map[string]any
			s.must(yaml.Unmarshal([]byte(test.spec), &spec))
			object.Object["spec"] = spec
		}
		object, want := s.inVersion(object), test.want
		if s.apiVersion == "v2" {
			want = strings.NewReplacer("schedulingConfig", "windows", "defaultReplica", "defaultReplicas",
				"intervalMint", "intervalMinutes",
				"startTime", "start", "endTime", "end", "replica", "replicas").Replace(want)
		}
		// The server may need a moment to use this program's CRD after another's.
		s.eventually(sentence+" is refused with an error about "+want, func() error {
			_, err := s.objects().Create(s.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("got %v", err)
			}
			return nil
		})
	}
	// A valid one is accepted.
	s.createTDSet("a", 1, window{9, 17, 0}, window{22, 6, 1000}, window{19, 24, 1})
}
