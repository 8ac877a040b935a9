#!/bin/sh
# unseen(1) from what the tool says of itself: man.sh BINARY >unseen.1
set -eu
tool=$1
plain() { sed 's/\\/\\\\/g; s/^[.'"'"']/\\\&&/; s/-/\\-/g'; }
printf '.TH UNSEEN 1 "" "%s" "User Commands"\n' "$("$tool" --version)"
printf '.SH NAME\nunseen \\- verify GPU kernels on configurations that their authors never saw\n'
printf '.SH COMMANDS\n.nf\n'
"$tool" --help | plain
printf '.fi\n'
for command in $("$tool" --help | sed -n 's/^  unseen \([a-z]*\).*/\1/p'); do
    printf '.SH "UNSEEN %s"\n.nf\n' "$(printf %s "$command" | tr a-z A-Z)"
    "$tool" "$command" --help | plain
    printf '.fi\n'
done
