#!/bin/sh
# suites.sh: all suites but the slow ones, and those that are named, in two processes at a time: most tests wait for one
# core, and the smallest machines have two. $1 is the test binary.
tests=$1
shift
apart="cli own python busy lost" # these run the tool, and hold leases that it waits for
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(
    status=0
    "$tests" $apart || status=1
    for suite; do "$tests" "$suite" || status=1; done
    exit $status
) >"$log" 2>&1 &
"$tests" --but $apart
status=$?
wait $! || status=1
cat "$log"
exit $status
