#!/bin/sh
# lint_python.sh VENV: the layout, lint and types of our Python, by ruff (ruff.toml) and mypy (mypy.ini). tests/torch.sh puts
# both into VENV. RUFF and MYPY name others; MYPY may be one without torch, which it then finds in VENV. Without one of them
# the check is skipped. Ends with 1 at a violation. Run from the top of the tree.
venv=$1
ruff=${RUFF:-$venv/bin/ruff}
if [ -x "$ruff" ]; then
    "$ruff" check --quiet --no-cache && "$ruff" format --quiet --no-cache --check || {
        echo "---> ruff check --fix; ruff format"
        exit 1
    }
    echo "check-python: $("$ruff" --version): passed"
else
    echo "check-python: ruff skipped: it is not in $venv"
fi
# As a module: the script of a moved environment names an interpreter that is not there any more.
if [ -n "$MYPY" ]; then
    set -- "$MYPY"
elif "$venv/bin/python" -c 'import mypy' 2>/dev/null; then
    set -- "$venv/bin/python" -m mypy
else
    echo "check-python: mypy skipped: it is not in $venv"
    exit 0
fi
"$@" --python-executable "$venv/bin/python" --cache-dir "$(dirname "$venv")/mypy" || exit 1
