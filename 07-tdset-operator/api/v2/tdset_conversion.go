// v2 is the hub: all other versions convert to it and from it. So each new version needs one
// conversion, instead of one for each other version.

package v2

// Hub marks TDSet as the hub. The conversions are methods of the other versions' types: see
// api/v1/tdset_conversion.go.
func (*TDSet) Hub() {}
