#compdef unseen
# Completion for zsh: words are read from the tool itself, as for bash.
_unseen()
{
    local -a words_of
    if (( CURRENT == 2 )); then
        words_of=(${(f)"$($words[1] --help 2>/dev/null | sed -n 's/^  unseen \([a-z]*\).*/\1/p')"})
    elif [[ $words[CURRENT] == -* ]]; then
        words_of=(${(f)"$($words[1] $words[2] --help 2>/dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u)"})
    elif (( CURRENT == 3 )); then
        words_of=(${(f)"$($words[1] list 2>/dev/null | sed -n 's/^ *\([a-z0-9_]*\) .*/\1/p')"})
    fi
    compadd -a words_of
    _files
}
_unseen "$@"
