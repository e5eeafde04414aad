// The wait for the CRD. Without it, no index can be added, and the program would exit. This file is
// here for production and is the same from chapter 05 on, so read it last.

package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// waitForCRD returns nil when the server knows the kind, or an error when ctx ends.
func waitForCRD(ctx context.Context, mapper meta.RESTMapper, kind schema.GroupVersionKind) error {
	return wait.PollUntilContextCancel(ctx, 5*time.Second, true, func(context.Context) (bool, error) {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			klog.InfoS("Waiting: is the CRD applied?", "kind", kind.Kind, "err", err)
		}
		return err == nil, nil
	})
}
