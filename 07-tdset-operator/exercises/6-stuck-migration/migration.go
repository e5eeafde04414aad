package migration

// CRD is the name of the CRD.
const CRD = "tdsets.schedule.rs"

// Cause is what keeps v1 in the CRD.
type Cause string

const (
	// Finished means that v1 isn't among the versions in which TDSets may be stored.
	Finished Cause = "nothing: v1 is no longer stored"
	// NotRewritten means that TDSets can be read, so somebody only has to write them again.
	NotRewritten Cause = "TDSets may still be stored in v1, and nobody has rewritten them"
	// NotConverted means that the API server can't convert a TDSet, so nobody can read it, and nobody
	// can rewrite it.
	NotConverted Cause = "a TDSet is stored in v1, and the conversion webhook doesn't answer"
)
