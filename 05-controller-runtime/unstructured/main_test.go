package main

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestConditionsAreLogged(t *testing.T) {
	for sentence, test := range map[string]struct {
		conditions any
		want       string
		wantErr    bool
	}{
		"a condition": {
			conditions: []any{map[string]any{"type": "Ready", "status": "True", "reason": "Available"}},
			want:       `"type"="Ready" "status"="True" "reason"="Available"`,
		},
		"no conditions yet":            {conditions: nil},
		"conditions of the wrong type": {conditions: "good", wantErr: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			var log strings.Builder
			r := &reporter{kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Any"}}
			object := r.newObject()
			object.SetName("a")
			object.Object["status"] = map[string]any{"conditions": test.conditions}
			if test.conditions == nil {
				delete(object.Object, "status")
			}
			r.Client = fake.NewClientBuilder().WithObjects(object).Build()
			ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{}))

			_, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})

			if (err != nil) != test.wantErr || !strings.Contains(log.String(), test.want) {
				t.Errorf("logged %q, with the error %v; want %q", &log, err, test.want)
			}
		})
	}
}

func TestRunRefusesAnInvalidKind(t *testing.T) {
	if err := run(t.Context(), "Deployment"); err == nil || !strings.Contains(err.Error(), "--kind Deployment: must be") {
		t.Errorf("got the error %v, want one that names the flag", err)
	}
}
