//go:build check || solution

// These tests send Backups to an API server that has the CRD which controller-gen makes from their
// Go type. Each Backup is sent twice: as YAML, as kubectl does it, and converted to the Go type, as
// a Go program does it.
//
// As given, nearly all of them are accepted. `workshop test` checks these failures:
//
// fails: TestTheCRD/an apply of one store keeps the others
// says: to a server-side apply, spec.stores is a single value, want a map with the key name
//
// fails: TestAccepted/only the required fields are set
// says: from kubectl: stored with mode: unset, want "Full"; retention: unset, want {"copies":7}
//
// fails: TestAccepted/an empty retention
// says: from kubectl: stored with retention: {}, want {"copies":7}
//
// fails: TestAccepted/the hour 0
// says: from a Go program: stored with hour: unset, want 0
//
// fails: TestAccepted/0 copies
// says: from a Go program: stored with retention: {}, want {"copies":0}
//
// fails: TestRefused/no spec
// says: from kubectl: stored with spec: unset, want a refusal at spec
//
// fails: TestRefused/no database
// says: from kubectl: stored with database: "main", want a refusal at spec.database
//
// fails: TestRefused/a database that isn't a DNS-1123 label
// says: from kubectl: stored with database: "Shop", want a refusal at spec.database
//
// fails: TestRefused/a database that is too long
// says: from kubectl: stored with database:
//
// fails: TestRefused/a change of the database
// says: from kubectl: stored with database: "stock", want a refusal at spec.database
//
// fails: TestRefused/no hour
// says: from kubectl: stored with hour: unset, want a refusal at spec.hour
//
// fails: TestRefused/an hour out of range
// says: from kubectl: stored with hour: 24, want a refusal at spec.hour
//
// fails: TestRefused/an unknown mode
// says: from kubectl: stored with mode: "Differential", want a refusal at spec.mode
//
// fails: TestRefused/no stores
// says: from kubectl: stored with stores: unset, want a refusal at spec.stores
//
// fails: TestRefused/an empty list of stores
// says: from kubectl: stored with stores: [], want a refusal at spec.stores
//
// fails: TestRefused/nine stores
// says: from kubectl: stored with stores:
//
// fails: TestRefused/two stores with the same name
// says: from kubectl: stored with stores:
//
// fails: TestRefused/a store without a name
// says: from kubectl: stored with stores: [{"address":"s3://a"}], want a refusal at
//
// fails: TestRefused/a store's name that isn't a DNS-1123 label
// says: from kubectl: stored with stores: [{"address":"s3://a","name":"Far"}], want a refusal at
//
// fails: TestRefused/a store's name that is too long
// says: from kubectl: stored with stores:
//
// fails: TestRefused/a store without an address
// says: from kubectl: stored with stores: [{"name":"far"}], want a refusal at
//
// fails: TestRefused/a store's address with another scheme
// says: from kubectl: stored with stores: [{"address":"ftp://a/s3://b","name":"far"}], want a refusal at
//
// fails: TestRefused/a store's address that ends after the scheme
// says: from kubectl: stored with stores: [{"address":"s3://","name":"far"}], want a refusal at
//
// fails: TestRefused/a store's address that is too long
// says: from kubectl: stored with stores:
//
// fails: TestRefused/a primary that names no store
// says: from kubectl: stored with primary: "off-site", want a refusal at spec.primary
//
// fails: TestRefused/a change that removes the primary store
// says: from kubectl: stored with primary: "far", want a refusal at spec.primary
//
// fails: TestRefused/a number of copies out of range
// says: from kubectl: stored with retention: {"copies":31}, want a refusal at spec.retention.copies

package markers

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheCRD(t *testing.T) {
	t.Run("controller-gen knows all markers", func(t *testing.T) {
		unknown, err := unknownMarkers()
		if err != nil {
			t.Fatal(err)
		}
		for _, marker := range unknown {
			t.Errorf("%s: controller-gen silently ignores this marker: is it misspelled?", marker)
		}
	})
	t.Run("the API server accepts the CRD", func(t *testing.T) {
		if _, err := generate(); err != nil {
			t.Fatalf("controller-gen can't generate a CRD from these types:\n%v", err)
		}
		if _, err := newServer(); err != nil {
			t.Fatalf("the API server refuses the CRD:\n%v", err)
		}
	})
	t.Run("an apply of one store keeps the others", func(t *testing.T) {
		stores := theServer(t).schema.Properties["spec"].Properties["stores"]
		if kind := stores.XListType; kind == nil || *kind != "map" || !reflect.DeepEqual(stores.XListMapKeys, []string{"name"}) {
			t.Error("to a server-side apply, spec.stores is a single value, want a map with the key name: if two users apply one store each,\n" +
				"the second gets a conflict, or replaces the first one's store")
		}
	})
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
		"every field is set": {},
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
		"the hour 0": {
			send: "hour: 0",
			why:  "omitempty leaves out every 0. If 0 and a missing field mean different things, use a pointer",
		},
		"0 copies": {
			send: "retention: {copies: 0}",
			why:  "omitempty leaves out every 0. If 0 and a missing field mean different things, use a pointer",
		},
		"the highest numbers": {
			send: "{hour: 23, retention: {copies: 30}}",
		},
		"the longest names": {
			send: fmt.Sprintf(`{database: %q, stores: [{name: %[1]q, address: "s3://b"}], primary: %[1]q}`, longest),
		},
		"names of one character": {
			send: `{database: "7", stores: [{name: b, address: "s3://b"}], primary: b}`,
		},
		"eight stores": {
			send: stores(8),
		},
		"two stores with the same address": {
			send: `{stores: [{name: a, address: "s3://same"}, {name: b, address: "s3://same"}], primary: b}`,
		},
		"a change of every field but the database": {
			update: true,
			send:   `{hour: 22, mode: Full, stores: [{name: new, address: "s3://new"}], primary: new, retention: {copies: 1}}`,
		},
		"a change of the order of the stores": {
			update: true,
			send:   `stores: [{name: far, address: "https://far.example.com/backups"}, {name: near, address: "s3://near/backups"}]`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := theServer(t)
			for _, sender := range senders {
				sent := sender.object(t, backup(t, test.send))
				want := backup(t, test.send, test.stored)
				var old map[string]any
				if test.update {
					old = backup(t)
				}
				wrong := s.admit(t.Context(), sent, old)
				difference := different(specOf(sent), specOf(want))
				switch {
				case len(wrong) > 0:
					t.Errorf("%s: refused with %s\nwant it stored%s", sender, inWords(wrong), because(test.why))
				case difference != "":
					t.Errorf("%s: stored with %s%s", sender, difference, because(test.why))
				default:
					continue
				}
				return // the other sender would get the same failure
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
			send:  []string{"database: Shop", "database: my_shop", "database: -shop", "database: shop-"},
			field: "spec.database",
			why:   "a pattern may match anywhere in the text, unless it is between ^ and $",
		},
		"a database that is too long": {
			send:  []string{"database: a" + longest},
			field: "spec.database",
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
			send:  []string{"{stores: null, primary: null}"},
			field: "spec.stores",
		},
		"an empty list of stores": {
			send:  []string{"{stores: [], primary: null}"},
			field: "spec.stores",
		},
		"nine stores": {
			send:  []string{stores(9)},
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
				`{stores: [{name: far.away, address: "s3://a"}], primary: null}`,
				`{stores: [{name: -far, address: "s3://a"}], primary: null}`,
				`{stores: [{name: far-, address: "s3://a"}], primary: null}`,
			},
			field: "spec.stores[0].name",
			why:   "a pattern may match anywhere in the text, unless it is between ^ and $",
		},
		"a store's name that is too long": {
			send:  []string{fmt.Sprintf(`{stores: [{name: a%s, address: "s3://a"}], primary: null}`, longest)},
			field: "spec.stores[0].name",
		},
		"a store without an address": {
			send:  []string{"stores: [{name: far}]"},
			field: "spec.stores[0].address",
		},
		"a store's address with another scheme": {
			send: []string{
				`stores: [{name: far, address: "ftp://a/s3://b"}]`,
				`stores: [{name: far, address: "ftp://a/https://b"}]`,
			},
			field: "spec.stores[0].address",
			why:   "a pattern may match anywhere in the text, and in ^a|b the ^ belongs to a alone",
		},
		"a store's address that ends after the scheme": {
			send:  []string{`stores: [{name: far, address: "s3://"}]`, `stores: [{name: far, address: "https://"}]`},
			field: "spec.stores[0].address",
		},
		"a store's address that is too long": {
			send:  []string{fmt.Sprintf(`stores: [{name: far, address: "s3://%s"}]`, strings.Repeat("a", 251))},
			field: "spec.stores[0].address",
		},
		"a primary that names no store": {
			send:  []string{"primary: off-site"},
			field: "spec.primary",
			says:  "add a store of that name",
			why:   "a rule above BackupSpec sees both fields. Its refusal is at spec, unless the rule has a fieldPath",
		},
		"a change that removes the primary store": {
			update: true,
			send:   []string{`stores: [{name: near, address: "s3://near/backups"}]`},
			field:  "spec.primary",
			says:   "add a store of that name",
			why:    "a rule above BackupSpec sees both fields. Its refusal is at spec, unless the rule has a fieldPath",
		},
		"a number of copies out of range": {
			send:  []string{"retention: {copies: 31}", "retention: {copies: -1}"},
			field: "spec.retention.copies",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := theServer(t)
			for _, send := range test.send {
				for _, sender := range senders {
					sent := sender.object(t, backup(t, send))
					var old map[string]any
					if test.update {
						old = backup(t)
					}
					wrong := s.admit(t.Context(), sent, old)
					if problem := compare(wrong, test.field, test.says); problem != "" {
						if len(wrong) == 0 {
							problem = fmt.Sprintf("stored with %s, want a refusal at %s", shown(sent, test.field), test.field)
						}
						t.Errorf("%s: %s%s", sender, problem, because(test.why))
						return // the others would get the same failure
					}
				}
			}
		})
	}
}

// compare describes what is wrong with a refusal. It must be about that field and no other, and its
// message must contain says.
func compare(wrong field.ErrorList, name, says string) string {
	var here, elsewhere field.ErrorList
	for _, found := range wrong {
		if found.Field == name || name == "spec" && strings.HasPrefix(found.Field, "spec.") {
			here = append(here, found)
		} else {
			elsewhere = append(elsewhere, found)
		}
	}
	switch {
	case len(here) == 0:
		return fmt.Sprintf("refused with %s\nwant a refusal at %s", inWords(wrong), name)
	case len(elsewhere) > 0:
		return fmt.Sprintf("refused at %s, which is right, but also with %s", name, inWords(elsewhere))
	case !strings.Contains(inWords(here), says):
		return fmt.Sprintf("refused with %s\nwant a message that contains %q", inWords(here), says)
	}
	return ""
}

// sender is kubectl or a Go program.
type sender struct {
	name   string
	byType bool
}

var senders = []sender{{"from kubectl", false}, {"from a Go program", true}}

func (s sender) String() string { return s.name }

// object returns the object as the server receives it.
func (s sender) object(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	if !s.byType {
		return object
	}
	var typed Backup
	if err := json.Unmarshal([]byte(inJSON(object)), &typed); err != nil {
		t.Fatalf("the Go type can't hold what YAML can say: %v", err)
	}
	text, err := json.Marshal(&typed)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(text))
}

// theServer returns the API server, which all tests share.
func theServer(t *testing.T) *server {
	t.Helper()
	s, err := newServer()
	if err != nil {
		t.Skip(`there is no CRD to test with: see "the API server accepts the CRD"`)
	}
	return s
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
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(asJSON, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// stores returns YAML with that many stores. The first one is the primary.
func stores(count int) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf(`{name: store-%d, address: "s3://bucket-%[1]d"}`, i))
	}
	return "{stores: [" + strings.Join(all, ", ") + "], primary: store-0}"
}

func specOf(object map[string]any) map[string]any {
	spec, _ := object["spec"].(map[string]any)
	return spec
}

// different lists the fields that differ from what they should be.
func different(got, want map[string]any) string {
	var all []string
	for _, name := range []string{"database", "hour", "mode", "stores", "primary", "retention"} {
		if !reflect.DeepEqual(got[name], want[name]) {
			all = append(all, fmt.Sprintf("%s: %s, want %s", name, inJSON(got[name]), inJSON(want[name])))
		}
	}
	return strings.Join(all, "; ")
}

// shown returns the field of the spec that a path begins with, and its value.
func shown(object map[string]any, path string) string {
	value, name := object["spec"], "spec"
	if names := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' }); len(names) > 1 {
		value, name = specOf(object)[names[1]], names[1]
	}
	text := inJSON(value)
	if len(text) > 120 {
		text = text[:117] + "..."
	}
	return name + ": " + text
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

func inWords(wrong field.ErrorList) string {
	var all []string
	for _, found := range wrong {
		all = append(all, found.Error())
	}
	return strings.Join(all, "; ")
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return "\nWhy: " + why
}
