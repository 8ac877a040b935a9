#!/bin/sh
# run.sh [--held-out] [--second] [--third] [--fourth] [--all] [--twins] [--problem P] [--device host|cuda] [--jobs N] [--seed S] [--effort E] [--out FILE] [NAME..]:
# `unseen verify` on each fault of the corpus that is not held out. Prints one line of a table for each, on standard output or in
# FILE. --second, --third and --fourth take a later collection. --twins takes honest twins, those of all unless one is named; none should
# be found:
#
#   name problem kind side found verdict agreement class rule when minimal no_rule seconds inside steps runs
#
# found      a configuration failed
# agreement  among 1000 fresh configurations of the contract (seed S + 1000), how many the rule and `when` agree on
# class      right from 98% on; one-sided where the rule is sure of one side only and is right there on 98%; else misleading below
#            90%, partial between; none without a rule; unread where the rule is no condition; free where the fault has no `when`
# inside     among the draws that meet `when`, how many meet the rule, in tenths of a percent, and their number. A rule that never
#            holds agrees nearly everywhere with a rare condition.
# steps      among the configurations one step simpler than the smallest (tests/plant/plant_steps.h), how many still fail in the same
#            way when run, and their number. The smallest is minimal at 0.
# rule       of failures. If the candidate also refuses configurations and the report has a rule for that, the two are joined by `or`:
#            `when` names both.
# runs       configurations of the candidate itself. Where `when` has a side, a rule may know more than `when`. Below 98% the
#            candidate decides: of the draws that `when` leaves open, up to OPEN (40) inside the rule and as many outside are run.
#            Agreement and class then count against these results.
#
# BUILD is the folder of the binaries; LIMIT the seconds of one verify (900).
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$folder/../../../build}
held= problem= device=host jobs=1 seed=1 effort=quick out= one=0 twins=

while [ $# -gt 0 ]; do
    case $1 in
    --held-out) held=1; shift ;;
    --second) held=2; shift ;;
    --third) held=3; shift ;;
    --fourth) held=4; shift ;;
    --all) held=[01]; shift ;;
    --twins) twins=.good; shift ;;
    --problem) problem=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --effort) effort=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --one) one=1; shift ;;
    -*) echo "run.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done
held=${held:-${twins:+[234]}}
held=${held:-0}

case $device in
host) suffix=c table=$folder/BUGS.tsv ;;
cuda) suffix=cu table=$folder/CUDA.tsv ;;
*) echo "run.sh: --device $device: host or cuda is expected" >&2; exit 2 ;;
esac

field() { # key at the top of the result
    sed -n "s/^ \"$1\": \"\(.*\)\",*\$/\1/p" "$work/v.json" | head -1
}

# The 1000 fresh configurations, each after two digits: does the rule hold, does `when`? Nothing when the rule is no condition.
fresh() { # problem, rule, when
    "$build/unseen" draw "$1" --device "$device" --unseen 1000 --seed $((seed + 1000)) 2>/dev/null | sed 's/ *#.*//' |
        "$build/unseen-agree" "$1" "$2" "$3" 2>/dev/null
}

# In tenths of a percent: on how many of those the rule and `when` agree. Then the same on the side that a one-sided rule is sure of:
# outside of a necessary one, inside a partial one. Then the same where `when` holds, and the number of these. Empty when the rule is
# no condition.
agreement() { # kind
    awk -v kind="$1" '{ r = substr($1, 1, 1); w = substr($1, 2, 1); all++; same += r == w; held += w; both += r * w
            if (r == (kind == "partial")) { side++; sure += r == w } }
            END { if (all >= 1000) print int(same * 1000 / all), side ? int(sure * 1000 / side) : 0,
                  held ? int(both * 1000 / held) : "-", held }' "$work/fresh"
}

# The lines of a file, at most so many, evenly spread.
some() { # file, how many
    awk -v all="$(wc -l <"$1")" -v n="$2" 'NR - 1 >= next_one { print; next_one += all > n ? all / n : 1 }' "$1"
}

# Runs the candidate on draws that `when` leaves open: a digit for the rule, one for whether it fails.
run_open() { # problem, digit of `when` that leaves open
    for holds in 0 1; do
        grep "^$holds$2 " "$work/fresh" | cut -d' ' -f2- >"$work/open" || true
        some "$work/open" "${OPEN:-40}" | while read -r config; do
            case $(outcome_of "$1" "$config") in
            none | skipped) ;;
            pass) echo "$holds 0" ;;
            *) echo "$holds 1" ;;
            esac
        done
    done
}

# Like `agreement`, its first two numbers, with the candidate's results in the place of `when`, and the number of runs.
measured() { # problem, file, kind, side
    open=1
    [ "$4" = necessary ] || open=0
    build_candidate "$2" || return 0
    run_open "$1" $open >"$work/ran"
    awk -v kind="$3" -v open=$open 'FNR == NR { ran[$1]++; failed[$1] += $2; next }
        { r = substr($1, 1, 1); w = substr($1, 2, 1); all++; sides[r]++
          if (w != open) { same[r] += r == w; next }
          share = ran[r] ? failed[r] / ran[r] : 0
          same[r] += r == 1 ? share : 1 - share }
        END { sure = kind == "partial"
              if (all >= 1000) print int((same[0] + same[1]) * 1000 / all + 1e-6), sides[sure] ? int(same[sure] * 1000 / sides[sure] + 1e-6) : 0,
                  ran[0] + ran[1] }' "$work/ran" "$work/fresh"
}

build_candidate() { # file: once, where every `check` would do so
    if [ $suffix = c ]; then cc -std=gnu11 -O2 -march=native -fPIC -shared -fopenmp "$1" -o "$work/bug.so" -lm
    else nvcc -O3 -std=c++17 -arch=native -Xcompiler -fPIC -shared "$1" -o "$work/bug.so"
    fi 2>/dev/null
}

outcome_of() { # problem, configuration
    rm -f "$work/c.json"
    "$build/unseen" check "$1" "$work/bug.so" "$2" --device "$device" --no-lock -q --json "$work/c.json" \
        </dev/null >/dev/null 2>&1 || true
    outcome=$(sed -n 's/^ *"outcome": "\(.*\)",*$/\1/p' "$work/c.json" 2>/dev/null | head -1)
    printf '%s\n' "${outcome:-none}"
}

# How many of the steps from a configuration still fail in the same way, and how many steps there are. Nothing where the configuration
# does not fail again in four runs: an irregular failure cannot be compared.
steps_of() { # problem, file, configuration
    build_candidate "$2" || return 0
    for _ in 1 2 3 4; do
        outcome_of "$1" "$3" >"$work/outcome"
        grep -qx pass "$work/outcome" || break
    done
    ! grep -qx pass "$work/outcome" || return 0
    printf '%s\n' "$3" | "$build/unseen-agree" "$1" --steps "$folder/../../../shapes/$1.space" >"$work/steps" ||
        return 0
    while read -r step; do outcome_of "$1" "$step"; done <"$work/steps" |
        awk -v as="$(cat "$work/outcome")" '{ all++; same += $0 == as } END { print same + 0 "/" all + 0 }'
}

run_one() { # name
    file=$folder/$1$twins.$suffix
    row=$(grep "^$1	" "$table")
    of=$(printf %s "$row" | cut -f2)
    kind=$(printf %s "$row" | cut -f4)
    when=$(printf %s "$row" | cut -f5)
    side=$(sed -n 's|^// side: ||p' "$folder/$1.$suffix" | head -1)
    work=$(mktemp -d)
    start=$(date +%s)
    timeout "${LIMIT:-900}" "$build/unseen" verify "$of" "$file" --device "$device" --no-lock --no-timing --effort "$effort" \
        --seed "$seed" --json "$work/v.json" -q --explain >/dev/null 2>"$work/err" || true
    seconds=$(($(date +%s) - start))
    if [ ! -s "$work/v.json" ]; then
        printf '%s\t%s\t%s\t%s\t?\tno result: %s\t-\t-\t\t%s\t\t\t%s\t-\t-\t-\n' "$1" "$of" "$kind" "${side:-exact}" \
            "$(head -1 "$work/err")" "$when" $seconds
        rm -rf "$work"
        return
    fi
    verdict=$(field verdict)
    rule=$(sed -n '/^ "rule": {/,/^ }/s/^  "text": "\(.*\)",*$/\1/p' "$work/v.json" | head -1)
    refuses=$(sed -n '/"outcome": "refused"/,/^   }/s/^     "text": "\(.*\)",*$/\1/p' "$work/v.json" | head -1)
    [ -z "$rule" ] || [ -z "$refuses" ] || rule="$rule or $refuses"
    none=$(sed -n 's/^  "no_rule": "\(.*\)",*$/\1/p' "$work/v.json" | head -1)
    found=$([ "$verdict" = general ] && echo no || echo yes)
    same=
    inside=
    class=none
    runs=
    if [ -z "$when" ]; then class=free
    elif [ -n "$rule" ]; then
        told=$(sed -n '/^ "rule": {/,/^ }/s/^  "kind": "\(.*\)",*$/\1/p' "$work/v.json" | head -1)
        fresh "$of" "$rule" "$when" >"$work/fresh"
        same=$(agreement "$told")
        inside=$(printf %s "$same" | cut -d' ' -f3-4 | tr ' ' '/')
        sure=$(printf %s "$same" | cut -d' ' -f2)
        same=${same%% *}
        if [ -n "$side" ] && [ -n "$same" ] && [ "$same" -lt 980 ]; then
            asked=$(measured "$of" "$file" "$told" "$side")
            if [ -n "$asked" ]; then
                same=${asked%% *}
                sure=$(printf %s "$asked" | cut -d' ' -f2)
                runs=${asked##* }
            fi
        fi
        if [ -z "$same" ]; then class=unread
        elif [ "$same" -ge 980 ]; then class=right
        elif [ "$told" != two_sided ] && [ "$sure" -ge 980 ]; then class=one-sided
        elif [ "$same" -lt 900 ]; then class=misleading
        else class=partial
        fi
    fi
    minimal=$(field minimal)
    steps=
    [ -z "$minimal" ] || steps=$(steps_of "$of" "$file" "$minimal") || steps=
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$of" "$kind" "${side:-exact}" $found \
        "$verdict" "${same:--}" $class "$rule" "$when" "$minimal" "$none" $seconds "${inside:--}" "${steps:--}" "${runs:--}"
    rm -rf "$work"
}

if [ $one = 1 ]; then
    run_one "$1"
    exit
fi
[ -z "$out" ] || exec >"$out"
printf 'name\tproblem\tkind\tside\tfound\tverdict\tagreement\tclass\trule\twhen\tminimal\tno_rule\tseconds\tinside\tsteps\truns\n'
if [ $# -gt 0 ]; then printf '%s\n' "$@"
else # in an order that mixes problems
    awk -F'\t' -v held="$held" -v problem="$problem" 'NR > 1 && $6 ~ held && (problem == "" || $2 == problem) { print $1 }' \
        "$table" | while read -r name; do printf '%s %s\n' "$(printf %s "$name" | sha256sum | cut -c3-12)" "$name"; done |
        sort | cut -d' ' -f2
fi | xargs -P "$jobs" -n 1 sh "$0" --one ${twins:+--twins} --device "$device" --seed "$seed" --effort "$effort"
