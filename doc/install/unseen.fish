# Completion for fish: words are read from the tool itself, as for bash.
function __unseen_words
    set -l given (commandline -opc)
    switch (count $given)
        case 1
            $given[1] --help 2>/dev/null | sed -n 's/^  unseen \([a-z]*\).*/\1/p'
        case '*'
            $given[1] $given[2] --help 2>/dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u
            test (count $given) -eq 2; and $given[1] list 2>/dev/null | sed -n 's/^ *\([a-z0-9_]*\) .*/\1/p'
    end
end
complete -c unseen -a '(__unseen_words)'
