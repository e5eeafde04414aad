//go:build check || solution

// These tests check what Diagnose and Finish promise, on the API server in apiserver_test.go.
//
// As given, Finish takes a shortcut: it says that nothing is stored in v1, and rewrites nothing.
// `workshop test` checks these failures:
//
// fails: TestDiagnose/a TDSet is stored in v1, and the webhook is gone
// says: got "TDSets may still be stored in v1, and nobody has rewritten them", error <nil>; want "a TDSet is stored
//
// fails: TestDiagnose/the TDSets can't be listed for another reason
// says: error <nil>; want "", error "tdsets.schedule.rs is forbidden
//
// fails: TestFinish/one TDSet is stored in v1
// says: status.storedVersions has no v1, but TDSet b is stored in v1
//
// fails: TestFinish/all TDSets are stored in v1
// says: status.storedVersions has no v1, but TDSet a is stored in v1: once v1 is removed from the CRD, nobody can
//
// fails: TestAConflict
// says: status.storedVersions has no v1, but TDSet a is stored in v1: once v1 is removed from the CRD, nobody can
//
// fails: TestADeletion
// says: status.storedVersions has no v1, but TDSet b is stored in v1
//
// fails: TestFinish/one TDSet is stored in v1, and a webhook works
// says: status.storedVersions has no v1, but TDSet b is stored in v1
//
// fails: TestARefusal
// says: status.storedVersions has no v1, but TDSet a is stored in v1: once v1 is removed from the CRD, nobody can

package migration

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

var both = []string{"v1", "v2"}

var forbidden = apierrors.NewForbidden(schema.GroupResource{Group: "schedule.rs", Resource: "tdsets"}, "", errors.New("no permission"))

func TestDiagnose(t *testing.T) {
	for sentence, test := range map[string]struct {
		server  *apiServer
		want    Cause
		wantErr string // a part of the error, or "" if there is none
	}{
		"a TDSet is stored in v1, and the webhook is gone":   {newAPIServer(t, both, "b"), NotConverted, ""},
		"a TDSet is stored in v1, and the webhook answers":   {newAPIServer(t, both, "b").withWebhook(), NotRewritten, ""},
		"all TDSets are stored in v2, and the CRD says v1":   {newAPIServer(t, both), NotRewritten, ""},
		"the CRD says that nothing is stored in v1 any more": {newAPIServer(t, []string{"v2"}), Finished, ""},
		"the TDSets can't be listed for another reason":      {newAPIServer(t, both, "b").refusing(forbidden), "", forbidden.Error()},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.server.t = t
			got, err := Diagnose(t.Context(), test.server.Client)
			if got != test.want || (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got %q, error %v; want %q, error %q", got, err, test.want, test.wantErr)
			}
			if len(test.server.writes) > 0 {
				t.Errorf("got the writes %q; want none, because it only looks", test.server.writes)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	for sentence, test := range map[string]struct {
		server    *apiServer
		crdWrites int // apart from its status
	}{
		"one TDSet is stored in v1":                      {newAPIServer(t, both, "b"), 2},
		"all TDSets are stored in v1":                    {newAPIServer(t, both, "a", "b", "c"), 2},
		"one TDSet is stored in v1, and a webhook works": {newAPIServer(t, both, "b").withWebhook(), 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := test.server
			s.t = t
			s.finish()
			for _, name := range names {
				got := s.tdset(name)
				if diff := cmp.Diff(tdset(name), got, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion"), cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
					t.Errorf("TDSet %s has changed (-want +got):\n%s", name, diff)
				}
			}
			ofCRD := slices.DeleteFunc(slices.Clone(s.writes), func(write string) bool { return write != "update "+CRD })
			if len(ofCRD) != test.crdWrites {
				t.Errorf("the CRD was written %d times, apart from its status; want %d", len(ofCRD), test.crdWrites)
			}
			s.writes = nil
			if s.finish(); len(s.writes) > 0 {
				t.Errorf("called again, got the writes %q; want none", s.writes)
			}
		})
	}
}

// Somebody else changes a TDSet right before it is rewritten, so that write gets a conflict.
func TestAConflict(t *testing.T) {
	s := newAPIServer(t, both, "a")
	s.before = func(server client.Client, name string) error {
		s.before = nothing
		current := s.tdset("a")
		current.Spec.Windows[0].Replicas = 7
		return server.Update(t.Context(), current)
	}
	s.finish()
	if replicas := s.tdset("a").Spec.Windows[0].Replicas; replicas != 7 {
		t.Errorf("TDSet a has a window of %d replicas; want the other writer's 7", replicas)
	}
}

// Somebody deletes a TDSet after Finish has listed it.
func TestADeletion(t *testing.T) {
	s := newAPIServer(t, both, "b")
	s.before = func(server client.Client, _ string) error {
		s.before, s.inV1["b"] = nothing, false
		return server.Delete(t.Context(), tdset("b"))
	}
	s.finish()
}

// A TDSet can't be written, for example because a quota or another webhook refuses it.
func TestARefusal(t *testing.T) {
	s := newAPIServer(t, both, "a", "b", "c")
	s.before = func(_ client.Client, name string) error {
		if name == "b" {
			return errors.New("refused by policy")
		}
		return nil
	}
	err := Finish(t.Context(), s.Client, working)
	if err == nil || !strings.Contains(err.Error(), "shop/b") || !strings.Contains(err.Error(), "refused by policy") {
		t.Errorf("got the error %v; want one that has the TDSet, shop/b, and the reason", err)
	}
	crd := s.crd()
	if !slices.Equal(crd.Status.StoredVersions, both) || !crd.Spec.Versions[0].Served {
		t.Errorf("got the stored versions %q, v1 served: %t; want both, and true, because b is still stored in v1", crd.Status.StoredVersions, crd.Spec.Versions[0].Served)
	}
	s.before = nothing // somebody has changed the policy
	s.finish()
}

func nothing(client.Client, string) error { return nil }

// finish calls Finish, and fails the test unless v1 is out of use.
func (s *apiServer) finish() {
	s.t.Helper()
	if err := Finish(s.t.Context(), s.Client, working); err != nil {
		s.t.Fatalf("got the error %v; want none", err)
	}
	for _, name := range names {
		if s.inV1[name] {
			s.t.Errorf("TDSet %s is stored in v1; want v2", name)
		}
	}
	crd := s.crd()
	if !slices.Equal(crd.Status.StoredVersions, []string{"v2"}) {
		s.t.Errorf("got the stored versions %q; want v2", crd.Status.StoredVersions)
	}
	if len(crd.Spec.Versions) != 2 || crd.Spec.Versions[0].Served || !crd.Spec.Versions[1].Served {
		s.t.Errorf("got the versions %+v; want both, and only v2 served", crd.Spec.Versions)
	}
}

func (s *apiServer) tdset(name string) *schedulev2.TDSet {
	s.t.Helper()
	found := &schedulev2.TDSet{}
	must(s.t, s.Client.Get(context.Background(), client.ObjectKey{Namespace: "shop", Name: name}, found))
	return found
}

// withWebhook lets the webhook answer.
func (s *apiServer) withWebhook() *apiServer {
	crd := s.crd()
	crd.Spec.Conversion.Webhook.ClientConfig = &working
	must(s.t, s.Client.Update(context.Background(), crd))
	s.writes = nil
	return s
}

// refusing lets the API server answer each list of TDSets with that error.
func (s *apiServer) refusing(err error) *apiServer {
	s.refusal = err
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
