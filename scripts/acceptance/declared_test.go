package acceptance

// Tests and declarations match.

import (
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/program"
)

// Every promise, fault and check has a test whose name begins with its own, and every test's name
// begins with one of theirs.
func TestEveryDeclarationHasATest(t *testing.T) {
	tested := map[string]bool{}
	// In chapter 07, nothing is left out.
	seven := judged{contract.Of(chapters.TDSet), chapters.Chapter{Name: "07-all"}, program.Program{}, "v2"}
	for _, promise := range slices.Concat(promises(), tdsetPromises(seven)) {
		tested[declaredName(promise.name)] = true
	}
	for _, promise := range []string{"T13", "T14"} { // tdset_versions_test.go, tdset_old_clients_test.go
		tested[promise] = true
	}
	for _, check := range judge.All() {
		if check.Name != "upgrade" { // the judge's own tests have two versions
			tested[check.Name] = true
		}
	}
	declared := contract.Everything()
	for _, promise := range declared {
		for _, check := range promise.Proofs() {
			tested[promise.Name] = tested[promise.Name] || tested[check]
		}
	}
	for _, named := range declared {
		if !tested[named.Name] {
			t.Errorf("%s %s: no test", named.Name, named.What)
		}
	}
	if len(tested) != len(declared) {
		t.Errorf("%d promises, faults and checks are declared, but %d are tested: %v", len(declared), len(tested), tested)
	}
}

// declaredName is the promise or fault with whose name the test's begins, or else the test's name.
func declaredName(test string) string {
	for _, named := range contract.Everything() {
		if strings.HasPrefix(test, named.Name+" "+named.What+": ") {
			return named.Name
		}
	}
	return test
}
