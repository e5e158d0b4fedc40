# Prints code that makes another bash what this one is: run in one session, its output is run in a
# new one. Not everything that bash knows can be set: what follows from the process itself is left
# out, and so is what belongs to the driver. All in a subshell, so that nothing stays behind here.
(
{ __igloo_set=${-//[!eux]/}; builtin set +eux; } 2>/dev/null
if [[ $__igloo_armed ]]; then builtin set +E; fi
# The order matters there: functions and aliases are not to change what these lines mean, aliases not
# what functions say, and what functions say may need an option to be read.
builtin printf 'builtin shopt -u expand_aliases\n'
builtin mapfile -t __igloo_list <<<"$(builtin shopt -p)"
for __igloo_line in "${__igloo_list[@]}"; do
  [[ $__igloo_line == *expand_aliases ]] || builtin printf 'builtin %s\n' "$__igloo_line"
done
builtin mapfile -t __igloo_list <<<"$(builtin compgen -v)"
for __igloo_line in "${__igloo_list[@]}"; do
  case $__igloo_line in
    __igloo_*|BASH|BASHOPTS|BASHPID|BASH_ALIASES|BASH_ARGC|BASH_ARGV|BASH_ARGV0|BASH_CMDS) ;;
    BASH_COMMAND|BASH_EXECUTION_STRING|BASH_LINENO|BASH_MONOSECONDS|BASH_REMATCH|BASH_SOURCE) ;;
    BASH_SUBSHELL|BASH_TRAPSIG|BASH_VERSINFO|BASH_VERSION|BASH_XTRACEFD|COMP_CWORD|COMP_KEY) ;;
    COMP_LINE|COMP_POINT|COMP_TYPE|COMP_WORDS|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME) ;;
    GROUPS|HISTCMD|LINENO|OLDPWD|PIPESTATUS|PPID|PWD|RANDOM|SHELLOPTS|SHLVL|SRANDOM|UID|_) ;;
    *) builtin declare -p "$__igloo_line" ;;
  esac
done 2>/dev/null
builtin alias -p
builtin printf 'umask %s\n' "$(builtin umask)"
builtin printf 'set --'
if (( $# )); then builtin printf ' %q' "$@"; fi
builtin printf '\ncd -- %q\n' "${DIRSTACK[0]}"
for ((__igloo_line = ${#DIRSTACK[@]} - 1; __igloo_line > 0; --__igloo_line)); do
  builtin printf 'pushd -n %q >/dev/null\n' "${DIRSTACK[__igloo_line]}"
done
builtin declare -p OLDPWD 2>/dev/null || builtin printf 'unset OLDPWD\n'
builtin printf '%s\n' "$__igloo_traps"  # those that a subshell does not have
builtin mapfile -t __igloo_list <<<"$(builtin trap -p)"
for __igloo_line in "${__igloo_list[@]}"; do
  [[ $__igloo_line == *__igloo_* ]] || builtin printf '%s\n' "$__igloo_line"
done
builtin mapfile -t __igloo_list <<<"$(builtin declare -F)"
for __igloo_line in "${__igloo_list[@]#declare }"; do  # -fx NAME
  case $__igloo_line in
    ''|*' __igloo_'*) ;;
    *)
      builtin declare -f "${__igloo_line#* }"
      builtin printf 'builtin declare %s %q\n' "${__igloo_line%% *}" "${__igloo_line#* }" ;;
  esac
done
builtin mapfile -t __igloo_list <<<"$(builtin set +o)"
builtin printf 'builtin %s\n' "${__igloo_list[@]}"
if [[ $__igloo_set ]]; then builtin printf 'builtin set -%s\n' "$__igloo_set"; fi
if builtin shopt -q expand_aliases; then builtin printf 'builtin shopt -s expand_aliases\n'; fi
)
