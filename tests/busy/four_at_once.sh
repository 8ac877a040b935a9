#!/bin/sh
# Four `unseen verify --effort quick` at once on one GPU, over honest kernels: none may be accused, none may time out.
#
#   tests/busy/four_at_once.sh BUILD [CANDIDATE...]
#
# From the repository's root. Without candidates: baseline, fast and honest/*.cu of every problem, in that order. A
# candidate's problem is its folder below problems/. Set in the environment:
#   LIMIT=480    seconds, after which no other candidate is started and those at work are ended
#   AT_ONCE=4    how many run at the same time
#   SEED=1       for the first candidate; the others' follow
#   DEVICE=cuda
#   MORE=        more options of verify
#   KEEP=FOLDER  where the JSON results go (default: nowhere)
# Exit status 1 when a candidate was accused or has a timeout, 2 when there was nothing to run.
set -u

build=${1:?usage: tests/busy/four_at_once.sh BUILD [CANDIDATE...]}
shift
LIMIT=${LIMIT:-480} AT_ONCE=${AT_ONCE:-4} SEED=${SEED:-1} DEVICE=${DEVICE:-cuda} KEEP=${KEEP:-}
[ $# -gt 0 ] || set -- problems/*/baseline.cu problems/*/fast.cu problems/*/honest/*.cu
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
out=$folder
[ -z "$KEEP" ] || { mkdir -p "$KEEP" && out=$(cd "$KEEP" && pwd); } || exit 2

# "VERDICT STATUS SECONDS TIMEOUTS REFUSED SKIPPED TRUSTED PATH", a line for each candidate
cat >"$folder/one.sh" <<'ONE'
number=${1%% *} path=${1#* }
begin=$(date +%s)
left=$((DEADLINE - begin))
[ "$left" -gt 0 ] || { echo "not-run - 0 0 0 0 - $path"; exit 0; }
problem=${path#*problems/} problem=${problem%%/*}
json=$OUT/$number.json
verdict=$(timeout -s INT -k 20 "$left" "$TOOL" verify "$problem" "$path" --effort quick --device "$DEVICE" \
    --seed $((SEED + number - 1)) ${MORE:-} --json "$json" -q 2>"$FOLDER/$number.err")
status=$?
case $status in
0 | 1) ;;
124 | 130) verdict=ended ;; # out of time; the status is timeout's or the tool's
*) verdict=error; sed "s|^|$path: |" "$FOLDER/$number.err" >&2 ;;
esac
count() { awk -v outcome="\"$1\"," '$1 == "\"outcome\":" && $2 == outcome {n++} END {print n + 0}' "$json" 2>/dev/null || echo 0; }
trusted=$(awk '$1 == "\"timing_trusted\":" {sub(",", "", $2); print $2}' "$json" 2>/dev/null)
echo "$verdict $status $(($(date +%s) - begin)) $(count timeout) $(count refused) $(count skipped) ${trusted:--} $path"
ONE

TOOL=$build/unseen OUT=$out FOLDER=$folder DEADLINE=$(($(date +%s) + LIMIT))
export TOOL OUT FOLDER DEADLINE DEVICE SEED
begin=$(date +%s)
number=0
for path; do
    number=$((number + 1))
    printf '%s %s\0' "$number" "$path"
done | xargs -0 -P "$AT_ONCE" -n 1 sh "$folder/one.sh" >"$folder/lines"
seconds=$(($(date +%s) - begin))

awk -v seconds="$seconds" -v at_once="$AT_ONCE" '
    function add(list, path) { return list == "" ? path : list "\n      " path }
    { ran[$1]++; total++ }
    $1 == "not-run" || $1 == "ended" { left++; next }
    { done++ }
    $1 == "cheating" { accused++; names_accused = add(names_accused, $8) }
    $4 > 0 { slow++; names_slow = add(names_slow, $8 " (" $4 " configurations)") }
    $5 > 0 { refused++; names_refused = add(names_refused, $8 " (" $5 " configurations)") }
    $1 == "limited" { limited++; names_limited = add(names_limited, $8) }
    $1 != "general" && $1 != "cheating" && $1 != "limited" { other++; names_other = add(names_other, $8 ": " $1 ", status " $2) }
    $6 > 0 { skipped++ }
    $7 == "false" { untrusted++ }
    END {
        printf "%d at once: %d of %d candidates in %d s\n", at_once, done, total, seconds
        printf "  general    %d\n", ran["general"]
        printf "  accused    %d%s\n", accused, accused ? "\n      " names_accused : ""
        printf "  timed out  %d%s\n", slow, slow ? "\n      " names_slow : ""
        printf "  refused    %d%s\n", refused, refused ? "\n      " names_refused : ""
        printf "  limited    %d%s\n", limited, limited ? "\n      " names_limited : ""
        printf "  others     %d%s\n", other, other ? "\n      " names_other : ""
        printf "  %d with skipped configurations, %d whose times are marked as not to be trusted, %d not run for lack of time\n",
               skipped, untrusted, left
        exit done == 0 ? 2 : accused + slow > 0
    }' "$folder/lines"
