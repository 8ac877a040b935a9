#!/bin/sh
# house.sh: the includes that a folder may have, the lengths that files, functions and lines may have, and no binaries. Prints
# violations and exits 1; run from the top of the tree (or of a copy, for its own test).
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
forbid gen/predicates '(\.\./)*(gen/)?(hypotheses|rules|shrink)/' "predicates know no runs"
forbid gen/hypotheses '(\.\./)*(gen/)?(rules|shrink)/' "hypotheses fit evidence, and rules choose the runs for it"
forbid reference '(\.\./)*(gen|verify|reports|tests)/' "reference includes problems only"
forbid reports '(\.\./)*(gen|reference|verify|tests)/' "reports know result.h and what a problem is"
forbid verify '(\.\./)*tests/' "nothing but tests includes tests"
# Families of verify/, lowest first: each may include those before it. doc/architecture.md lists them in this order.
FAMILIES="util score history device runner sandbox worker build problem torch inspect session coverage diagnose compare export selftest batch cli"
above=
for family in $(echo "$FAMILIES" | tr ' ' '\n' | sed '1!G;h;$!d'); do
    [ -z "$above" ] || forbid "verify/$family" "(\.\./)*(verify/)?($above)/" "verify/$family may include these only: ${FAMILIES%%" $family"*}"
    above=$family${above:+|$above}
done
for folder in verify/*/; do
    family=${folder#verify/}
    case " $FAMILIES " in
    *" ${family%/} "*) ;;
    *) [ -z "$(code "$folder")" ] || complain "$folder has no place in the order of families" "add it to FAMILIES in tests/house.sh" ;;
    esac
done

for file in verify/session/judge.[ch] verify/session/witness.[ch] verify/session/expected_values.[ch]; do
    [ ! -f "$file" ] || forbid "$file" '(\.\./)*(verify/worker/|worker|buffers|evidence|session)' \
        "the judge knows no candidate: it takes an instance and the tensors of a call"
done

# --- length ---
FILE_LINES=400
FUNCTION_LINES=50
LINE_COLUMNS=110

# tests/house.ceilings lists what is still longer. A row has a kind (file, function, columns), a path and the present length,
# which may only shrink. `columns` counts the long lines of a file, or of all files in a folder.
CEILINGS=tests/house.ceilings

# C as above without CUDA candidates and the corpora, and Python without candidates and tasks (as ruff.toml has it).
measured() {
    code gen reference verify reports tests problems | grep -vE '^tests/(.*\.cu$|corpora/)'
    find -L verify tests \( -path tests/corpora -o -path 'tests/python/bad' -o -path 'tests/python/honest' -o \
        -path 'tests/python/hacks' -o -path 'tests/python/tasks' -o -path 'tests/python/own' -o \
        -path 'tests/python/state' \) -prune -o -name '*.py' -print 2>/dev/null
}

# lengths: "kind path length" of all above a limit, then the line where it is. A function of C begins with '{' in the
# first column and ends with '}' there; its length is that of its body. One of Python is what is indented below its `def`.
lengths() {
    measured | LC_ALL=C xargs -r awk -v lines=$FILE_LINES -v body=$FUNCTION_LINES -v columns=$LINE_COLUMNS '
        function end_file() {
            end_defs(0)
            if (count > lines) print "file", path, count
            if (wide) print "columns", path, wide, first
            count = wide = open = 0
        }
        function end_function(size, line) { if (size > body) print "function", path, size, line }
        function end_defs(indent) {
            for (; depth && at[depth] >= indent; depth--) end_function(last - from[depth], from[depth])
        }
        FNR == 1 { if (path) end_file(); path = FILENAME; python = path ~ /\.py$/ }
        {
            count++
            gsub(/[\200-\277]/, "") # bytes of a character after its first
            if (length($0) > columns && !wide++) first = FNR
        }
        !python && /^\{/ { open = FNR }
        !python && /^\}/ { if (open) end_function(FNR - open - 1, open); open = 0 }
        python && /[^ ]/ {
            match($0, /^ */)
            if ($0 !~ /^ *[])}]/) end_defs(RLENGTH)
            if ($0 ~ /^ *(async )?def /) { at[++depth] = RLENGTH; from[depth] = FNR }
            last = FNR
        }
        END { if (path) end_file() }'
}
too_long=$({ sed 's/^/ceiling /' $CEILINGS 2>/dev/null; lengths; } | awk '
    $1 == "ceiling" { ceiling[$2 " " $3] = $4; next }
    {
        key = $1 " " $2
        if ($1 == "columns")
            for (folder = $2; !(key in ceiling) && sub("/[^/]*$", "", folder);)
                if (("columns " folder) in ceiling) key = "columns " folder
        if (key in ceiling) { sum[key] = $1 == "columns" ? sum[key] + $3 : (sum[key] > $3 ? sum[key] : $3); next }
        if ($1 == "file") printf "%s: %d lines, above '$FILE_LINES'\n", $2, $3
        if ($1 == "function") printf "%s:%d: a function of %d lines, above '$FUNCTION_LINES'\n", $2, $4, $3
        if ($1 == "columns") printf "%s:%d: above '$LINE_COLUMNS' columns, as %d lines of the file are\n", $2, $4, $3
    }
    END {
        for (key in ceiling) {
            if (sum[key] > ceiling[key]) printf "%s: %d, above its ceiling of %d\n", key, sum[key], ceiling[key]
            if (!sum[key]) printf "%s: nothing needs this ceiling: take its row out of '$CEILINGS'\n", key
        }
    }' | sort)
[ -z "$too_long" ] || complain "$too_long" "one concept per file, one job per function: split it, wrap a long line; no ceiling may rise"

# --- no binaries ---
# By their names, or by a NUL byte. Pictures may stand under doc/. Stored inputs of the fuzzer are texts.
if git rev-parse --git-dir >/dev/null 2>&1; then
    binary=$({
        git ls-files | grep -E '\.(whl|egg|tar|tgz|gz|bz2|xz|zst|zip|7z|jar|deb|rpm|o|a|so|pyc|npy|npz|pt|safetensors)$'
        { git ls-files; git grep -I --cached -l -e ''; } | sort | uniq -u |
            while read -r file; do [ ! -s "$file" ] || echo "$file"; done
    } | grep -vE '^doc/.*\.(png|jpe?g|gif|pdf)$' | sort -u)
    [ -z "$binary" ] || complain "$binary" "a binary or an archive is tracked: git rm --cached it, and let a rule make it"
fi

exit $broken
