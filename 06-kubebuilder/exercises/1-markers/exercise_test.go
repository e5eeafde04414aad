//go:build check || solution

// These tests send Backups to an API server that has the CRD which controller-gen makes from their
// Go type. Each Backup is sent twice: as YAML, as kubectl does it, and converted to the Go type, as
// a Go program does it.
//
// As given, nearly all of them are accepted. `workshop test` checks these failures:
//
// fails: TestTheCRD/who applies a store leaves the others alone
// says: to a server-side apply, the list of stores is one value, not a map by name: of two who apply a store each,
//
// fails: TestAccepted/one with only its required fields
// says: from kubectl, it is stored with mode: nothing, want "Full"; retention: nothing, want {"copies":7}
//
// fails: TestAccepted/one whose retention is empty
// says: from kubectl, it is stored with retention: {}, want {"copies":7}
//
// fails: TestAccepted/one that begins at midnight
// says: from a Go program, it is stored with hour: nothing, want 0
//
// fails: TestAccepted/one that keeps no copies but today's
// says: from a Go program, it is stored with retention: {}, want {"copies":0}
//
// fails: TestRefused/one without a spec
// says: from kubectl, it is stored, with spec: nothing; want it refused, at spec
//
// fails: TestRefused/one that doesn't say the database
// says: from kubectl, it is stored, with database: "main"; want it refused, at spec.database
//
// fails: TestRefused/a database's name that is no DNS-1123 label
// says: from kubectl, it is stored, with database: "Shop"; want it refused, at spec.database
//
// fails: TestRefused/a database's name that is too long
// says: from kubectl, it is stored, with database:
//
// fails: TestRefused/a change of the database
// says: from kubectl, it is stored, with database: "stock"; want it refused, at spec.database
//
// fails: TestRefused/one that doesn't say the hour
// says: from kubectl, it is stored, with hour: nothing; want it refused, at spec.hour
//
// fails: TestRefused/an hour that a day doesn't have
// says: from kubectl, it is stored, with hour: 24; want it refused, at spec.hour
//
// fails: TestRefused/a mode that there isn't
// says: from kubectl, it is stored, with mode: "Differential"; want it refused, at spec.mode
//
// fails: TestRefused/one that doesn't say the stores
// says: from kubectl, it is stored, with stores: nothing; want it refused, at spec.stores
//
// fails: TestRefused/one with no stores
// says: from kubectl, it is stored, with stores: []; want it refused, at spec.stores
//
// fails: TestRefused/one with nine stores
// says: from kubectl, it is stored, with stores:
//
// fails: TestRefused/two stores of the same name
// says: from kubectl, it is stored, with stores:
//
// fails: TestRefused/a store without a name
// says: from kubectl, it is stored, with stores: [{"address":"s3://a"}]; want it refused, at spec.stores[0].name
//
// fails: TestRefused/a store's name that is no DNS-1123 label
// says: from kubectl, it is stored, with stores: [{"address":"s3://a","name":"Far"}]; want it refused, at
//
// fails: TestRefused/a store's name that is too long
// says: from kubectl, it is stored, with stores:
//
// fails: TestRefused/a store without an address
// says: from kubectl, it is stored, with stores: [{"name":"far"}]; want it refused, at spec.stores[0].address
//
// fails: TestRefused/a store's address that begins with something else
// says: from kubectl, it is stored, with stores: [{"address":"ftp://a/s3://b","name":"far"}]; want it refused, at
//
// fails: TestRefused/a store's address that doesn't go on
// says: from kubectl, it is stored, with stores: [{"address":"s3://","name":"far"}]; want it refused, at
//
// fails: TestRefused/a store's address that is too long
// says: from kubectl, it is stored, with stores:
//
// fails: TestRefused/a primary that is no store's name
// says: from kubectl, it is stored, with primary: "off-site"; want it refused, at spec.primary
//
// fails: TestRefused/a change that takes the primary away
// says: from kubectl, it is stored, with primary: "far"; want it refused, at spec.primary
//
// fails: TestRefused/a number of copies that can't be kept
// says: from kubectl, it is stored, with retention: {"copies":31}; want it refused, at spec.retention.copies

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
			t.Errorf("%s\nis no marker that controller-gen makes something of, and it doesn't complain: is it misspelled?", marker)
		}
	})
	t.Run("the API server takes it", func(t *testing.T) {
		if _, err := generate(); err != nil {
			t.Fatalf("controller-gen makes no CRD of it:\n%v", err)
		}
		if _, err := newServer(); err != nil {
			t.Fatalf("the API server refuses the CRD:\n%v", err)
		}
	})
	t.Run("who applies a store leaves the others alone", func(t *testing.T) {
		stores := theServer(t).schema.Properties["spec"].Properties["stores"]
		if kind := stores.XListType; kind == nil || *kind != "map" || !reflect.DeepEqual(stores.XListMapKeys, []string{"name"}) {
			t.Error("to a server-side apply, the list of stores is one value, not a map by name: of two who apply a store each, the second\n" +
				"gets a conflict, or replaces the first one's")
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
		"one of which everything is said": {},
		"one with only its required fields": {
			send:   "{mode: null, primary: null, retention: null}",
			stored: "{mode: Full, retention: {copies: 7}}",
			why: "a default fills in what is missing, in an object that is there; the API server doesn't make the object for it.\n" +
				"A field that isn't there is an error in a rule that doesn't ask has() first. And what a Go program leaves out must be\n" +
				"missing in what it sends",
		},
		"one whose retention is empty": {
			send:   "retention: {}",
			stored: "retention: {copies: 7}",
			why:    "a default fills in what is missing. A Go program whose field is an int32 without omitempty leaves nothing out: it says 0",
		},
		"one that begins at midnight": {
			send: "hour: 0",
			why:  "omitempty leaves out every 0. If 0 means something, and nothing said means something else, it takes a pointer",
		},
		"one that keeps no copies but today's": {
			send: "retention: {copies: 0}",
			why:  "omitempty leaves out every 0. If 0 means something, and nothing said means something else, it takes a pointer",
		},
		"one with all numbers at their upper end": {
			send: "{hour: 23, retention: {copies: 30}}",
		},
		"one with names as long as can be": {
			send: fmt.Sprintf(`{database: %q, stores: [{name: %[1]q, address: "s3://b"}], primary: %[1]q}`, longest),
		},
		"one with names of one character": {
			send: `{database: "7", stores: [{name: b, address: "s3://b"}], primary: b}`,
		},
		"one with eight stores": {
			send: stores(8),
		},
		"one whose stores are the same place": {
			send: `{stores: [{name: a, address: "s3://same"}, {name: b, address: "s3://same"}], primary: b}`,
		},
		"a change of everything but the database": {
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
					t.Errorf("%s, it is refused: %s\nwant it stored%s", sender, inWords(wrong), because(test.why))
				case difference != "":
					t.Errorf("%s, it is stored with %s%s", sender, difference, because(test.why))
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
		"one without a spec": {
			send:  []string{"spec: null"},
			field: "spec", // or a required field in it, because a Go program sends an empty spec
			why:   "what has to be said in a spec is asked for only where there is a spec",
		},
		"one that doesn't say the database": {
			send:  []string{"database: null"},
			field: "spec.database",
			why:   "a default fills it in before anybody asks whether it is there. Then it can't be missing, required or not",
		},
		"a database's name that is no DNS-1123 label": {
			send:  []string{"database: Shop", "database: my_shop", "database: -shop", "database: shop-"},
			field: "spec.database",
			why:   "a pattern is looked for anywhere in the text, unless ^ and $ are around it",
		},
		"a database's name that is too long": {
			send:  []string{"database: a" + longest},
			field: "spec.database",
		},
		"a change of the database": {
			update: true,
			send:   []string{"database: stock"},
			field:  "spec.database",
			says:   "make another Backup",
			why:    "a rule that names oldSelf is asked about changes, and only about them",
		},
		"one that doesn't say the hour": {
			send:  []string{"hour: null"},
			field: "spec.hour",
			why:   "it has to be said. A Go program whose field is a plain int32 without omitempty can't leave it out: it says 0",
		},
		"an hour that a day doesn't have": {
			send:  []string{"hour: 24", "hour: -1"},
			field: "spec.hour",
		},
		"a mode that there isn't": {
			send:  []string{"mode: Differential", "mode: full"},
			field: "spec.mode",
		},
		"one that doesn't say the stores": {
			send:  []string{"{stores: null, primary: null}"},
			field: "spec.stores",
		},
		"one with no stores": {
			send:  []string{"{stores: [], primary: null}"},
			field: "spec.stores",
		},
		"one with nine stores": {
			send:  []string{stores(9)},
			field: "spec.stores",
		},
		"two stores of the same name": {
			send:  []string{`stores: [{name: far, address: "s3://a"}, {name: far, address: "s3://b"}]`},
			field: "spec.stores[1]",
			says:  "far",
		},
		"a store without a name": {
			send:  []string{`{stores: [{address: "s3://a"}], primary: null}`},
			field: "spec.stores[0].name",
		},
		"a store's name that is no DNS-1123 label": {
			send: []string{
				`{stores: [{name: Far, address: "s3://a"}], primary: null}`,
				`{stores: [{name: far.away, address: "s3://a"}], primary: null}`,
				`{stores: [{name: -far, address: "s3://a"}], primary: null}`,
				`{stores: [{name: far-, address: "s3://a"}], primary: null}`,
			},
			field: "spec.stores[0].name",
			why:   "a pattern is looked for anywhere in the text, unless ^ and $ are around it",
		},
		"a store's name that is too long": {
			send:  []string{fmt.Sprintf(`{stores: [{name: a%s, address: "s3://a"}], primary: null}`, longest)},
			field: "spec.stores[0].name",
		},
		"a store without an address": {
			send:  []string{"stores: [{name: far}]"},
			field: "spec.stores[0].address",
		},
		"a store's address that begins with something else": {
			send: []string{
				`stores: [{name: far, address: "ftp://a/s3://b"}]`,
				`stores: [{name: far, address: "ftp://a/https://b"}]`,
			},
			field: "spec.stores[0].address",
			why:   "a pattern is looked for anywhere in the text, and in ^a|b the ^ belongs to a alone",
		},
		"a store's address that doesn't go on": {
			send:  []string{`stores: [{name: far, address: "s3://"}]`, `stores: [{name: far, address: "https://"}]`},
			field: "spec.stores[0].address",
		},
		"a store's address that is too long": {
			send:  []string{fmt.Sprintf(`stores: [{name: far, address: "s3://%s"}]`, strings.Repeat("a", 251))},
			field: "spec.stores[0].address",
		},
		"a primary that is no store's name": {
			send:  []string{"primary: off-site"},
			field: "spec.primary",
			says:  "add a store of that name",
			why:   "a rule above BackupSpec sees both fields. Its refusal is at spec, unless the rule has a fieldPath",
		},
		"a change that takes the primary away": {
			update: true,
			send:   []string{`stores: [{name: near, address: "s3://near/backups"}]`},
			field:  "spec.primary",
			says:   "add a store of that name",
			why:    "a rule above BackupSpec sees both fields. Its refusal is at spec, unless the rule has a fieldPath",
		},
		"a number of copies that can't be kept": {
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
					if complaint := compare(wrong, test.field, test.says); complaint != "" {
						if len(wrong) == 0 {
							complaint = fmt.Sprintf("it is stored, with %s; want it refused, at %s", shown(sent, test.field), test.field)
						}
						t.Errorf("%s, %s%s", sender, complaint, because(test.why))
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
		return fmt.Sprintf("it is refused: %s\nwant it refused at %s", inWords(wrong), name)
	case len(elsewhere) > 0:
		return fmt.Sprintf("it is refused at %s, as it should be, but for something else too: %s", name, inWords(elsewhere))
	case !strings.Contains(inWords(here), says):
		return fmt.Sprintf("it is refused: %s\nwant the refusal to say %q", inWords(here), says)
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
		t.Skip(`there is no CRD to judge by: see "the API server takes it"`)
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
		return "nothing"
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
