// Short names for TDSet's types, which are in pkg/apis/schedule/v1. Chapter 06 has the types in this
// package, so with these names, files such as schedule.go are the same in all chapters.

package main

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	schedulev1 "example.com/operators/05-controller-runtime/exercises/5-tdset/pkg/apis/schedule/v1"
)

type (
	TDSet       = schedulev1.TDSet
	TDSetSpec   = schedulev1.TDSetSpec
	TDSetStatus = schedulev1.TDSetStatus
	Scheduling  = schedulev1.Scheduling
)

// groupVersion is the API group and version of TDSet, as in its apiVersion field.
var groupVersion = schema.GroupVersion(schedulev1.GroupVersion)
