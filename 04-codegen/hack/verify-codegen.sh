#!/usr/bin/env bash
# Fails if the generated code isn't what hack/update-codegen.sh generates: somebody forgot to run
# it, or edited generated code by hand. It works on a copy, and changes nothing here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R go.mod go.sum hack "$copy"
for folder in pkg exercises/*/pkg; do
    mkdir -p "$copy/$folder"
    cp -R "$folder/." "$copy/$folder"
done
"$copy/hack/update-codegen.sh"

outdated=0
for folder in pkg exercises/*/pkg; do
    diff -ruN "$folder" "$copy/$folder" && echo "The generated code in $folder is up to date." && continue
    echo "The generated code in $folder is out of date: run hack/update-codegen.sh and commit what it writes." >&2
    outdated=1
done
exit "$outdated"
