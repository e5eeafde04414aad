// The tests are held to what is declared.

package acceptance

import (
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/program"
)

// Every promise and fault has a test that is called by its name, and no test is called by another.
func TestWhatIsDeclaredIsTested(t *testing.T) {
	tested := map[string]bool{}
	seven := judged{contract.Of(chapters.TDSet), chapters.Chapter{Name: "07-all"}, program.Program{}} // nothing is left out there
	for _, promise := range slices.Concat(promises(), tdsetPromises(seven)) {
		tested[declaredName(promise.name)] = true
	}
	for _, fault := range contract.Faults() {
		_, strikes := strikes()[fault.Name]
		_, strikesTDSets := strikesTDSets()[fault.Name]
		if strikes && strikesTDSets || slices.Contains([]string{"F3", "F6c", "F7"}, fault.Name) {
			tested[fault.Name] = true
		}
	}
	declared := contract.Everything()
	for _, named := range declared {
		if !tested[named.Name] {
			t.Errorf("%s %s: no test", named.Name, named.What)
		}
	}
	if len(tested) != len(declared) {
		t.Errorf("%d are declared, and %d tested: %v", len(declared), len(tested), tested)
	}
}

// declaredName is what a test's name begins with, if it is a promise's or a fault's.
func declaredName(test string) string {
	for _, named := range contract.Everything() {
		if strings.HasPrefix(test, named.Name+" "+named.What+": ") {
			return named.Name
		}
	}
	return test
}
