#!/bin/sh
# suites.sh: all suites but the slow ones, and those that are named, in two processes at a time: most tests wait for one
# core, and the smallest machines have two. Those that need torch come last, while it is fetched (NO_TORCH=1: it is not, and
# they skip where there is none). $1 is the test binary.
tests=$1
shift
apart="cli own busy lost" # these run the tool, and hold leases that it waits for
torch="python task oracle_task harden"
log=$(mktemp)
fetched=$(mktemp)
trap 'rm -f "$log" "$fetched"' EXIT
[ -n "$NO_TORCH" ] || sh tests/torch.sh build/venv >"$fetched" 2>&1 &
fetching=$!
(
    status=0
    "$tests" $apart || status=1
    for suite; do "$tests" "$suite" || status=1; done
    exit $status
) >"$log" 2>&1 &
"$tests" --but $apart $torch
status=$?
wait $! || status=1
cat "$log"
wait $fetching
cat "$fetched"
"$tests" $torch || status=1
exit $status
