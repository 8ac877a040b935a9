#!/bin/sh
# The zoo: candidates that cheat and honest ones that look suspicious. Each is verified and compared with the expectation in its
# first lines.
#
#   tests/corpora/zoo/run.sh BUILD host|cuda [--beside N] [--without DEFENCE[,..]] [--seed S] [--share N R] [--list] [PATTERN...]
#
# From the repository's root. PATTERN: part of a path. --beside: on a GPU N verdicts at a time, on the host one beside N busy loops.
# --share: among the candidates in order, without slow ones, those whose number plus R is a multiple of N. --list: only their paths.
# Set in the environment:
#   LIMIT=0      seconds after which no further one is started (0: no limit)
#   MORE=        more options of verify
#   KEEP=FOLDER  where the JSON results go (default: nowhere)
# Exit status 0 when every cheat is rejected (except those marked as open or in vain) and every honest one is general.
set -u

usage="usage: tests/corpora/zoo/run.sh BUILD host|cuda [--beside N] [--without LIST] [--seed S] [--share N R] [--list] [PATTERN...]"
BUILD=${1:?$usage} DEVICE=${2:?$usage}
shift 2
beside=0 share=1 rotation=0 patterns='' WITHOUT='' SEED=1 list=0
while [ $# -gt 0 ]; do
    case $1 in
    --beside) beside=${2:?$usage}; shift ;;
    --without) WITHOUT=${2:?$usage}; shift ;;
    --seed) SEED=${2:?$usage}; shift ;;
    --share) share=${2:?$usage} rotation=${3:?$usage}; shift 2 ;;
    --list) list=1 ;;
    -*) echo "$usage" >&2; exit 2 ;;
    *) patterns="$patterns$1
" ;;
    esac
    shift
done
case $DEVICE in host) suffix=c ;; cuda*) suffix=cu ;; *) echo "$usage" >&2; exit 2 ;; esac

folder=$(mktemp -d) || exit 2
loops=
trap 'rm -rf "$folder"; [ -z "$loops" ] || kill $loops 2>/dev/null' EXIT
trap 'exit 130' INT TERM
LIMIT=${LIMIT:-0} KEEP=${KEEP:-$folder}
mkdir -p "$KEEP" build/zoo || exit 2
ls tests/corpora/zoo/cheats/*.$suffix tests/corpora/zoo/honest/*.$suffix 2>/dev/null | grep -F -e "${patterns%?}" |
    while read -r path; do
        [ "$share" -gt 1 ] && sed -n 1,16p "$path" | grep -q '^// slow:' || echo "$path"
    done | awk -v n="$share" -v r="$rotation" '(NR + r) % n == 0' >"$folder/list"
[ -s "$folder/list" ] || { echo "no candidate of the zoo matches '${patterns%?}' on $DEVICE" >&2; exit 2; }
[ "$list" = 0 ] || { cat "$folder/list"; exit 0; }

# For cheats that forge answers: the messages, without the unneeded parts of a problem's header.
{
    awk -F'[ ,=]+' '/PROBLEM_MAX_(TENSORS|ARGUMENTS|RANK) *=/ {
        for (i = 1; i < NF; i++) if ($i ~ /^PROBLEM_MAX_(TENSORS|ARGUMENTS|RANK)$/) print "enum { " $i " = " $(i + 1) + 0 " };" }
    ' problems/problem.h
    sed -e '/^#include "/d' -e '/^static inline struct channel_argument argument_of(/,/^}/d' verify/runner/channel.h
} >"$folder/channel.h"
cmp -s "$folder/channel.h" build/zoo/channel.h || mv "$folder/channel.h" build/zoo/channel.h

# "RESULT KIND VERDICT OUTCOME SECONDS PATH FRACTION DEFENCE", a line for each candidate; fraction: of the attainable, where
# it has times
cat >"$folder/one.sh" <<'ONE'
path=$1 name=$(echo "$1" | tr / _)
key() { sed -n "1,16s|^// $1: *||p" "$path" | head -1; }
kind=$(key zoo) problem=$(key problem) allowed=$(key verdicts) expect=$(key expect) runs=$(key runs) open=$(key open) idle=$(key idle)
json=$KEEP/$name.json started=$(date +%s.%N)
if [ "$LIMIT" -gt 0 ] && [ "$(date +%s)" -ge "$DEADLINE" ]; then
    echo "left $kind not-run - 0 $path - $(key defence)"
    exit 0
fi
set -- verify "$problem" "$path" --device "$DEVICE" --effort quick --seed "$SEED" -q --json "$json" \
    --contract "tests/corpora/zoo/$problem.space" --seen "tests/corpora/zoo/$problem.seen" --include-dir tests/corpora/zoo --include-dir build/zoo --no-explain
[ "$(key timing)" = yes ] || set -- "$@" --no-timing
[ -z "$WITHOUT" ] || set -- "$@" --disable-defence "$WITHOUT"
rm -f "$json" # what an earlier run left would be read where this one wrote none
for i in $(seq "${runs:-1}"); do
    verdict=$(timeout -s INT -k 20 300 "$BUILD/unseen" "$@" $(key options) ${MORE:-} 2>"$FOLDER/$name.err")
    status=$?
done
rm -f /var/tmp/unseen-zoo-answers /dev/shm/unseen-zoo-answers
verdict=${verdict%% *}
case $status in 0 | 1) ;; 124 | 130) verdict=ended ;; *) verdict=error ;; esac
outcome=$(awk '$1 == "\"outcome\":" && $2 !~ /pass|skipped/ {gsub("[\",]", "", $2); print $2; exit}' "$json" 2>/dev/null)
case $kind:$verdict in
honest:general) result=ok ;;
honest:*) result=REJECTED ;;
harmless:*) result=UNEXPECTED
    for word in $allowed; do [ "$word" = "$verdict" ] && result=ok; done ;;
cheat:general) result=ACCEPTED; [ -z "$open" ] || result=open; [ -z "$idle" ] || result=idle ;;
cheat:*) result=UNEXPECTED
    for word in $allowed; do [ "$word" = "$verdict" ] && result=ok; done ;;
*) result=NO-HEADER ;;
esac
[ "$result" != ok ] || [ -z "$open" ] || result=closed
case $result:$verdict in ok:*) ;; *:error) sed "s|^|$path: |" "$FOLDER/$name.err" >&2 ;; esac
fraction=$(awk '$1 == "\"geomean_fraction\":" && $2 + 0 > 0 {f = $2 + 0} END {if (f) printf "%.4f", f}' "$json" 2>/dev/null)
echo "$result $kind $verdict ${outcome:--} $(echo "$started $(date +%s.%N)" | awk '{printf "%.1f", $2 - $1}') $path ${fraction:--} $(key defence)"
ONE

export BUILD DEVICE KEEP WITHOUT SEED LIMIT
FOLDER=$folder DEADLINE=$(($(date +%s) + LIMIT))
export FOLDER DEADLINE
at_once=1
if [ "$beside" -gt 0 ] && [ "$suffix" = cu ]; then
    at_once=$beside
elif [ "$beside" -gt 0 ]; then
    for i in $(seq "$beside"); do
        while :; do :; done &
        loops="$loops $!"
    done
fi
begin=$(date +%s)
tr '\n' '\0' <"$folder/list" | xargs -0 -P "$at_once" -n 1 sh "$folder/one.sh" | tee "$folder/lines" |
    while read -r result kind verdict outcome seconds path fraction defence; do # some awks wait for more than a line
        printf '%-10s %-42s %-13s %-10s %6.1f s  %-8s %s\n' "$result" "${path#tests/corpora/zoo/}" "$verdict" "$outcome" \
            "$seconds" "$fraction" "$defence"
    done
awk -v seconds=$(($(date +%s) - begin)) -v device="$DEVICE" -v beside="$beside" -v without="$WITHOUT" '
    { n[$2]++; sum[$1]++ }
    END {
        printf "\n%s%s%s: %d cheats and %d honest in %d s\n", device, beside ? ", beside " beside : "",
               without ? ", without " without : "", n["cheat"], n["honest"], seconds
        printf "  cheats accepted    %d, and %d that are known to be\n", sum["ACCEPTED"], sum["open"]
        if (sum["idle"]) printf "  cheats in vain     %d: right in what was asked, at the price that was measured\n", sum["idle"]
        printf "  honest rejected    %d\n", sum["REJECTED"]
        if (n["harmless"]) printf "  harmless           %d: only their times could have been unearned\n", n["harmless"]
        if (sum["UNEXPECTED"]) printf "  another verdict than allowed: %d\n", sum["UNEXPECTED"]
        if (sum["closed"]) printf "  marked as open, and not accepted this time: %d\n", sum["closed"]
        if (sum["left"]) printf "  not run for lack of time: %d\n", sum["left"]
        exit sum["ACCEPTED"] + sum["REJECTED"] + sum["UNEXPECTED"] + sum["NO-HEADER"] > 0
    }' "$folder/lines"
