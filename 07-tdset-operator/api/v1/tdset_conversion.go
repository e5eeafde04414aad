// The conversion: how a TDSet of v1 becomes one of v2, which is the hub, and back. The API server
// calls it for each request in a version that isn't stored. more/api.md has the rules, and a test
// for each of them. windows.go has those for the windows, which is where the two versions differ.

package v1

import (
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/log"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// ConvertTo converts this TDSet to v2. It fails only if hub isn't a TDSet of v2. Both objects share
// what they have in common, so change neither of them afterwards.
func (src *TDSet) ConvertTo(hub conversion.Hub) error {
	dst, isTDSet := hub.(*schedulev2.TDSet)
	if !isTDSet {
		return fmt.Errorf("convert TDSet %s/%s to %T: the hub is *v2.TDSet", src.Namespace, src.Name, hub)
	}
	dst.ObjectMeta = src.ObjectMeta
	kept, err := takeKeptWindows(&dst.ObjectMeta)
	if err != nil {
		// There is no other way to report it: the answer to a ConversionReview has no warnings.
		log.Log.WithName("conversion").Info("Ignoring an annotation",
			"namespace", src.Namespace, "name", src.Name, "annotation", keptWindows, "err", err.Error())
	}
	windows := windowsToV2(src.Spec.SchedulingConfig, kept)
	dst.Spec = schedulev2.TDSetSpec{
		Container:       schedulev2.Container(src.Spec.Container),
		Service:         (*schedulev2.Service)(src.Spec.Service),
		Windows:         windows,
		DefaultReplicas: src.Spec.DefaultReplica,
		TimeZone:        src.Spec.TimeZone,
		IntervalMinutes: src.Spec.IntervalMint,
	}
	dst.Status = schedulev2.TDSetStatus(src.Status)
	isActive := func(window Scheduling) bool { return window.hours() == src.Status.ActiveWindow }
	if i := slices.IndexFunc(src.Spec.SchedulingConfig, isActive); i >= 0 {
		dst.Status.ActiveWindow = windows[i].Name
	}
	return nil
}

// ConvertFrom makes this TDSet the v1 view of a TDSet of v2. Like ConvertTo, it fails only if hub
// isn't one, and both objects share what they have in common.
func (dst *TDSet) ConvertFrom(hub conversion.Hub) error {
	src, isTDSet := hub.(*schedulev2.TDSet)
	if !isTDSet {
		return fmt.Errorf("convert %T to a TDSet of v1: the hub is *v2.TDSet", hub)
	}
	dst.ObjectMeta = src.ObjectMeta
	windows := windowsToV1(src.Spec.Windows)
	if err := keepWindows(&dst.ObjectMeta, src.Spec.Windows, windows); err != nil {
		return fmt.Errorf("convert TDSet %s/%s to v1: %w", src.Namespace, src.Name, err)
	}
	dst.Spec = TDSetSpec{
		Container:        Container(src.Spec.Container),
		Service:          (*Service)(src.Spec.Service),
		SchedulingConfig: windows,
		DefaultReplica:   src.Spec.DefaultReplicas,
		TimeZone:         src.Spec.TimeZone,
		IntervalMint:     src.Spec.IntervalMinutes,
	}
	dst.Status = TDSetStatus(src.Status)
	isActive := func(window schedulev2.Window) bool { return window.Name == src.Status.ActiveWindow }
	if i := slices.IndexFunc(src.Spec.Windows, isActive); i >= 0 {
		dst.Status.ActiveWindow = windows[i].hours()
	}
	return nil
}
