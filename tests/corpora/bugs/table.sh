#!/bin/sh
# table.sh: BUGS.tsv from the first lines of the host candidates, CUDA.tsv from those of the CUDA ones: name, problem, link, kind,
# when, held_out. held_out is 2 for the second collection, 3 for the third and 4 for the fourth. Run from anywhere.
set -eu
cd "$(dirname "$0")"

tag() { # file, name
    sed -n "s|^// $2: ||p" "$1" | head -1
}

table() { # suffix: its candidates
    printf 'name\tproblem\tlink\tkind\twhen\theld_out\n'
    for file in *."$1"; do
        case $file in agree.c | list.c | *.good.c) continue ;; esac
        name=${file%."$1"}
        first=$(printf %s "$name" | sha256sum | cut -c1-2)
        held=$([ $((0x$first % 5)) = 0 ] && echo 1 || echo 0)
        case $(tag "$file" collection) in second) held=2 ;; third) held=3 ;; fourth) held=4 ;; esac
        printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$(tag "$file" problem)" "$(tag "$file" link)$(tag "$file" thread)" "$(tag "$file" kind)" \
            "$(tag "$file" when)" "$held"
    done
}

table c >BUGS.tsv.new
mv BUGS.tsv.new BUGS.tsv
table cu >CUDA.tsv.new
mv CUDA.tsv.new CUDA.tsv
