// Package acceptance is the behaviour contract of the Foo operator, as tests. They build a chapter's program, start it with
// a kubeconfig of its own, and look only at the API server: at the objects and at the audit log. So the same tests judge
// every chapter, whatever it is made of.
//
//	./scripts/workshop test 01                 brings up a cluster for it and runs all there is
//	TEST_KUBECONFIG=… TEST_AUDIT_LOG=… TEST_CHAPTERS=01 go test ./acceptance -run 'TestContract/.*/B4'
package acceptance
