//go:build check || solution

// The tests of OnDelete. Each case is one call by the informer.
//
// As given, OnDelete handles Deployments and nothing else. `workshop test` checks these failures:
//
// fails: TestOnDelete/a tombstone: handle is called for the Foo in the last known state
// says: OnDelete panicked: interface conversion
//
// fails: TestOnDelete/a tombstone of a Deployment that a Foo of another group controlled: handle isn't called
// says: OnDelete panicked: interface conversion
//
// fails: TestOnDelete/a tombstone without an object: the error contains the key
// says: OnDelete panicked: interface conversion
//
// fails: TestOnDelete/a tombstone of another type: the error contains the type
// says: OnDelete panicked: interface conversion
//
// fails: TestOnDelete/an object of another type: the error contains the type
// says: OnDelete panicked: interface conversion
//
// fails: TestOnDelete/a Deployment by value, which no informer sends: the error contains the type
// says: OnDelete panicked: interface conversion
//
// fails: TestOnDelete/a Deployment that a Foo of another group controlled: handle isn't called
// says: OnDelete called handle for [default/example], want []
//
// fails: TestOnDelete/a Deployment that a Foo of a group with a longer name controlled: handle isn't called
// says: OnDelete called handle for [default/example], want []

package tombstone

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestOnDelete(t *testing.T) {
	const ours, theirs = "samplecontroller.k8s.io/v1alpha1", "example.com/v1alpha1"
	const longer = "samplecontroller.k8s.io.example.com/v1alpha1"
	for sentence, test := range map[string]struct {
		obj         any
		wantHandled []string
		wantErr     string // a part of the message; "" means no error
	}{
		"a Deployment that our Foo controlled: handle is called for the Foo": {
			obj:         controlledBy(ours, "Foo"),
			wantHandled: []string{"default/example"},
		},
		"a Deployment whose owner reference has another version of our group: it is the same Foo": {
			obj:         controlledBy("samplecontroller.k8s.io/v1beta1", "Foo"),
			wantHandled: []string{"default/example"},
		},
		"a Deployment that a Foo of another group controlled: handle isn't called": {
			obj: controlledBy(theirs, "Foo"),
		},
		"a Deployment that a Foo of a group with a longer name controlled: handle isn't called": {
			obj: controlledBy(longer, "Foo"),
		},
		"a Deployment that our Foo owned, but didn't control: handle isn't called": {
			obj: ownedToo(controlledBy(theirs, "App"), ours, "Foo"),
		},
		"a Deployment that another kind of our group controlled: handle isn't called": {
			obj: controlledBy(ours, "Bar"),
		},
		"a Deployment without a controller: handle isn't called": {
			obj: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}},
		},
		"a tombstone: handle is called for the Foo in the last known state": {
			obj:         cache.DeletedFinalStateUnknown{Key: "default/web", Obj: controlledBy(ours, "Foo")},
			wantHandled: []string{"default/example"},
		},
		"a tombstone of a Deployment that a Foo of another group controlled: handle isn't called": {
			obj: cache.DeletedFinalStateUnknown{Key: "default/web", Obj: controlledBy(theirs, "Foo")},
		},
		"a tombstone without an object: the error contains the key": {
			obj:     cache.DeletedFinalStateUnknown{Key: "default/web"},
			wantErr: "default/web",
		},
		"a tombstone of another type: the error contains the type": {
			obj:     cache.DeletedFinalStateUnknown{Key: "default/web", Obj: &corev1.Pod{}},
			wantErr: "*v1.Pod",
		},
		"an object of another type: the error contains the type": {
			obj:     &corev1.Pod{},
			wantErr: "*v1.Pod",
		},
		"a Deployment by value, which no informer sends: the error contains the type": {
			obj:     *controlledBy(ours, "Foo"),
			wantErr: "v1.Deployment",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			// Without this, a panic would end all other cases too.
			defer func() {
				if panicked := recover(); panicked != nil {
					t.Errorf("OnDelete panicked: %v", panicked)
				}
			}()
			var handled []string
			err := OnDelete(test.obj, func(foo types.NamespacedName) { handled = append(handled, foo.String()) })

			if !slices.Equal(handled, test.wantHandled) {
				t.Errorf("OnDelete called handle for %v, want %v", handled, test.wantHandled)
			}
			switch {
			case test.wantErr == "" && err != nil:
				t.Errorf("the error is %q, want none", err)
			case test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)):
				t.Errorf("the error is %v, want one that contains %s", err, test.wantErr)
			}
		})
	}
}

// controlledBy returns the Deployment default/web, controlled by an object of that kind, called
// example.
func controlledBy(apiVersion, kind string) *appsv1.Deployment {
	owner := metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "example", UID: "1", Controller: new(true)}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web", OwnerReferences: []metav1.OwnerReference{owner},
	}}
}

// ownedToo adds another owner to deployment, which doesn't control it.
func ownedToo(deployment *appsv1.Deployment, apiVersion, kind string) *appsv1.Deployment {
	owner := metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "example", UID: "2"}
	deployment.OwnerReferences = append(deployment.OwnerReferences, owner)
	return deployment
}
