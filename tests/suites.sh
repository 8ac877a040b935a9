#!/bin/sh
# suites.sh: all suites but the slow ones, and those that are named, in two processes at a time: most tests wait for one
# core, and the smallest machines have two. Those that need torch come last in theirs, while it is fetched (NO_TORCH=1: it is
# not, and they skip where there is none). $1 is the test binary.
tests=$1
shift
apart="cli own busy lost" # these run the tool, and hold leases that it waits for: nobody else takes times meanwhile
torch="python task oracle_task harden"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
[ -n "$NO_TORCH" ] || sh tests/torch.sh build/venv >"$room/fetched" 2>&1 &
fetching=$!
(
    status=0
    "$tests" $apart || status=1
    : >"$room/apart"
    for suite; do "$tests" "$suite" || status=1; done
    exit $status
) >"$room/log" 2>&1 &
second=$!
"$tests" --but $apart $torch
status=$?
wait $fetching
cat "$room/fetched" 2>/dev/null
while [ ! -e "$room/apart" ] && kill -0 $second 2>/dev/null; do sleep 1; done
"$tests" $torch || status=1
wait $second || status=1
cat "$room/log"
exit $status
