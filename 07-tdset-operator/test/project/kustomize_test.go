// What config has beside what is installed: it can be switched on by a # as the comments there say,
// and kustomize can build it.

package project

import (
	"strings"
	"testing"
)

func TestWhatElseConfigHas(t *testing.T) {
	t.Parallel()
	const kustomization = "config/default/kustomization.yaml"
	for sentence, test := range map[string]struct {
		change      func(*testing.T, string)
		folder      string
		want        []string
		wantNone    []string
		wantAtLeast map[string]int
	}{
		"certificates by cert-manager, and none of the rights to make them": {
			change: func(t *testing.T, clone string) {
				change(t, clone, kustomization, "\n- ../rotation", "\n#- ../rotation")
				change(t, clone, kustomization, "\n# - ../certmanager", "\n- ../certmanager")
			},
			folder: "config/default",
			want: []string{
				"kind: Certificate\n", "kind: Issuer\n",
				"- tdset-operator-webhook-service.tdset-operator-system.svc\n",
			},
			wantNone: []string{"--rotate-certs", "cert-rotation", "- secrets\n", "kind: Secret\n"},
			wantAtLeast: map[string]int{
				"secretName: webhook-server-cert\n": 2, // the Certificate's, and the Deployment's
				// The Certificate whose CA is to be written into the webhook configuration.
				"cert-manager.io/inject-ca-from: tdset-operator-system/tdset-operator-serving-cert\n": 1,
			},
		},
		"metrics by the Prometheus operator": {
			change: func(t *testing.T, clone string) {
				change(t, clone, kustomization, "\n#- ../prometheus", "\n- ../prometheus")
			},
			folder: "config/default",
			want:   []string{"kind: ServiceMonitor\n", "--rotate-certs"},
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
					t.Errorf("it has no %q", want)
				}
			}
			for _, none := range test.wantNone {
				if strings.Contains(built, none) {
					t.Errorf("it has %q", none)
				}
			}
			for want, count := range test.wantAtLeast {
				if got := strings.Count(built, want); got < count {
					t.Errorf("it has %q %d times, want at least %d", want, got, count)
				}
			}
			if t.Failed() {
				t.Log(built)
			}
		})
	}
}
