#!/bin/sh
# The catches of each defence: its cheats with all defences and without it. A cheat names its defences in its header.
#
#   tests/corpora/zoo/without.sh BUILD host|cuda [PATTERN]
#
# From the repository's root. Prints a table of defence, cheat, verdict with, verdict without, after a slash the share of the
# attainable where it has times. Words in a header that are no names of `verify --disable-defence` are left out. KEEP=FOLDER keeps the table;
# BESIDE=N is run.sh's --beside N. Exit status 1 when a defence catches no cheat that names it.
set -u

usage="usage: tests/corpora/zoo/without.sh BUILD host|cuda [PATTERN]"
build=${1:?$usage} device=${2:?$usage} pattern=${3:-}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
names=$("$build/unseen" verify x y --disable-defence '?' 2>&1 | sed -n '1s/.*expected some of //p' | tr -d ,)

# "DEFENCES PATH": a line for each pair; a "+" joins several into one, and commas separate them
tests/corpora/zoo/run.sh "$build" "$device" --list "cheats/$pattern" | while read -r path; do
    for defence in $(sed -n '1,16s|^// defence: *||p' "$path" | tr ',' ' '); do
        known=1
        for word in $(echo "$defence" | tr '+' ' '); do
            case " $names " in *" $word "*) ;; *) known=0 ;; esac
        done
        [ "$known" = 0 ] || echo "$(echo "$defence" | tr '+' ',') $path"
    done
done | sort >"$folder/pairs"

# "PATH VERDICT" from run.sh, after a slash the share of the attainable.
verdicts() {
    tests/corpora/zoo/run.sh "$build" "$device" ${BESIDE:+--beside "$BESIDE"} "$@" 2>/dev/null |
        awk '$2 ~ /^cheats/ {print "tests/corpora/zoo/" $2, $3 ($7 ~ /^[0-9]/ ? "/" $7 : "")}'
}
verdicts $(awk '{print $2}' "$folder/pairs" | sort -u) >"$folder/with"
printf '%-16s %-34s %-20s %s\n' defence cheat with without
for defence in $(awk '{print $1}' "$folder/pairs" | uniq); do
    verdicts --without "$defence" $(awk -v d="$defence" '$1 == d {print $2}' "$folder/pairs") >"$folder/without"
    awk -v d="$defence" 'NR == FNR {with[$1] = $2; next}
        {name = $1; sub(".*/", "", name); printf "%-16s %-34s %-20s %s\n", d, name, with[$1], $2}
    ' "$folder/with" "$folder/without" | tee -a "$folder/table"
done
[ -z "${KEEP:-}" ] || cp "$folder/table" "$KEEP/without.$device"
awk '{ n[$1]++; caught[$1] += $3 !~ /^general/ && $4 ~ /^general/ }
    END {
        printf "\n"
        for (d in n) printf "%-16s %d of %d become general without it\n", d, caught[d], n[d]
        for (d in n) if (!caught[d] && d != "flush" && d != "persisting") exit 1 # of these the times tell
    }' "$folder/table"
