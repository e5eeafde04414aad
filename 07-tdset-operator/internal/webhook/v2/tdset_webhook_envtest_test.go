// The webhook and the CRD's rules as users see them: enforced by the API server, with the messages
// that kubectl prints.

package v2

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

type refusal struct {
	change func(*schedulev2.TDSet)
	want   string
}

// refusals are invalid schedules, with what the CRD's rules say. Without rules, the webhook refuses
// them: its messages have a test in internal/schedule.
var refusals = map[string]refusal{
	"an unknown zone": {
		zone("Mars/Olympus_Mons"),
		`spec.timeZone: Invalid value: "string": unknown time zone Mars/Olympus_Mons evaluating rule: unknown time zone: use an IANA name, such as Europe/Berlin or UTC`,
	},
	"the computer's local zone": {
		zone("Local"),
		`spec.timeZone: Invalid value: "Local": unknown time zone: use an IANA name, such as Europe/Berlin or UTC`,
	},
	"an offset in place of a zone": {
		zone("+05:30"),
		`spec.timeZone: Invalid value: "+05:30": spec.timeZone in body should match '^[A-Za-z]`,
	},
	"an empty window": {
		windows(aWindow(0, 24), aWindow(9, 9)),
		`spec.windows[1]: Invalid value: start and end must differ: for the whole day, use 00:00 and 24:00`,
	},
	"a name twice": {
		windows(aWindow(9, 17), aWindow(9, 17)),
		`spec.windows: Invalid value: two windows have the same name: rename one of them`,
	},
	"the name default": {
		windows(schedulev2.Window{Name: "default", Start: "09:00", End: "17:00"}),
		`spec.windows[0].name: Invalid value: "default": default is the name of the time outside of all windows: choose another one`,
	},
	"a name in upper case": {
		windows(schedulev2.Window{Name: "Office", Start: "09:00", End: "17:00"}),
		`spec.windows[0].name: Invalid value: "Office": spec.windows[0].name in body should match`,
	},
	"an unknown day": {
		windows(schedulev2.Window{Name: "office", Start: "09:00", End: "17:00", Days: []schedulev2.Day{"Monday"}}),
		`spec.windows[0].days[0]: Unsupported value: "Monday": supported values: "Mon", "Tue"`,
	},
	"a day twice": {
		windows(schedulev2.Window{Name: "office", Start: "09:00", End: "17:00", Days: []schedulev2.Day{"Mon", "Mon"}}),
		`spec.windows[0].days[1]: Duplicate value: "Mon"`,
	},
	"a window that starts at 24": {
		windows(aWindow(24, 6)),
		`spec.windows[0].start: Invalid value: "24:00": spec.windows[0].start in body should match`,
	},
	"a window that ends at 25": {
		windows(aWindow(22, 25)),
		`spec.windows[0].end: Invalid value: "25:00": spec.windows[0].end in body should match`,
	},
	"negative replicas": {
		windows(schedulev2.Window{Name: "office", Start: "09:00", End: "17:00", Replicas: -1}),
		`spec.windows[0].replicas: Invalid value: -1: spec.windows[0].replicas in body should be greater than or equal to 0`,
	},
	"no replicas by default": {
		defaultReplicas(0),
		`spec.defaultReplicas: Invalid value: 0: spec.defaultReplicas in body should be greater than or equal to 1`,
	},
	"25 windows": {
		func(tdset *schedulev2.TDSet) {
			for hour := range 24 {
				tdset.Spec.Windows = append(tdset.Spec.Windows, aWindow(hour, hour+1))
			}
		},
		`spec.windows: Too many: 25: must have at most 24 items`,
	},
}

// badNames are names that only the rules refuse.
var badNames = map[string]refusal{
	"a name that can't be the value of a label": {
		named(strings.Repeat("a", 64)),
		"metadata.name: at most 63 characters, since it becomes the value of a label",
	},
	"a name that can't be a Service's, with a Service": {
		func(tdset *schedulev2.TDSet) { tdset.Name, tdset.Spec.Service = "1a", &schedulev2.Service{Port: 80} },
		"metadata.name: with spec.service it becomes the name of a Service: lower case letters, digits and '-', and a letter first",
	},
}

func TestRefusedByTheCRD(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	withoutWebhook(t, api, warned, namespace)
	for _, tests := range []map[string]refusal{refusals, badNames} {
		for sentence, test := range tests {
			t.Run(sentence, func(t *testing.T) {
				refused(t, api.Create(t.Context(), aTDSet(in(namespace), test.change)), test.want)
			})
		}
	}
	t.Run("a Service that is added later", func(t *testing.T) {
		tdset := aTDSet(in(namespace), named("1a"))
		must(t, api.Create(t.Context(), tdset))
		refused(t, merge(t, api, tdset, `{"spec":{"service":{"port":80}}}`), "metadata.name: with spec.service it becomes the name of a Service")
	})
}

// With the CRD's rules, the webhook's refusals never reach a client. So this test removes the
// rules.
func TestRefusedByTheWebhook(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	withoutRules(t, api, namespace)
	stored := aTDSet(in(namespace), named("stored"))
	must(t, api.Create(t.Context(), stored))
	for sentence, test := range refusals {
		t.Run(sentence, func(t *testing.T) {
			const denied = `admission webhook "vtdset-v2.kb.io" denied the request: TDSet.schedule.rs `
			refused(t, api.Create(t.Context(), aTDSet(in(namespace), test.change)), denied+`"a" is invalid: spec.`)
			changed := stored.DeepCopy()
			test.change(changed)
			refused(t, api.Update(t.Context(), changed), denied+`"stored" is invalid: spec.`)
		})
	}
}

func TestWarnings(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	tdset := aTDSet(in(namespace))
	must(t, api.Create(t.Context(), tdset))
	if difference := cmp.Diff([]string{uncovered}, warned.since()); difference != "" {
		t.Errorf("warnings for a create (-want, +got):\n%s", difference)
	}
	// The API server applies a patch to the object in its watch cache first. If that is out of date,
	// it patches the one in etcd, and the webhook warns about both attempts. A list waits until the
	// cache has caught up.
	caughtUp := func() { must(t, api.List(t.Context(), &schedulev2.TDSetList{}, client.InNamespace(namespace))) }
	for _, test := range []struct {
		sentence, patch string
		want            []string
	}{
		{"another window", `{"spec":{"windows":[{"name":"9-17","start":"09:00","end":"17:00","replicas":5},{"name":"0-24","start":"00:00","end":"24:00","replicas":1}]}}`, []string{overlap}},
		{"the first window again", `{"spec":{"windows":[{"name":"9-17","start":"09:00","end":"17:00","replicas":5}]}}`, []string{uncovered}},
		{"another number by default", `{"spec":{"defaultReplicas":2}}`, []string{uncoveredTwo}},
		{"no number by default, which means 1", `{"spec":{"defaultReplicas":null}}`, []string{uncovered}},
		{"another zone", `{"spec":{"timeZone":"Europe/Berlin"}}`, []string{uncovered}},
		{"no zone, which means UTC", `{"spec":{"timeZone":null}}`, []string{uncovered}},
		{"the zone UTC", `{"spec":{"timeZone":"UTC"}}`, nil},
		{"an image", `{"spec":{"container":{"image":"httpd"}}}`, nil},
		{"a Service", `{"spec":{"service":{"port":80}}}`, nil},
		{"an interval", `{"spec":{"intervalMinutes":5}}`, nil},
		{"a label", `{"metadata":{"labels":{"team":"blue"}}}`, nil},
		{"a finalizer", `{"metadata":{"finalizers":["example.com/held"]}}`, nil},
	} {
		caughtUp()
		must(t, merge(t, api, tdset, test.patch))
		if difference := cmp.Diff(test.want, warned.since(), cmpopts.EquateEmpty()); difference != "" {
			t.Errorf("warnings for %s (-want, +got):\n%s", test.sentence, difference)
		}
	}
	must(t, api.Delete(t.Context(), tdset))
	caughtUp()
	must(t, merge(t, api, tdset, `{"spec":{"windows":[]}}`)) // it is being deleted
	must(t, merge(t, api, tdset, `{"metadata":{"finalizers":null}}`))
	if got := warned.since(); len(got) > 0 {
		t.Errorf("got the warnings %q while the TDSet is being deleted, want none", got)
	}
}

// An invalid TDSet may have been stored before there were rules, or a webhook. Everything but its
// schedule can be changed, and it can be deleted, because the API server ignores the rules of
// fields that don't change. There are two exceptions: rules that fail with an error, as the one for
// zones may, and rules for the whole object, as those for names. These look at the old object
// themselves.
func TestAnInvalidTDSetCanBeChanged(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	stored := map[string]*schedulev2.TDSet{}
	t.Run("stored", func(t *testing.T) {
		withoutRules(t, api, namespace)
		withoutWebhook(t, api, warned, namespace)
		for sentence, test := range refusals {
			stored[sentence] = aTDSet(in(namespace), test.change)
			stored[sentence].Name = fmt.Sprint("stored-", len(stored))
			must(t, api.Create(t.Context(), stored[sentence]))
		}
		for sentence, test := range badNames {
			stored[sentence] = aTDSet(in(namespace), test.change)
			must(t, api.Create(t.Context(), stored[sentence]))
		}
	})
	for sentence, tdset := range stored {
		t.Run(sentence, func(t *testing.T) {
			for change, patch := range map[string]string{
				"a label":     `{"metadata":{"labels":{"team":"blue"}}}`,
				"a finalizer": `{"metadata":{"finalizers":["example.com/held"]}}`,
				"an image":    `{"spec":{"container":{"image":"httpd"}}}`,
				"a Service":   `{"spec":{"service":{"port":81}}}`,
			} {
				if err := merge(t, api, tdset, patch); err != nil {
					t.Errorf("%s: %v", change, err)
				}
			}
			if err := writeStatus(t, api, tdset); err != nil {
				t.Errorf("the status: %v", err)
			}
			must(t, api.Delete(t.Context(), tdset))
			must(t, merge(t, api, tdset, `{"metadata":{"finalizers":null}}`))
		})
	}
}

func in(namespace string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Namespace = namespace }
}

// merge applies a merge patch.
func merge(t *testing.T, api client.Client, tdset *schedulev2.TDSet, patch string) error {
	t.Helper()
	return api.Patch(t.Context(), tdset.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
}

// writeStatus writes to the status, as the controller does.
func writeStatus(t *testing.T, api client.Client, tdset *schedulev2.TDSet) error {
	t.Helper()
	return api.Status().Patch(t.Context(), tdset.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"activeWindow":"default"}}`)))
}

// withoutWebhook removes the webhook until the test ends. It returns once the API server no longer
// calls it.
func withoutWebhook(t *testing.T, api client.Client, warned *warnings, namespace string) {
	t.Helper()
	called := func(ctx context.Context) bool {
		warned.since()
		must(t, api.Create(ctx, aTDSet(in(namespace), probe), client.DryRunAll))
		return len(warned.since()) > 0
	}
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: "validating-webhook-configuration"}, configuration))
	must(t, api.Delete(t.Context(), configuration))
	t.Cleanup(func() {
		configuration.ResourceVersion, configuration.UID = "", ""
		must(t, api.Create(context.Background(), configuration))
		atLast(t, "the API server calls the webhook again", called)
	})
	eventually(t, "the API server no longer calls the webhook", func(ctx context.Context) bool { return !called(ctx) })
}

// withoutRules removes everything but the fields' types from the CRD, until the test ends. It
// returns once the API server has noticed.
func withoutRules(t *testing.T, api client.Client, namespace string) {
	t.Helper()
	apply := func(ctx context.Context) bool { // only a rule refuses a long name
		err := api.Create(ctx, aTDSet(in(namespace), named(strings.Repeat("a", 64))), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "at most 63 characters")
	}
	t.Cleanup(func() { atLast(t, "the rules apply again", apply) })
	changeCRD(t, api, func(crd *apiextensionsv1.CustomResourceDefinition) {
		for _, version := range crd.Spec.Versions {
			if version.Storage {
				stripRules(version.Schema.OpenAPIV3Schema)
			}
		}
	})
	eventually(t, "no rule applies", func(ctx context.Context) bool { return !apply(ctx) })
}

func stripRules(schema *apiextensionsv1.JSONSchemaProps) {
	schema.XValidations, schema.Minimum, schema.Maximum, schema.MaxItems, schema.MaxLength, schema.Pattern, schema.Enum = nil, nil, nil, nil, nil, "", nil
	if schema.XListType != nil && *schema.XListType == "set" {
		schema.XListType = nil
	}
	for name, property := range schema.Properties {
		stripRules(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		stripRules(schema.Items.Schema)
	}
}

// probe turns a TDSet into one that no test uses.
func probe(tdset *schedulev2.TDSet) {
	tdset.ObjectMeta = metav1.ObjectMeta{Namespace: tdset.Namespace, Name: "probe"}
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error\n%v\nwant Invalid, and\n%s", err, want)
	}
}

func named(name string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Name = name }
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func eventually(t *testing.T, what string, holds func(context.Context) bool) {
	t.Helper()
	if err := poll(t.Context(), holds); err != nil {
		t.Fatalf("still not true after a minute: %s", what)
	}
}

// atLast is eventually for cleanups.
func atLast(t *testing.T, what string, holds func(context.Context) bool) {
	t.Helper()
	if err := poll(context.Background(), holds); err != nil {
		t.Errorf("still not true after a minute: %s", what)
	}
}

// untilServed waits until the server answers.
func untilServed(ctx context.Context, server webhook.Server) error {
	return poll(ctx, func(context.Context) bool { return server.StartedChecker()(nil) == nil })
}

func poll(ctx context.Context, holds func(context.Context) bool) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
}
