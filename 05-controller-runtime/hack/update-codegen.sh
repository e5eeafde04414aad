#!/usr/bin/env bash
# Regenerates all generated code from the types in pkg/apis. Run it after each change there. It
# needs Go and bash, and works in a folder with any name and place.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob
export GOWORK=off # use only this module, at its own versions, and not the workspace

# kube_codegen.sh installs its generators into GOBIN, and leaves a file in TMPDIR. Use a temporary
# directory for both, so that neither ends up among your own files.
GOBIN=$(mktemp -d)
export GOBIN TMPDIR=$GOBIN
trap 'rm -rf "$GOBIN"' EXIT

boilerplate=hack/boilerplate.go.txt # the header of each generated file
go mod download k8s.io/code-generator # a fresh clone may not have it yet
# shellcheck source=/dev/null
source "$(go list -m -f '{{.Dir}}' k8s.io/code-generator)/kube_codegen.sh"

for folder in pkg exercises/*/pkg; do # an exercise has types of its own
    # 1. Delete what an earlier run generated. If a tag is missing now, its code is missing too, so
    # the build fails. Otherwise the old code would remain, and nobody would notice.
    find "$folder/apis" -name 'zz_generated.*' -delete

    # 2. DeepCopy and registration, beside the types. Chapter 04 also generated clients.
    kube::codegen::gen_helpers --boilerplate "$boilerplate" "$folder/apis"
    kube::codegen::gen_register --boilerplate "$boilerplate" "$folder/apis"
done
