#!/bin/sh
# A known-bad kernel from its patch. $1: problems/NAME/faults/KERNEL.patch, a header as every candidate has, its
# last line "// base: FILE" (of problems/NAME), then the hunks of a unified diff of that file. $2: the kernel,
# build/faults/NAME/KERNEL: the patch's header and the base's code with the fault. Beside it $2.d tells make what
# it was made from. A patch must fit exactly where it says: a hunk that has to be moved or bent is an error.
set -eu
patch=$1 kernel=$2
problem=$(dirname "$(dirname "$patch")")
base=$problem/$(sed -n 's|^// base: ||p' "$patch")

fail() {
    rm -f "$kernel" "$kernel.part"
    printf '%s: %s\n---> %s\n' "$patch" "$1" "$2" >&2
    exit 1
}

[ "$base" != "$problem/" ] || fail "no line '// base: FILE'" "name the file of $problem/ that the patch changes"
[ -f "$base" ] || fail "its base, $base, does not exist" "correct the line '// base:'"
mkdir -p "$(dirname "$kernel")"
said=$(LC_ALL=C patch --unified --fuzz=0 --reject-file=- --output="$kernel.part" "$base" "$patch" 2>&1) &&
    case $said in *Hunk*) false;; esac ||
    fail "it does not fit its base, $base:
$said" "put the fault into a copy of the base, and the output of 'diff -U1 $base COPY', from the first @@ on, into the patch"
printf '%s: %s\n%s:\n' "$kernel" "$base" "$base" >"$kernel.d"

# The base's own header goes; what it includes lies beside the base.
{
    sed '/^\/\/ base:/q' "$patch"
    awk -v from="../../../$(dirname "$base")/" '!code && /^\/\// { next }
        { code = 1; sub(/^#include "/, "&" from); print }' "$kernel.part"
} >"$kernel"
rm "$kernel.part"
