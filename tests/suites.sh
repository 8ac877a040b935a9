#!/bin/sh
# suites.sh: all suites but the slow ones, or the named ones, in two processes at a time: most tests wait for one core, and the
# smallest machines have two. Each process has suites of its own and then takes whole groups, the longest first, until none is left.
# Suites that need torch wait until it is fetched. With NO_TORCH=1 it is not, and they skip where there is none. $1 is the test
# binary.
tests=$1
shift
export OMP_WAIT_POLICY=passive # two teams of threads share the cores
apart="cli own busy lost" # they run the tool and take leases that it waits for: no other suite measures times meanwhile
groups="oracle_task,harden task importing honest $(echo "$*" | tr ' ' ,) python explain bugs prove"
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
{
    "$tests" --but $apart $(echo $groups | tr , ' ') || : >"$room/failed"
    take
} 2>&1 | tee "$room/first"
wait
cat "$room/fetched" "$room/log" "$room/lint"
[ -e "$room/failed" ] || exit 0
# A log may be shown from its end only, so that failures come last. These are the lines of Check, of nested tests, of mypy and of ruff.
echo "the parts of loops that this commit chose, each with the command that runs it again:"
grep -h '^again: ' "$room/first" "$room/log"
echo "failures:"
grep -hE ':[FE]:|^FAIL|^not ok|: error: |^---> ruff' "$room/first" "$room/log" "$room/lint" "$room/fetched"
exit 1
