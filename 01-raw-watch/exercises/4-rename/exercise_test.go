//go:build check || solution

// The tests of Sync. Each case is a namespace in which the Foo "example" asks for the Deployment
// "new". The test calls Sync until it has nothing left to do.
//
// As given, it deletes first and asks later. `workshop test` checks these failures:
//
// fails: TestSync/the Deployment of another Foo is left alone
// says: Sync deleted "web", which isn't this Foo's
//
// fails: TestSync/the Deployment of an earlier Foo with the same name is left alone
// says: Sync deleted "web", which isn't this Foo's
//
// fails: TestSync/after a rename, the new one is created, and then the old one is deleted
// says: Sync deleted "old" while the Foo didn't have "new"
//
// fails: TestSync/if the server refuses the new one, the old one stays
// says: Sync deleted "old" while the Foo didn't have "new"
//
// fails: TestSync/if the name is taken, nothing is written
// says: Sync deleted "old" while the Foo didn't have "new"
//
// fails: TestSync/if the name is taken just before the create, the old one stays
// says: Sync deleted "old" while the Foo didn't have "new"
//
// fails: TestSync/if the new one is being deleted, the old one stays
// says: Sync deleted "old" while the Foo didn't have "new"
//
// fails: TestSync/after two renames, the new one is created, and then both old ones are deleted
// says: Sync deleted "older" while the Foo didn't have "new"
//
// fails: TestSync/an old one that is being deleted isn't deleted again
// says: after 5 calls, Sync still writes: delete old, delete old, delete old, delete old, delete old
//
// fails: TestSync/if another Deployment takes the old name just before the delete, Sync returns the conflict
// says: Sync deleted "old", which isn't this Foo's
//
// fails: TestSync/if someone else deletes the old one first, Sync returns no error
// says: deployments.apps "old" not found, want none

package rename

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

func TestSync(t *testing.T) {
	foo, other, earlier := aFoo("example", "example"), aFoo("other", "other"), aFoo("example", "an earlier example")
	app := aFoo("app", "an app")
	quota := apierrors.NewForbidden(resource, "new", errors.New("exceeded quota"))
	broken := apierrors.NewInternalError(errors.New("etcd has no leader"))
	for sentence, test := range map[string]struct {
		given cluster
		want  []string // the Deployments after the last call
		// wantErr checks the first error that a call returns. If it is nil, there must be none.
		wantErr func(error) bool
	}{
		"if there is no Deployment, it is created": {
			want: []string{"new of example"},
		},
		"if the Deployment exists, nothing is written": {
			given: cluster{deployments: having(deployment("new", foo))},
			want:  []string{"new of example"},
		},
		"the Deployment of another Foo is left alone": {
			given: cluster{deployments: having(deployment("web", other), deployment("new", foo))},
			want:  []string{"new of example", "web of other"},
		},
		"the Deployment of an earlier Foo with the same name is left alone": {
			given: cluster{deployments: having(deployment("web", earlier), deployment("new", foo))},
			want:  []string{"new of example", "web of an earlier example"},
		},
		"a Deployment without an owner is left alone": {
			given: cluster{deployments: having(deployment("web", nil), deployment("new", foo))},
			want:  []string{"new of example", "web of nobody"},
		},
		"a Deployment that the Foo owns, but doesn't control, is left alone": {
			given: cluster{deployments: having(ownedToo(deployment("web", app), foo), deployment("new", foo))},
			want:  []string{"new of example", "web of an app"},
		},
		"after a rename, the new one is created, and then the old one is deleted": {
			given: cluster{deployments: having(deployment("old", foo))},
			want:  []string{"new of example"},
		},
		"after a crash between the two writes, the old one is deleted": {
			given: cluster{deployments: having(deployment("old", foo), deployment("new", foo))},
			want:  []string{"new of example"},
		},
		"if the server refuses the new one, the old one stays": {
			given:   cluster{deployments: having(deployment("old", foo)), refuseCreate: quota},
			want:    []string{"old of example"},
			wantErr: apierrors.IsForbidden,
		},
		"if the name is taken, nothing is written": {
			given: cluster{deployments: having(deployment("old", foo), deployment("new", other))},
			want:  []string{"new of other", "old of example"},
		},
		"if the name is taken just before the create, the old one stays": {
			given: cluster{
				deployments:     having(deployment("old", foo)),
				beforeNextWrite: func(c *cluster) { c.put(deployment("new", nil)) },
			},
			want:    []string{"new of nobody", "old of example"},
			wantErr: apierrors.IsAlreadyExists,
		},
		"if the new one is being deleted, the old one stays": {
			given: cluster{deployments: having(deployment("old", foo), terminating(deployment("new", foo)))},
			want:  []string{"new of example, being deleted", "old of example"},
		},
		"after two renames, the new one is created, and then both old ones are deleted": {
			given: cluster{deployments: having(deployment("older", foo), deployment("old", foo))},
			want:  []string{"new of example"},
		},
		"an old one that is being deleted isn't deleted again": {
			given: cluster{deployments: having(terminating(deployment("old", foo)), deployment("new", foo))},
			want:  []string{"new of example", "old of example, being deleted"},
		},
		"if another Deployment takes the old name just before the delete, Sync returns the conflict": {
			given: cluster{
				deployments:     having(deployment("old", foo), deployment("new", foo)),
				beforeNextWrite: func(c *cluster) { c.put(deployment("old", nil)) },
			},
			want:    []string{"new of example", "old of nobody"},
			wantErr: apierrors.IsConflict,
		},
		"if someone else deletes the old one first, Sync returns no error": {
			given: cluster{
				deployments:     having(deployment("old", foo), deployment("new", foo)),
				beforeNextWrite: func(c *cluster) { c.remove("old") },
			},
			want: []string{"new of example"},
		},
		"if the server refuses the delete, Sync returns the error": {
			given:   cluster{deployments: having(deployment("old", foo), deployment("new", foo)), refuseDelete: broken},
			want:    []string{"new of example", "old of example"},
			wantErr: apierrors.IsInternalError,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := &test.given
			c.t, c.foo = t, foo

			err := settle(c)

			switch {
			case test.wantErr == nil && err != nil:
				t.Errorf("the error is %v, want none", err)
			case test.wantErr != nil && !test.wantErr(err):
				t.Errorf("the error is %v, want the server's refusal, as it came or wrapped by %%w", err)
			}
			if got := c.describe(); !slices.Equal(got, test.want) {
				t.Errorf("the namespace has [%s], want [%s]", strings.Join(got, "; "), strings.Join(test.want, "; "))
			}
		})
	}
}

// settle calls Sync until a call writes nothing, but at most five times. It returns the first
// error.
func settle(c *cluster) (first error) {
	const calls = 5
	for range calls {
		before := len(c.writes)
		err := Sync(c.t.Context(), c.foo, c.list(), c)
		if first == nil {
			first = err
		}
		if len(c.writes) == before {
			return first
		}
	}
	if first == nil {
		c.t.Errorf("after %d calls, Sync still writes: %s", calls, strings.Join(c.writes, ", "))
	}
	return first
}

// describe describes all Deployments in the namespace.
func (c *cluster) describe() []string {
	var descriptions []string
	for _, deployment := range c.deployments {
		owner := "nobody"
		if reference := metav1.GetControllerOf(deployment); reference != nil {
			owner = string(reference.UID)
		}
		description := fmt.Sprintf("%s of %s", deployment.Name, owner)
		if !deployment.DeletionTimestamp.IsZero() {
			description += ", being deleted"
		}
		descriptions = append(descriptions, description)
	}
	slices.Sort(descriptions)
	return descriptions
}

// aFoo returns a Foo that asks for the Deployment "new".
func aFoo(name, uid string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(uid)},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "new", Replicas: new(int32(1))},
	}
}

// deployment returns a Deployment that foo controls. If foo is nil, nobody does.
func deployment(name string, foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	created := &appsv1.Deployment{}
	owner := "nobody"
	if foo != nil {
		created = desiredDeployment(foo)
		owner = string(foo.UID)
	}
	created.Namespace, created.Name = "default", name
	created.UID = types.UID("uid of " + name + " of " + owner)
	return created
}

// ownedToo adds foo to the Deployment's owners. Its controller is still the other owner, which
// becomes an App.
func ownedToo(deployment *appsv1.Deployment, foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	deployment.OwnerReferences[0].Kind = "App"
	owner := *metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))
	owner.Controller = nil
	deployment.OwnerReferences = append(deployment.OwnerReferences, owner)
	return deployment
}

func terminating(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	return deployment
}

func having(deployments ...*appsv1.Deployment) []*appsv1.Deployment { return deployments }
