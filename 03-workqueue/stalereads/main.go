// Command stalereads compares what a controller can do about a cache that doesn't have its own last
// writes yet. It needs a cluster with the CRD of the Foos:
//
//	go run ./03-workqueue/stalereads --behind 1s
//
// Read sync.go first, and then consistency.go and expectations.go. measure.go has the experiment,
// wire.go makes the cache late, and table.go prints the result.
package main

func main() {
	compare(
		row{"nothing", start(trustCache)},
		row{"expectations", start(useExpectations)},
		row{"live reads", start(readLive)},
		row{"remembered resourceVersions", start(trackWrites)},
	)
}
