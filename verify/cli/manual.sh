#!/bin/sh
# manual.sh TOOL: the manual page, in roff, made of what the tool says of itself.
tool=$1
verbatim() { sed 's/\\/\\e/g; s/^\([.'"'"']\)/\\\&\1/; s/-/\\-/g'; }
printf '.TH UNSEEN 1 "" "%s" "User Commands"\n' "$("$tool" --version | head -n 1)"
printf '.SH NAME\nunseen \\- test whether a GPU kernel works on configurations that its author never saw\n'
printf '.SH SYNOPSIS\n.nf\n'
"$tool" --help | verbatim
printf '.fi\n'
for command in $("$tool" --help | sed -n 's/^  unseen \([a-z]*\).*/\1/p'); do
    printf '.SH %s\n.nf\n' "$(echo "$command" | tr a-z A-Z)"
    "$tool" "$command" --help | verbatim
    printf '.fi\n'
done
printf '.SH SEE ALSO\nThe pages in share/doc/unseen, README.md first.\n'
