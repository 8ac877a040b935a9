#!/bin/sh
# Completion for bash (and zsh, after bashcompinit) from what the tool says of itself: completion.sh BINARY
set -eu
tool=$1
commands=$("$tool" --help | sed -n 's/^  unseen \([a-z]*\).*/\1/p')
problems=$("$tool" list | sed -n 's/^\([a-z][a-z0-9_]*\) .*/\1/p')
one_line() { printf '%s' "$*" | tr '\n' ' '; }
printf '# bash completion for unseen\n_unseen()\n{\n'
printf '    local word=${COMP_WORDS[COMP_CWORD]} options=\n'
printf '    if [ "$COMP_CWORD" = 1 ]; then\n        COMPREPLY=($(compgen -W "%s" -- "$word"))\n        return\n    fi\n' "$(one_line $commands)"
printf '    case ${COMP_WORDS[1]} in\n'
for command in $commands; do
    options=$("$tool" "$command" --help | grep -o '^  *\(-[a-z], *\)\?--[a-z-]*' | grep -o -e '--[a-z-]*' | sort -u)
    printf '    %s) options="%s" ;;\n' "$command" "$(one_line $options)"
done
printf '    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;\n'
printf '    *) COMPREPLY=($([ "$COMP_CWORD" = 2 ] && compgen -W "%s" -- "$word") $(compgen -f -- "$word")) ;;\n' "$(one_line $problems)"
printf '    esac\n}\ncomplete -o filenames -F _unseen unseen\n'
