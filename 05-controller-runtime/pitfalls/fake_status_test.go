// You write a status through controller-runtime's fake client and expect it to act like a server.
// But the fake reads no CRD, so it doesn't know that Foo has a status subresource: Status().Update
// returns "not found". Update, on the other hand, writes the status too, so your test passes for a
// program that would never write a status on a real server.
//
// Tell the fake about it with WithStatusSubresource. It then treats the status as a server does.

package pitfalls

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

func TestFakeStatus(t *testing.T) {
	wrong := fake.NewClientBuilder()
	right := fake.NewClientBuilder().WithStatusSubresource(&samplecontrollerv1alpha1.Foo{})
	for _, test := range []struct {
		sentence     string
		builder      *fake.ClientBuilder
		wantNotFound bool
		want         int32 // the stored availableReplicas
	}{
		{"wrong: the fake doesn't know the subresource", wrong, true, 9},
		{"right: WithStatusSubresource", right, false, 1},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			foo := aFoo(metav1.ObjectMeta{Namespace: "default", Name: "a"})
			c := test.builder.WithObjects(foo).Build()
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))

			foo.Status.AvailableReplicas = 1
			err := c.Status().Update(t.Context(), foo)
			t.Logf("Status().Update with 1: %v", err)
			if apierrors.IsNotFound(err) != test.wantNotFound || !test.wantNotFound && err != nil {
				t.Errorf("Status().Update returned %v; want NotFound: %v", err, test.wantNotFound)
			}

			foo.Status.AvailableReplicas = 9
			must(t, c.Update(t.Context(), foo))
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))
			t.Logf("after Update with 9: availableReplicas %d", foo.Status.AvailableReplicas)
			if foo.Status.AvailableReplicas != test.want {
				t.Errorf("availableReplicas is %d, want %d", foo.Status.AvailableReplicas, test.want)
			}
		})
	}
}
