// Package acceptance is the behaviour contract of the Foo operator. Its tests build a chapter's program, start it with a
// kubeconfig of its own, and look only at the API server: at the objects and at the audit log. So the same tests judge every
// chapter, whatever it is made of.
//
// What is promised, and which chapter keeps it through which fault, is declared in declaration.go; matrix.go shows that to
// readers, and only.go finds the tests of one promise or fault. All else here is tests. They are called
// Test…/CHAPTER/PROMISE OR FAULT, as in TestContract/01-raw-watch/B4 drift: is put back.
//
//	./scripts/workshop test 01 --only B4   brings up a cluster for it and runs just these
//	TEST_KUBECONFIG=… TEST_AUDIT_LOG=… TEST_CHAPTERS=01 go test ./acceptance -run /01/B4
package acceptance
