#!/bin/sh
# Makes a known-bad kernel from its patch, or follows a base whose lines have only moved:
#     sh tests/fault.sh problems/NAME/faults/KERNEL.patch build/faults/NAME/KERNEL
#     sh tests/fault.sh --renumber problems/NAME/faults/KERNEL.patch ..
# A patch has a header like every candidate, whose last line is "// base: FILE" (of problems/NAME). Then follow the hunks of a unified
# diff of that file. The kernel is the patch's header and the base's code with the fault. KERNEL.d beside it names its sources for
# make. A patch must fit exactly at its place: a hunk that would have to be moved or bent is an error.
set -eu
hint="put the fault into a copy of the base, and the output of 'diff -U1 -p BASE COPY', from the first @@ on, into the patch"
moved="or, where the base's lines have only moved: sh tests/fault.sh --renumber PATCH"

fail() {
    rm -f "$kernel" "$kernel.part"
    printf '%s: %s\n---> %s\n' "$patch" "$1" "$2" >&2
    exit 1
}

# Leaves the base with the fault in $kernel.part, and patch's messages in $said.
apply() {
    problem=$(dirname "$(dirname "$patch")")
    base=$problem/$(sed -n 's|^// base: ||p' "$patch")
    [ "$base" != "$problem/" ] || fail "no line '// base: FILE'" "name the file of $problem/ that the patch changes"
    [ -f "$base" ] || fail "its base, $base, does not exist" "correct the line '// base:'"
    said=$(LC_ALL=C patch --unified --fuzz=0 --reject-file=- --output="$kernel.part" "$base" "$patch" 2>&1) ||
        fail "it does not fit its base, $base:
$said" "$hint"
}

make_kernel() {
    mkdir -p "$(dirname "$kernel")"
    apply
    case $said in *Hunk*) fail "it does not fit its base, $base:
$said" "$hint; $moved";; esac
    printf '%s: %s\n%s:\n' "$kernel" "$base" "$base" >"$kernel.d"
    # The base's own header goes; its included files lie beside the base.
    {
        sed '/^\/\/ base:/q' "$patch"
        awk -v from="../../../$(dirname "$base")/" '!code && /^\/\// { next }
            { code = 1; sub(/^#include "/, "&" from); print }' "$kernel.part"
    } >"$kernel"
    rm "$kernel.part"
}

# "Hunk #2 succeeded at 57 (offset -1 lines)." has the offset by which the second "@@ -58,2 +59,3 @@" is wrong.
renumber() {
    kernel=$patch.moved
    apply
    printf '%s\n' "$said" | awk '
        function shift(range, by) { split(range, part, ","); return part[1] + by (part[2] != "" ? "," part[2] : "") }
        NR == FNR { if ($1 == "Hunk") by[substr($2, 2)] = $7; next }
        /^@@ / { n++; $2 = "-" shift(substr($2, 2), by[n]); $3 = "+" shift(substr($3, 2), by[n]) }
        { print }' - "$patch" >"$kernel"
    mv "$kernel" "$patch"
    rm "$kernel.part"
}

if [ "$1" = --renumber ]; then
    shift
    for patch; do renumber; done
else
    patch=$1 kernel=$2
    make_kernel
fi
