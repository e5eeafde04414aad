//go:build check || solution

// These tests send Backups to an API server that has the CRD which controller-gen makes from their
// Go type. Each Backup is sent twice: as YAML, as kubectl does it, and converted to the Go type, as
// a Go program does it.
//
// As given, nearly all of them are accepted. `workshop test` checks these failures:
//
// fails: TestTheCRD
// says: spec.stores is a single value, want a map with the key name
//
// fails: TestAccepted/only the required fields are set
// says: from kubectl: stored with mode: unset, want "Full"; retention: unset, want {"copies":7}
//
// fails: TestAccepted/an empty retention
// says: from kubectl: stored with retention: {}, want {"copies":7}
//
// fails: TestAccepted/the lowest numbers
// says: from a Go program: stored with hour: unset, want 0; retention: {}, want {"copies":0}
//
// fails: TestRefused/no spec
// says: from kubectl: "spec: null" is accepted, want a refusal at spec
//
// fails: TestRefused/no database
// says: from kubectl: "database: null" is accepted, want a refusal at spec.database
//
// fails: TestRefused/a database that isn't a DNS-1123 label
// says: from kubectl: "database: Shop" is accepted, want a refusal at spec.database
//
// fails: TestRefused/a change of the database
// says: from kubectl: "database: stock" is accepted, want a refusal at spec.database
//
// fails: TestRefused/no hour
// says: from kubectl: "hour: null" is accepted, want a refusal at spec.hour
//
// fails: TestRefused/an hour out of range
// says: from kubectl: "hour: 24" is accepted, want a refusal at spec.hour
//
// fails: TestRefused/an unknown mode
// says: from kubectl: "mode: Differential" is accepted, want a refusal at spec.mode
//
// fails: TestRefused/no stores
// says: from kubectl: "{stores: null, primary: null}" is accepted, want a refusal at spec.stores
//
// fails: TestRefused/nine stores
// says: is accepted, want a refusal at spec.stores
//
// fails: TestRefused/two stores with the same name
// says: is accepted, want a refusal at spec.stores[1]
//
// fails: TestRefused/a store without a name
// says: is accepted, want a refusal at spec.stores[0].name
//
// fails: TestRefused/a store's name that isn't a DNS-1123 label
// says: is accepted, want a refusal at spec.stores[0].name
//
// fails: TestRefused/a store without an address
// says: is accepted, want a refusal at spec.stores[0].address
//
// fails: TestRefused/a store's address that isn't allowed
// says: is accepted, want a refusal at spec.stores[0].address
//
// fails: TestRefused/a primary that names no store
// says: from kubectl: "primary: off-site" is accepted, want a refusal at spec.primary
//
// fails: TestRefused/a number of copies out of range
// says: from kubectl: "retention: {copies: 31}" is accepted, want a refusal at spec.retention.copies

package markers

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestTheCRD(t *testing.T) {
	if errCRD != nil || len(crds) != 1 {
		t.Fatalf("controller-gen made %d CRDs that the API server accepts, want 1:\n%v", len(crds), errCRD)
	}
	stores := crds[0].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["stores"]
	if kind := stores.XListType; kind == nil || *kind != "map" || !reflect.DeepEqual(stores.XListMapKeys, []string{"name"}) {
		t.Error("to a server-side apply, spec.stores is a single value, want a map with the key name: if two users apply one store each,\n" +
			"the second gets a conflict, or replaces the first one's store")
	}
}

// whole is the spec of a Backup that sets every field. A test merges its changes into it, and null
// removes a field.
const whole = `
database: shop
hour: 3
mode: Incremental
stores:
- {name: near, address: "s3://near/backups"}
- {name: far, address: "https://far.example.com/backups"}
primary: far
retention: {copies: 14}`

var longest = "a" + strings.Repeat("-", 61) + "z" // 63 characters

func TestAccepted(t *testing.T) {
	for sentence, test := range map[string]struct {
		update bool   // an update of the whole Backup; otherwise a create
		send   string // changes to the whole Backup
		stored string // further differences in the stored Backup
		why    string
	}{
		"only the required fields are set": {
			send:   "{mode: null, primary: null, retention: null}",
			stored: "{mode: Full, retention: {copies: 7}}",
			why: "a default inside an object only applies if the object is there, so the object needs a default too.\n" +
				"A CEL rule that reads a missing field without has() fails. And a field that a Go program doesn't set must be missing\n" +
				"in its JSON",
		},
		"an empty retention": {
			send:   "retention: {}",
			stored: "retention: {copies: 7}",
			why:    "a default only fills in missing fields. A Go program sends a plain int32 without omitempty as 0, so it isn't missing",
		},
		"the lowest numbers": {
			send: "{hour: 0, retention: {copies: 0}}",
			why:  "omitempty leaves out every 0. If 0 and a missing field mean different things, use a pointer",
		},
		"the highest numbers, and names of 63 characters": {
			send: fmt.Sprintf(`{database: %q, hour: 23, stores: [{name: %[1]q, address: "s3://b"}], primary: %[1]q, retention: {copies: 30}}`, longest),
		},
		"eight stores, and names of one character": {
			send: "{database: \"7\", primary: a, stores: " + stores(8) + "}",
		},
		"a change of every field but the database": {
			update: true,
			send:   `{hour: 22, mode: Full, stores: [{name: new, address: "s3://new"}], primary: new, retention: {copies: 1}}`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, sender := range senders {
				stored, err := sender.send(t, backup(t, test.send), test.update)
				if err != nil {
					t.Fatalf("%s: refused with %v\nwant it stored\nWhy: %s", sender, err, test.why)
				}
				if difference := different(stored, backup(t, test.send, test.stored)); difference != "" {
					t.Fatalf("%s: stored with %s\nWhy: %s", sender, difference, test.why)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for sentence, test := range map[string]struct {
		update bool     // an update of the whole Backup; otherwise a create
		send   []string // changes to the whole Backup, each tried by itself
		field  string
		says   string
		why    string
	}{
		"no spec": {
			send:  []string{"spec: null"},
			field: "spec", // or a required field in it, because a Go program sends an empty spec
			why:   "the required fields of a spec are only required if there is a spec",
		},
		"no database": {
			send:  []string{"database: null"},
			field: "spec.database",
			why:   "defaults are set before required fields are checked, so a field with a default is never missing",
		},
		"a database that isn't a DNS-1123 label": {
			send:  []string{"database: Shop", "database: my_shop", "database: -shop", "database: shop-", "database: a" + longest},
			field: "spec.database",
			why:   "a pattern may match anywhere in the text, unless it is between ^ and $",
		},
		"a change of the database": {
			update: true,
			send:   []string{"database: stock"},
			field:  "spec.database",
			says:   "make another Backup",
			why:    "a rule that uses oldSelf runs for updates only",
		},
		"no hour": {
			send:  []string{"hour: null"},
			field: "spec.hour",
			why:   "it is required. A Go program always sends a plain int32 without omitempty, as 0 if nobody set it",
		},
		"an hour out of range": {
			send:  []string{"hour: 24", "hour: -1"},
			field: "spec.hour",
		},
		"an unknown mode": {
			send:  []string{"mode: Differential", "mode: full"},
			field: "spec.mode",
		},
		"no stores": {
			send:  []string{"{stores: null, primary: null}", "{stores: [], primary: null}"},
			field: "spec.stores",
		},
		"nine stores": {
			send:  []string{"{primary: a, stores: " + stores(9) + "}"},
			field: "spec.stores",
		},
		"two stores with the same name": {
			send:  []string{`stores: [{name: far, address: "s3://a"}, {name: far, address: "s3://b"}]`},
			field: "spec.stores[1]",
			says:  "far",
		},
		"a store without a name": {
			send:  []string{`{stores: [{address: "s3://a"}], primary: null}`},
			field: "spec.stores[0].name",
		},
		"a store's name that isn't a DNS-1123 label": {
			send: []string{
				`{stores: [{name: Far, address: "s3://a"}], primary: null}`,
				`{stores: [{name: -far, address: "s3://a"}], primary: null}`,
				`{stores: [{name: far-, address: "s3://a"}], primary: null}`,
				fmt.Sprintf(`{stores: [{name: a%s, address: "s3://a"}], primary: null}`, longest),
			},
			field: "spec.stores[0].name",
			why:   "a pattern may match anywhere in the text, unless it is between ^ and $",
		},
		"a store without an address": {
			send:  []string{"stores: [{name: far}]"},
			field: "spec.stores[0].address",
		},
		"a store's address that isn't allowed": {
			send: []string{
				`stores: [{name: far, address: "ftp://a/s3://b"}]`,
				`stores: [{name: far, address: "ftp://a/https://b"}]`,
				`stores: [{name: far, address: "s3://"}]`,
				fmt.Sprintf(`stores: [{name: far, address: "s3://%s"}]`, strings.Repeat("a", 251)),
			},
			field: "spec.stores[0].address",
			why:   "a pattern may match anywhere in the text, and in ^a|b the ^ belongs to a alone",
		},
		"a primary that names no store": {
			send:  []string{"primary: off-site"},
			field: "spec.primary",
			says:  "add a store of that name",
			why:   "a rule above BackupSpec sees both fields. Its refusal is at spec, unless the rule has a fieldPath",
		},
		"a number of copies out of range": {
			send:  []string{"retention: {copies: 31}", "retention: {copies: -1}"},
			field: "spec.retention.copies",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, send := range test.send {
				for _, sender := range senders {
					_, err := sender.send(t, backup(t, send), test.update)
					if err == nil {
						t.Fatalf("%s: %q is accepted, want a refusal at %s\nWhy: %s", sender, send, test.field, test.why)
					}
					if fields := fieldsOf(err); !isOnly(fields, test.field) || !strings.Contains(err.Error(), test.says) {
						t.Fatalf("%s: %q is refused at %v, want a refusal at %s alone, with the words %q\nThe message: %v\nWhy: %s",
							sender, send, fields, test.field, test.says, err, test.why)
					}
				}
			}
		})
	}
}

// fieldsOf returns the fields that a refusal names.
func fieldsOf(err error) (fields []string) {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			if cause.Field != "<nil>" { // of: "some validation rules were not checked"
				fields = append(fields, cause.Field)
			}
		}
	}
	return fields
}

// isOnly reports whether all fields are that one, or in the spec if that one is spec.
func isOnly(fields []string, want string) bool {
	for _, field := range fields {
		if field != want && !(want == "spec" && strings.HasPrefix(field, "spec.")) {
			return false
		}
	}
	return len(fields) > 0
}

type sender string

const fromGo sender = "from a Go program"

var senders = []sender{"from kubectl", fromGo}

// send creates object in a dry run, or updates the whole Backup with it, and returns the Backup that
// would be stored.
func (s sender) send(t *testing.T, object map[string]any, update bool) (map[string]any, error) {
	t.Helper()
	if errCRD != nil || len(crds) != 1 {
		t.Skip("there is no CRD to test with")
	}
	if s == fromGo {
		var typed Backup
		if err := json.Unmarshal([]byte(inJSON(object)), &typed); err != nil {
			t.Fatalf("the Go type can't hold what YAML can say: %v", err)
		}
		object = parse(t, inJSON(&typed))
	}
	sent := &unstructured.Unstructured{Object: object}
	if !update {
		err := api.Create(t.Context(), sent, client.DryRunAll)
		return sent.Object, err
	}
	old := &unstructured.Unstructured{Object: backup(t)}
	if err := api.Create(t.Context(), old); err != nil {
		t.Fatalf("the Backup that sets every field is refused: %v", err)
	}
	defer func() { _ = api.Delete(t.Context(), old) }()
	sent.SetResourceVersion(old.GetResourceVersion())
	err := api.Update(t.Context(), sent, client.DryRunAll)
	return sent.Object, err
}

// backup returns the whole Backup with these changes.
func backup(t *testing.T, changes ...string) map[string]any {
	t.Helper()
	object := map[string]any{
		"apiVersion": "exercises.example.com/v1",
		"kind":       "Backup",
		"metadata":   map[string]any{"name": "example", "namespace": "default"},
	}
	spec := parse(t, whole)
	for _, change := range changes {
		maps.Copy(spec, parse(t, change))
	}
	if _, without := spec["spec"]; without {
		return object
	}
	maps.DeleteFunc(spec, func(_ string, value any) bool { return value == nil })
	object["spec"] = spec
	return object
}

// parse reads YAML or JSON. Integers have the same Go type as in the API server.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err := errors.Join(err, utiljson.Unmarshal(asJSON, &object)); err != nil {
		t.Fatal(err)
	}
	return object
}

// stores returns YAML with that many stores: a, b, and so on.
func stores(count int) string {
	var all []string
	for _, name := range "abcdefghi"[:count] {
		all = append(all, fmt.Sprintf(`{name: %c, address: "s3://same"}`, name))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// different lists the fields of the spec that differ from what they should be.
func different(got, want map[string]any) string {
	gotSpec, _ := got["spec"].(map[string]any)
	wantSpec, _ := want["spec"].(map[string]any)
	var all []string
	for _, name := range []string{"database", "hour", "mode", "stores", "primary", "retention"} {
		if !reflect.DeepEqual(gotSpec[name], wantSpec[name]) {
			all = append(all, fmt.Sprintf("%s: %s, want %s", name, inJSON(gotSpec[name]), inJSON(wantSpec[name])))
		}
	}
	return strings.Join(all, "; ")
}

func inJSON(value any) string {
	if value == nil {
		return "unset"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
