// Package contract declares what the tests in scripts/acceptance judge: the promises about Foos and about TDSets, the faults, and
// which chapter doesn't keep a promise or doesn't hold through a fault.
//
// The declaration is in declaration.go. matrix.go shows it to readers, selection.go finds the tests of one promise or fault, and
// containers.go says what differs on a cluster where containers are real.
package contract
