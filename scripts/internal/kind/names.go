package kind

import "github.com/distribution/reference"

// qualified is an image's name as containerd knows it: nginx is docker.io/library/nginx:latest.
func qualified(image string) (string, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", err
	}
	return reference.TagNameOnly(named).String(), nil
}
