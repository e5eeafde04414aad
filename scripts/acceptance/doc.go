// Package acceptance is the behavior contract of the Foo operator and of the TDSet operator. Its
// tests build a chapter's programs, start them with a kubeconfig of their own, and only look at the
// API server: at the objects and the audit log. So the same tests judge every chapter, whatever it
// consists of. A chapter about Foos has two programs: its own, and the solution of its exercise
// TDSet.
//
// Package contract declares the promises, and which chapter keeps them through which fault.
// MATRIX.md shows that to readers. The tests are here. Those about TDSets are in the files tdset_*.
// They are named Test…/CHAPTER/PROMISE OR FAULT, as in TestContract/01-raw-watch/B5 rename: if the
// new name is taken, the old Deployment stays. Where the judge proves a promise, the test is named
// TestJudge/CHAPTER/CHECK.
//
//	./scripts/workshop test 01 --only B5   brings up a cluster for it and runs just these
//	TEST_KUBECONFIG=… TEST_AUDIT_LOG=… TEST_CHAPTERS=01 go test ./acceptance -parallel 8 -run /01/B5
//
// These variables say where and what to test. Only the first two are required:
//
//	TEST_KUBECONFIG  an administrator's kubeconfig of a cluster that the tests may change as they like
//	TEST_AUDIT_LOG   the file of its API server's audit log
//	TEST_KUBECTL     kubectl, by default the one in .workshop/bin
//	TEST_CHAPTERS    the chapters, by default all
//	TEST_OWN         if set, only the chapters' own programs, and not the solutions of exercise TDSet
//	TEST_RACE        if set, the judge checks programs with the race detector
//	TEST_TIMEOUT     how long every wait may take, such as 45s
//	TEST_DISPOSABLE  if set, the namespaces stay, because the cluster is deleted after the tests
//	TEST_KIND_NODE   the container that is the node, if the cluster is one of kind
//
// On kind, Pods are real, and the node must have the images of contract.Images. Two things aren't
// tested there: what the judge checks, and webhooks at a URL.
package acceptance
