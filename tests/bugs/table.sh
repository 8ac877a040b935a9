#!/bin/sh
# table.sh: BUGS.tsv from the first lines of the candidates: name, problem, link, kind, when, held_out. Run from anywhere.
set -eu
cd "$(dirname "$0")"

tag() { # file, name
    sed -n "s|^// $2: ||p" "$1" | head -1
}

{
    printf 'name\tproblem\tlink\tkind\twhen\theld_out\n'
    for file in *.c; do
        case $file in agree.c | list.c) continue ;; esac
        name=${file%.c}
        first=$(printf %s "$name" | sha256sum | cut -c1-2)
        held=$([ $((0x$first % 5)) = 0 ] && echo 1 || echo 0)
        printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$(tag "$file" problem)" "$(tag "$file" link)" "$(tag "$file" kind)" \
            "$(tag "$file" when)" "$held"
    done
} >BUGS.tsv.new
mv BUGS.tsv.new BUGS.tsv
