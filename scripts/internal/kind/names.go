package kind

// The names of images.

import (
	"strings"

	"github.com/distribution/reference"
)

// qualified is an image's name as containerd knows it: nginx is docker.io/library/nginx:latest.
func qualified(image string) (string, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", err
	}
	return reference.TagNameOnly(named).String(), nil
}

// sameImage tells whether two names are one image's. A digest that only one of them has is nothing to go by.
func sameImage(a, b string) bool {
	a, _, _ = strings.Cut(a, "@")
	b, _, _ = strings.Cut(b, "@")
	first, errFirst := qualified(a)
	second, errSecond := qualified(b)
	return errFirst == nil && errSecond == nil && first == second
}
