// Names that a TDSet can't have. Only the CRD's rules refuse them.

package v2

import (
	"strings"
	"testing"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// badNames are TDSets with such names. For changes of TDSets that already have one, see
// TestAnInvalidTDSetCanBeChanged.
var badNames = map[string]struct {
	change func(*schedulev2.TDSet)
	want   string
}{
	"a name that can't be the value of a label": {
		named(strings.Repeat("a", 64)),
		"metadata.name: at most 63 characters, since it becomes the value of a label",
	},
	"a name that can't be a Service's, with a Service": {
		func(tdset *schedulev2.TDSet) { tdset.Name, tdset.Spec.Service = "1a", &schedulev2.Service{Port: 80} },
		nameOfAService,
	},
}

const nameOfAService = "metadata.name: with spec.service it becomes the name of a Service: lower case letters, digits and '-', and a letter first"

func TestABadNameIsRefused(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	for sentence, test := range badNames {
		t.Run(sentence, func(t *testing.T) {
			refused(t, api.Create(t.Context(), aTDSet(in(namespace), test.change)), test.want)
		})
	}
	t.Run("a Service that is added later", func(t *testing.T) {
		tdset := aTDSet(in(namespace), named("1a"))
		must(t, api.Create(t.Context(), tdset))
		refused(t, merge(t, api, tdset, `{"spec":{"service":{"port":80}}}`), nameOfAService)
	})
}

func named(name string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Name = name }
}
