// Command stand-in is what the end-to-end tests' own Pods run, so that no image has to be pulled: by itself it serves HTTP, as the images
// do that users would ask for, and as `stand-in get URL` it asks, as curl would.
package main

import (
	"cmp"
	"fmt"
	"os"
)

func main() {
	var err error
	if len(os.Args) > 1 && os.Args[1] == "get" {
		err = get(os.Args[2:])
	} else {
		err = serve(os.Getenv("LINGERS") != "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, cmp.Or(os.Getenv("HOSTNAME"), "stand-in")+":", err)
		os.Exit(1)
	}
}
