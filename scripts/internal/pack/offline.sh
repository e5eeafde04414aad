#!/usr/bin/env bash
# Tries an archive of `workshop pack` as a machine without a network does that has no Go, with an empty home and empty caches: the tour,
# an exercise as given and solved, and all tests of a chapter. Then it asks the kernel whether any process has tried to reach something
# other than this machine.
#
#     scripts/internal/pack/offline.sh ARCHIVE [TEST...]     TEST: what `workshop test` is given, 01 by default; "" for everything
#
# Linux only: it needs unshare (util-linux) and ip (iproute2), and a kernel that gives its user a network namespace of his own, or
# root. Elsewhere, take the network away and type the commands below. It takes 10 minutes on two cores.
set -euo pipefail

archive=$(realpath "$1")
shift
test $# -gt 0 || set -- 01
if [ -z "${OFFLINE:-}" ]; then # once more, where there is but loopback
    as=(unshare --net)
    test "$(id -u)" = 0 || as=(unshare --user --map-root-user --net)
    exec "${as[@]}" env -i OFFLINE=yes PATH=/usr/bin:/bin:/usr/sbin:/sbin TERM=dumb LC_ALL="${LC_ALL:-}" bash "$0" "$archive" "$@"
fi
ip link set lo up
if command -v go; then
    echo "this go command would hide that the archive's isn't found: $PATH" >&2
    exit 1
fi

dir=$(mktemp -d)
cleanUp() {
    if [ -x "$dir/operators/scripts/workshop" ]; then "$dir/operators/scripts/workshop" down --purge || true; fi
    chmod -R u+w "$dir"
    rm -rf "$dir"
}
trap cleanUp EXIT
export HOME=$dir/home
mkdir "$HOME"
tar -xzf "$archive" -C "$dir"
cd "$dir/operators"

try() {
    echo "\$ $*"
    local begun=$SECONDS status=0
    "$@" || status=$?
    echo "  (exit code $status, $((SECONDS - begun)) s)"
    return $status
}
attempts() { # packets for which there was no route, IPv4 and IPv6
    awk '$1 == "Ip:" { if (!n) { for (i = 1; i <= NF; i++) if ($i == "OutNoRoutes") n = i } else { print $n; exit } }' /proc/net/snmp
    awk '$1 == "Ip6OutNoRoutes" { print $2 }' /proc/net/snmp6
}

try ./scripts/workshop doctor
try ./scripts/workshop demo
if try ./scripts/workshop check 01/1; then
    echo "01/1 passes as given" >&2
    exit 1
fi
sed '1s/.*/\/\/go:build !solution/' 01-raw-watch/exercises/1-*/solution.go > given
mv given 01-raw-watch/exercises/1-*/exercise.go
try ./scripts/workshop check 01/1
try ./scripts/workshop reset 01/1
# A reader's own commands.
eval "$(./scripts/workshop env)"
try go vet ./01-raw-watch
try ./scripts/workshop test ${1:+"$@"}
tried=$(attempts | tr '\n' ' ')
du -sh "$HOME"
echo "attempts to leave this machine (IPv4, IPv6): $tried"
test "$tried" = "0 0 " || exit 1
