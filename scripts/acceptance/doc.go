// Package acceptance is the behaviour contract of the Foo operator, and that of the TDSet operator. Its tests build a chapter's programs,
// start them with a kubeconfig of their own, and look only at the API server: at the objects and at the audit log. So the same tests
// judge every chapter, whatever it is made of. A chapter about Foos has two programs: its own, and the solution of its exercise TDSet.
//
// What is promised, and which chapter keeps it through which fault, is declared in package contract; MATRIX.md shows that to readers.
// Here are the tests: those about TDSets are in the files whose names begin with tdset. They are called
// Test…/CHAPTER/PROMISE OR FAULT, as in TestContract/01-raw-watch/B4 drift: is put back.
//
//	./scripts/workshop test 01 --only B4   brings up a cluster for it and runs just these
//	TEST_KUBECONFIG=… TEST_AUDIT_LOG=… TEST_CHAPTERS=01 go test ./acceptance -parallel 8 -run /01/B4
//
// The same tests run on kind, where the node is a container and Pods are real. TEST_KIND_NODE names that container; it has to have the
// images that contract.Images lists, and contract.LeftOut says what isn't asked there. With TEST_IN_CLUSTER=1 the chapters' own
// programs run as Pods, from 03 on, and have to be on the node as images, too.
//
//	TEST_KIND_NODE=… TEST_IN_CLUSTER=1 TEST_KUBECONFIG=… TEST_AUDIT_LOG=… TEST_CHAPTERS=03 go test ./acceptance -parallel 4 -run /03/F7
package acceptance
