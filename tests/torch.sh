#!/bin/sh
# torch.sh DIR: a torch for the tests of candidates and tasks in Python, in an environment of its own that stays. First it tries the
# index of builds for CPUs (0.2 GB to fetch), then the public one, whose builds bring CUDA's libraries (5.5 GB on the disk). Where
# neither answers in time it prints the reason and ends with status 1. The tests then skip.
venv=$1
limit=${TORCH_SECONDS:-300}
[ -x "$venv/bin/python" ] && exit 0
part=$venv.part
rm -rf "$part"
trap 'rm -rf "$part"' EXIT
trap 'exit 1' INT TERM HUP
python3 -c 'import ensurepip' 2>/dev/null || { [ "$(id -u)" = 0 ] &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1; }
python3 -m venv "$part" 2>/dev/null || {
    echo "torch: python3 has no venv here ---> apt-get install python3-venv"
    exit 1
}
# With uv where it is available: it unpacks in a sixth of pip's time. It gets the settings of pip that it does not read.
install() {
    if [ -x "$part/bin/uv" ]; then
        (
            [ -z "$PIP_CERT" ] || export SSL_CERT_FILE="$PIP_CERT"
            [ -z "$PIP_INDEX_URL" ] || export UV_DEFAULT_INDEX="$PIP_INDEX_URL"
            export UV_CACHE_DIR="$part/cache" UV_HTTP_TIMEOUT=20 UV_HTTP_RETRIES=0
            exec timeout "$limit" "$part/bin/uv" -q pip install --python "$part/bin/python" --link-mode hardlink \
                --only-binary :all: "$@"
        ) >"$part/log" 2>&1 && return 0
    fi
    timeout "$limit" "$part/bin/python" -m pip -q --disable-pip-version-check install --no-compile --retries 0 \
        --timeout 20 --only-binary :all: "$@" >"$part/log" 2>&1
}
timeout 60 "$part/bin/python" -m pip -q --disable-pip-version-check install --no-compile --retries 0 --timeout 20 \
    --only-binary :all: uv >"$part/log" 2>&1
free=$(df -Pk "$(dirname "$venv")" | awk 'NR == 2 { print int($4 / 1048576) }')
if install --index-url "${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}" torch numpy; then
    :
elif [ "$free" -lt 12 ]; then
    echo "torch: no build for CPUs can be fetched, and the public index's needs 12 GB free, of which there are $free"
    exit 1
elif ! install torch numpy; then
    echo "torch: not installed within $limit s: $(tail -n 1 "$part/log")"
    exit 1
fi
# A model of SARIF, for one test, which skips without it.
install sarif-pydantic || :
# For tests/lint_python.sh. Another version of ruff may lay out otherwise and have other rules.
install ruff==0.17.6 mypy==2.4.1 || :
rm -rf "$part/cache"
# Compiled once, and only the modules that the tests import: no test may write there, and each would compile all of them.
env -u PYTHONDONTWRITEBYTECODE "$part/bin/python" -c 'import torch, torch._dynamo, torch._inductor.compile_fx
import torch._subclasses.fake_tensor, torch.fx.experimental.proxy_tensor, torch.func, torch._decomp
import torch.utils.cpp_extension, torch.utils.flop_counter' 2>/dev/null || "$part/bin/python" -c 'import torch' 2>/dev/null || {
    echo "torch: installed, but it cannot be imported"
    exit 1
}
mv "$part" "$venv"
echo "torch: $("$venv/bin/python" -c 'import torch; print(torch.__version__)') in $venv"
