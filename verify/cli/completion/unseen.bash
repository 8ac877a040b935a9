# Completion for bash. Commands, options and problems are read from the tool itself, so that no table can fall behind.
_unseen()
{
    local word=${COMP_WORDS[COMP_CWORD]} tool=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=$("$tool" --help 2>/dev/null | sed -n 's/^  unseen \([a-z]*\).*/\1/p')
    elif [ "${word#-}" != "$word" ]; then
        words=$("$tool" "$command" --help 2>/dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u)
    elif [ "$COMP_CWORD" -eq 2 ]; then
        words=$("$tool" list 2>/dev/null | sed -n 's/^ *\([a-z0-9_]*\) .*/\1/p')
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}
complete -o filenames -F _unseen unseen
