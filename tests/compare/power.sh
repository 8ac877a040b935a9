#!/bin/sh
# power.sh RUNS [CASE...]: how often `unseen compare` finds a slower kernel, and how often it accuses an unchanged one. A case is
# PERCENT:WHERE:LOAD. 5:all:0: every configuration takes 5% longer, nothing else runs. 10:fourth:0: every fourth takes 10% longer.
# 0:all:6: a kernel against itself, beside six busy loops. Prints one line for each: among RUNS comparisons, how many say
# `regression`, how many that anything is slower or faster, and how many `inconclusive`.
# Never a test of `make check`: it takes hours, and machines are noisy.
# In the environment: DEVICE=cuda (host), EFFORT (quick), KEEP=PREFIX of files for the output, FROM=N for the first run's seed (1),
# LEASE= (--no-lock) where several of these share a device.
set -u
[ $# -ge 1 ] || { sed -n '2,6p' "$0"; exit 2; }
runs=$1
shift
[ $# -gt 0 ] || set -- 0:all:0 0:all:6 2:all:0 5:all:0 10:all:0 5:fourth:0 10:fourth:0 5:all:6 10:all:6
here=$(cd "$(dirname "$0")" && pwd)
unseen=${UNSEEN:-$here/../../build/unseen}
room=$(mktemp -d) || exit 3
loops=
finish() {
    for loop in $loops; do kill "$loop" 2>/dev/null; done
    rm -rf "$room"
}
trap finish EXIT
trap 'exit 130' INT TERM

# Twelve configurations, three of them with cols % 4 == 0, of 16 to 200 us of work on the host; four, one of them, of 30 to 250 us on a GPU.
device=${DEVICE:-host}
case $device in
host) kind=c sizes=$(for rows in 1 7 32; do for cols in 1023 1024 1025 2050; do echo "$rows:$cols"; done; done) ;;
cuda*) kind=cu sizes='3000:4095 3000:4096 9000:4097 9000:8190' ;;
*) echo "power.sh: DEVICE=$device; expected host or cuda" >&2; exit 2 ;;
esac
for size in $sizes; do echo "rows=${size%:*} cols=${size#*:} input=normal"; done >"$room/all.seen"

# Built once, with verify's compilers: a comparison that compiles both takes half as long again on a GPU.
make_kernel() { # name, percent, slow where cols is a multiple of this
    { printf '#define PERCENT %s\n#define EVERY %s\n' "$2" "$3"; cat "$here/kernel.$kind"; } >"$room/$1.$kind"
    case $kind in
    c) cc -std=gnu11 -O2 -march=native -fopenmp -shared -fPIC -o "$room/$1.so" "$room/$1.c" -lm ;;
    cu) nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o "$room/$1.so" "$room/$1.cu" ;;
    esac || exit 3
}

one_case() { # percent, where, load
    case $2 in
    all) every=1 ;;
    fourth) every=4 ;;
    *) echo "power.sh: '$2'; expected all or fourth" >&2; exit 2 ;;
    esac
    make_kernel old 0 1
    make_kernel new "$1" $every
    loops=
    i=0
    while [ $i -lt "$3" ]; do
        sh -c 'while :; do :; done' &
        loops="$loops $!"
        i=$((i + 1))
    done
    run=0 regression=0 changed=0 inconclusive=0 started=$(date +%s)
    while [ $run -lt "$runs" ]; do
        run=$((run + 1))
        said=$("$unseen" compare softmax "$room/old.so" "$room/new.so" --device "$device" --seen "$room/all.seen" \
            --unseen 0 --seed $((run + ${FROM:-1} - 1)) --effort "${EFFORT:-quick}" --no-explain ${LEASE---no-lock} -v 2>"$room/errors")
        status=$?
        [ $status -le 1 ] || { cat "$room/errors" >&2; exit 3; }
        case $said in *"
regression: "*) regression=$((regression + 1)) ;; *"
inconclusive: "*) inconclusive=$((inconclusive + 1)) ;; esac
        case $said in *" 0 faster, "*" 0 slower, "*) ;; *) changed=$((changed + 1)) ;; esac
        [ "${KEEP:-}" = "" ] || printf '%s\n' "$said" >"$KEEP.$1.$2.$3.$((run + ${FROM:-1} - 1))"
    done
    for loop in $loops; do kill "$loop"; wait "$loop" 2>/dev/null; done
    loops=
    printf '%3s%% on %-6s beside %s loops: %d runs, %d regression, %d with anything slower or faster, %d inconclusive (%d s each)\n' \
        "$1" "$2" "$3" "$runs" $regression $changed $inconclusive $((($(date +%s) - started) / runs))
}

for case; do
    IFS=: read -r percent where load <<EOF
$case
EOF
    one_case "$percent" "$where" "${load:-0}"
done
