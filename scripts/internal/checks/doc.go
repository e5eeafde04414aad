// Package checks has the rules that can be checked by reading the repository's files. They are tests,
// and need no cluster.
package checks
