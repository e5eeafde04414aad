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
trap 'rm -rf "$GOBIN" hack/openapi' EXIT

module=$(go list -m)
boilerplate=hack/boilerplate.go.txt # the header of each generated file
go mod download k8s.io/code-generator # a fresh clone may not have it yet
# shellcheck source=/dev/null
source "$(go list -m -f '{{.Dir}}' k8s.io/code-generator)/kube_codegen.sh"

for folder in pkg exercises/*/pkg; do # an exercise has types of its own
    # 0. Delete what an earlier run generated. If a tag is missing now, its code is missing too, so
    # the build fails. Otherwise the old code would remain, and nobody would notice.
    rm -rf "$folder/generated" hack/openapi
    find "$folder/apis" -name 'zz_generated.*' -delete

    # 1. DeepCopy and registration, beside the types.
    kube::codegen::gen_helpers --boilerplate "$boilerplate" "$folder/apis"
    kube::codegen::gen_register --boilerplate "$boilerplate" "$folder/apis"

    # 2. The types' schema, for step 3 only. The report is about the naming rules of Kubernetes' own
    # types.
    kube::codegen::gen_openapi --boilerplate "$boilerplate" --update-report --report-filename "$GOBIN/report" \
        --output-dir hack/openapi --output-pkg "$module/hack/openapi" "$folder/apis"
    go run hack/openapi-schema.go > "$GOBIN/schema.json"

    # 3. Clientset, listers, informers and apply configurations.
    mkdir -p "$folder"/generated/{applyconfiguration,clientset,listers,informers} # kube_codegen.sh fails without these folders
    kube::codegen::gen_client --boilerplate "$boilerplate" --with-watch --with-applyconfig \
        --applyconfig-openapi-schema "$GOBIN/schema.json" \
        --output-dir "$folder/generated" --output-pkg "$module/$folder/generated" "$folder/apis"
done
