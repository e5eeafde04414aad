// Command stand-in runs in the Pods of the end-to-end tests, so that no image has to be pulled.
// Without arguments, it serves HTTP. `stand-in get URL` sends a request, like curl.
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
