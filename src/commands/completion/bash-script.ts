/** The completion script for bash: that of the completion library needs the bash-completion package. */

/**
 * The words are split at spaces alone, because bash also splits them at `=` and `:`; for the same reason only what
 * follows the last of these is completed.
 */
export const BASH_SCRIPT = String.raw`# bash completion for paylink
_paylink_complete() {
    local line=${"$"}{COMP_LINE:0:COMP_POINT} words out value cur
    read -ra words <<< "$line"
    if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    cur=${"$"}{words[${"$"}{#words[@]}-1]}
    COMPREPLY=()
    out=$(paylink complete -- "${"$"}{words[@]:1}" 2> /dev/null) || return
    if [[ $out == *:0 ]]; then
        compopt -o filenames 2> /dev/null
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "${"$"}{cur#--*=}")
        return
    fi
    while IFS=$'\t' read -r value _; do
        if [[ $value == "$cur"* && $value != :* ]]; then
            COMPREPLY+=("${"$"}{value#"${"$"}{cur%"${"$"}{cur##*[=:]}"}"}")
        fi
    done <<< "$out"
}
complete -F _paylink_complete paylink`;
