// What the image policy costs: dry-run creates of a Deployment, which is validated but never stored,
// without the rule and in each form. The webhook's program runs in this process, so its answers cross
// no network.

package main

import "testing"

// BenchmarkCreate measures a create with one client that waits for each answer, and then with eight
// clients for each processor.
//
//	go test -C 06-kubebuilder ./imagepolicy -run '^$' -bench Create -benchtime 1500x -count 3
func BenchmarkCreate(b *testing.B) {
	for _, form := range []string{"without", withWebhook, withPolicy} {
		namespace := newNamespace(b, form)
		create := func() {
			if err := tryCreate(b.Context(), namespace, "docker.io/library/nginx"); err != nil {
				b.Error(err)
			}
		}
		b.Run("one_client/"+form, func(b *testing.B) {
			for b.Loop() {
				create()
			}
		})
		b.Run("many_clients/"+form, func(b *testing.B) {
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					create()
				}
			})
		})
	}
}
