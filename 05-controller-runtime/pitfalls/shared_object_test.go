// A lister returns objects that everyone shares, so you have learned not to change them. What
// controller-runtime's client returns are copies, which you may change. But if you set
// UnsafeDisableDeepCopy to save time and memory, they are shared again: when you change one, it
// changes in the cache for everyone, and the API server never hears of it.
//
// With UnsafeDisableDeepCopy, copy an object before you change it. Predicates, index functions and
// the functions that you give to Watches get the cache's own objects in any case.

package pitfalls

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestSharedObject(t *testing.T) {
	paintRed := func(object *corev1.ConfigMap) { object.Data["color"] = "red" }
	copyFirst := func(object *corev1.ConfigMap) { paintRed(object.DeepCopy()) }
	for _, test := range []struct {
		sentence string
		change   func(*corev1.ConfigMap)
		shared   bool
		want     string
	}{
		{"wrong: change a shared object", paintRed, true, "red"},
		{"right: copy it first", copyFirst, true, "blue"},
		{"right: let the client copy", paintRed, false, "blue"},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := testenv.New(t)
			blue := map[string]string{"color": "blue"}
			must(t, c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: c.Meta("a"), Data: blue}))
			mgr := c.NewManager(t, func(options *ctrl.Options) {
				options.Cache.DefaultUnsafeDisableDeepCopy = &test.shared
			})
			start(t, mgr)

			var list, again corev1.ConfigMapList
			must(t, mgr.GetClient().List(t.Context(), &list))
			test.change(&list.Items[0])
			must(t, mgr.GetClient().List(t.Context(), &again))
			got := again.Items[0].Data["color"]
			t.Logf("in the cache, the color is now %s", got)
			if got != test.want {
				t.Errorf("the cached color is %s, want %s", got, test.want)
			}
		})
	}
}
