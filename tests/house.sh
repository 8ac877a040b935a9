#!/bin/sh
# house.sh: the includes that a folder may have, and the lengths that files and functions may have. Prints violations and
# exits 1; run from the top of the tree (or of a copy, for its own test).
broken=0
complain() { # what, hint
    echo "$1" >&2
    echo "---> $2" >&2
    broken=1
}

code() { # the code under these folders; of problems without their kernels, which are as their authors like
    find -L "$@" \( -path 'problems/*/bad' -o -path 'problems/*/honest' -o -path 'problems/*/faults' \) -prune -o \
        \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cpp' \) -print 2>/dev/null |
        grep -vE '^problems/[^/]*/[^/]*\.cu$|^problems/[^/]*/(baseline|fast)\.c$' | sort
}

# forbid FROM PATTERN WHY: no file under FROM includes a path that matches.
forbid() {
    found=$(code $1 | xargs -r grep -nE "^#include \"($2)" /dev/null)
    [ -z "$found" ] || complain "$found" "$3"
}

# --- internal headers: in the folder of their family only ---
for file in $(code gen reference verify reports problems); do
    folder=${file%/*}
    for header in $(sed -nE 's|^#include "([^"]*_internal\.h)"|\1|p' "$file"); do
        case $header in
        */*) [ "${header%/*}" = "$folder" ] ||
            complain "$file includes $header" "give $header's folder a public header with what is needed" ;;
        esac
    done
done

# --- arrows point one way ---
# (a reference.h is compiled by reference/, with what its form needs)
forbid problems '(\.\./)*(gen|verify|reports|tests)/' "problems include their own headers only"
for file in $(code problems | grep -v '/reference[^/]*\.h$'); do
    forbid "$file" '(\.\./)*reference/' "problems include their own headers only"
done
for file in $(code problems | grep -E '^problems/[^/]*/([^/]*\.h|problem\.c)$'); do
    forbid "$file" '\.\./' "a folder that is copied elsewhere finds headers from the root only: problems/problem.h"
done
forbid gen '(\.\./)*(reference|verify|reports|tests)/' "gen includes problems only"
forbid reference '(\.\./)*(gen|verify|reports|tests)/' "reference includes problems only"
forbid reports '(\.\./)*(gen|reference|verify|tests)/' "reports know result.h and what a problem is"
forbid verify '(\.\./)*tests/' "nothing but tests includes tests"
for family in verify/*; do
    [ "$family" = verify/cli ] ||
        forbid "$family" '(\.\./)*(verify/)?cli/' "verify/cli fills the options of the families below it"
done
forbid verify/system '(\.\./)*verify/' "verify/system is for all families and knows none"
for family in verify/build verify/device verify/isolate verify/measure verify/problem; do
    forbid "$family" '(\.\./)*verify/(session|diagnose|audit)/' "sessions stand on $family, not the other way"
done

# --- length ---
FILE_LINES=500
FUNCTION_LINES=60
for file in $(code gen reference verify reports tests problems); do
    lines=$(wc -l <"$file")
    [ "$lines" -le $FILE_LINES ] || complain "$file: $lines lines, above $FILE_LINES" "one concept per file: split it"
done
# A function begins with '{' in the first column and ends with '}' there; its length is that of its body.
long=$(code gen reference verify reports tests problems | xargs -r awk -v most=$FUNCTION_LINES '
    FNR == 1 { open = 0 }
    /^\{/ { open = FNR }
    /^\}/ { if (open && FNR - open - 1 > most) printf "%s:%d: a function of %d lines, above %d\n", FILENAME, open,
            FNR - open - 1, most; open = 0 }')
[ -z "$long" ] || complain "$long" "split it by what it does"

exit $broken
