// TDSet's types live in pkg/apis/schedule/v1, where generators look for them. Here they have the
// same names as in earlier chapters, so that files such as schedule.go can stay the same.

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
