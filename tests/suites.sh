#!/bin/sh
# suites.sh: all suites but the slow ones, or the named ones, in three processes at a time: tests wait for half of their time, and
# the smallest machines have two cores. Two processes have suites of their own. All take whole groups, the longest first, until none
# is left.
# Suites that need torch wait until it is fetched. With NO_TORCH=1 it is not, and they skip where there is none. $1 is the test
# binary.
tests=$1
shift
export OMP_WAIT_POLICY=passive # two teams of threads share the cores
apart="cli own busy lost" # they run the tool and take leases that it waits for: no other suite measures times meanwhile
groups="explain importing oracle_task,harden python task $(echo "$*" | tr ' ' ,) honest prove bugs"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
(
    [ -n "$NO_TORCH" ] || sh tests/torch.sh build/venv
    : >"$room/over"
    sh tests/lint_python.sh build/venv >"$room/lint" 2>&1 || : >"$room/failed"
) >"$room/fetched" 2>&1 &

# take: the next free group, until none is left
take() {
    for group in $groups; do
        mkdir "$room/$group" 2>/dev/null || continue
        case $group in
        python | task | importing | oracle_task*) while [ ! -e "$room/over" ]; do sleep 1; done ;;
        esac
        began=$(date +%s)
        "$tests" $(echo "$group" | tr , ' ') || : >"$room/failed"
        echo "suites $group: $(($(date +%s) - began)) s"
    done
}
(
    "$tests" $apart || : >"$room/failed"
    take
) >"$room/log" 2>&1 &
take >"$room/third" 2>&1 &
{
    "$tests" --but $apart $(echo $groups | tr , ' ') || : >"$room/failed"
    take
} 2>&1 | tee "$room/first"
wait
cat "$room/fetched" "$room/log" "$room/third" "$room/lint"
[ -e "$room/failed" ] || exit 0
# A log may be shown from its end only, so that failures come last. These are the lines of Check, of nested tests, of mypy and of ruff.
echo "the parts of loops that this commit chose, each with the command that runs it again:"
grep -h '^again: ' "$room/first" "$room/log" "$room/third"
echo "failures:"
grep -hE ':[FE]:|^FAIL|^not ok|: error: |^---> ruff' "$room/first" "$room/log" "$room/third" "$room/lint" "$room/fetched"
exit 1
