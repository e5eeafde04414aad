// The optional parts of config. Their comments say which # enables them, and kustomize can build
// them.

package project

import (
	"strings"
	"testing"
)

func TestOptionalParts(t *testing.T) {
	t.Parallel()
	const kustomization = "config/default/kustomization.yaml"
	for sentence, test := range map[string]struct {
		change   func(*testing.T, string)
		folder   string
		want     []string
		wantNone []string
	}{
		"metrics for the Prometheus operator": {
			change: func(t *testing.T, clone string) {
				change(t, clone, kustomization, "\n#- ../prometheus", "\n- ../prometheus")
			},
			folder: "config/default",
			want:   []string{"kind: ServiceMonitor\n", "kind: Certificate\n"},
		},
		"the samples": {
			folder: "config/samples",
			want:   []string{"kind: Namespace\n", "kind: TDSet\n", "name: tdset-hello-world\n", "namespace: temp\n"},
		},
		"the CRDs alone": {
			folder:   "config/crd",
			want:     []string{"kind: CustomResourceDefinition\n", "name: tdsets.schedule.rs\n"},
			wantNone: []string{"kind: Namespace\n", "kind: Deployment\n", "kind: ClusterRole\n"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			clone := cloneProject(t)
			if test.change != nil {
				test.change(t, clone)
			}

			built := run(t, clone, "go", "tool", "kustomize", "build", test.folder)

			for _, want := range test.want {
				if !strings.Contains(built, want) {
					t.Errorf("the objects don't contain %q", want)
				}
			}
			for _, none := range test.wantNone {
				if strings.Contains(built, none) {
					t.Errorf("the objects contain %q, want none", none)
				}
			}
			if t.Failed() {
				t.Log(built)
			}
		})
	}
}
