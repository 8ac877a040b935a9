#!/bin/sh
# run.sh [--held-out] [--all] [--problem P] [--jobs N] [--seed S] [--effort E] [--out FILE] [NAME..]: `unseen verify` on each
# fault of the corpus (those that are not held out), and one line of a table for each, on standard output or in FILE:
#
#   name problem kind side found verdict agreement class rule when minimal no_rule seconds
#
# found: a configuration failed. agreement: of 1000 fresh configurations of the contract (drawn with seed S + 1000), on how
# many the rule says what `when` says; class: right from 98% on, one-sided where it says that it is sure of one side only and
# is right there on 98%, else misleading below 90%, partial between, none without a rule,
# unread where the rule is no condition; free where the fault has no `when`. Where `when` has a side a rule may know more than it
# does: below 98% its class is apart. BUILD is the folder of the binaries; LIMIT the seconds of one verify (900).
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$folder/../../build}
held=0 problem= jobs=1 seed=1 effort=quick out= one=0

while [ $# -gt 0 ]; do
    case $1 in
    --held-out) held=1; shift ;;
    --all) held=.; shift ;;
    --problem) problem=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --effort) effort=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --one) one=1; shift ;;
    -*) echo "run.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done

field() { # key at the top of the result
    sed -n "s/^ \"$1\": \"\(.*\)\",*\$/\1/p" "$work/v.json" | head -1
}

# Of 1000 fresh configurations, in tenths of a percent: on how many the rule says what `when` says, and of those on the side
# that a rule of one side is sure of (where it does not hold of a necessary one, where it holds of a partial one), how many
# `when` says the same of. Empty when the rule is no condition.
agreement() { # problem, rule, when, kind
    "$build/unseen" draw "$1" --device host --unseen 1000 --seed $((seed + 1000)) 2>/dev/null | sed 's/ *#.*//' |
        "$build/unseen-agree" "$1" "$2" "$3" 2>/dev/null |
        awk -v kind="$4" '{ r = substr($1, 1, 1); w = substr($1, 2, 1); all++; same += r == w
            if (r == (kind == "partial")) { side++; sure += r == w } }
            END { if (all >= 1000) print int(same * 1000 / all), side ? int(sure * 1000 / side) : 0 }'
}

run_one() { # name
    file=$folder/$1.c
    row=$(grep "^$1	" "$folder/BUGS.tsv")
    of=$(printf %s "$row" | cut -f2)
    kind=$(printf %s "$row" | cut -f4)
    when=$(printf %s "$row" | cut -f5)
    side=$(sed -n 's|^// side: ||p' "$file" | head -1)
    work=$(mktemp -d)
    start=$(date +%s)
    timeout "${LIMIT:-900}" "$build/unseen" verify "$of" "$file" --device host --no-lease --no-timing --effort "$effort" \
        --seed "$seed" --json "$work/v.json" -q >/dev/null 2>"$work/err" || true
    seconds=$(($(date +%s) - start))
    if [ ! -s "$work/v.json" ]; then
        printf '%s\t%s\t%s\t%s\t?\tno result: %s\t-\t-\t\t%s\t\t\t%s\n' "$1" "$of" "$kind" "$side" \
            "$(head -1 "$work/err")" "$when" $seconds
        rm -rf "$work"
        return
    fi
    verdict=$(field verdict)
    rule=$(sed -n '/^ "rule": {/,/^ }/s/^  "text": "\(.*\)",*$/\1/p' "$work/v.json" | head -1)
    none=$(sed -n 's/^  "no_rule": "\(.*\)",*$/\1/p' "$work/v.json" | head -1)
    found=$([ "$verdict" = general ] && echo no || echo yes)
    same=
    class=none
    if [ -z "$when" ]; then class=free
    elif [ -n "$rule" ]; then
        told=$(sed -n '/^ "rule": {/,/^ }/s/^  "kind": "\(.*\)",*$/\1/p' "$work/v.json" | head -1)
        same=$(agreement "$of" "$rule" "$when" "$told")
        sure=${same#* }
        same=${same% *}
        if [ -z "$same" ]; then class=unread
        elif [ "$same" -ge 980 ]; then class=right
        elif [ "$told" != two_sided ] && [ "$sure" -ge 980 ]; then class=one-sided
        elif [ -n "$side" ]; then class=apart
        elif [ "$same" -lt 900 ]; then class=misleading
        else class=partial
        fi
    fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$of" "$kind" "${side:-exact}" $found "$verdict" \
        "${same:--}" $class "$rule" "$when" "$(field minimal)" "$none" $seconds
    rm -rf "$work"
}

if [ $one = 1 ]; then
    run_one "$1"
    exit
fi
[ -z "$out" ] || exec >"$out"
printf 'name\tproblem\tkind\tside\tfound\tverdict\tagreement\tclass\trule\twhen\tminimal\tno_rule\tseconds\n'
if [ $# -gt 0 ]; then printf '%s\n' "$@"
else # in an order that mixes problems
    awk -F'\t' -v held="$held" -v problem="$problem" 'NR > 1 && $6 ~ held && (problem == "" || $2 == problem) { print $1 }' \
        "$folder/BUGS.tsv" | while read -r name; do printf '%s %s\n' "$(printf %s "$name" | sha256sum | cut -c3-12)" "$name"; done |
        sort | cut -d' ' -f2
fi | xargs -P "$jobs" -n 1 sh "$0" --one --seed "$seed" --effort "$effort"
