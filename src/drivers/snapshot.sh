# Prints code that makes another bash what this one is: run in one session, its output is run in a
# new one. Not everything that bash knows can be set: what follows from the process itself is left
# out, and so is what belongs to the driver.
for __igloo_name in $(builtin compgen -v); do
  case $__igloo_name in
    __igloo_*|BASH|BASHOPTS|BASHPID|BASH_*|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO) ;;
    OLDPWD|OPTIND|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_) ;;
    *) builtin declare -p "$__igloo_name" ;;
  esac
done 2>/dev/null
for __igloo_name in $(builtin compgen -A function); do
  case $__igloo_name in
    __igloo_*) ;;
    *) builtin declare -f "$__igloo_name"; builtin declare -F -p "$__igloo_name" >/dev/null ;;
  esac
done 2>/dev/null
builtin alias -p
builtin shopt -p
builtin set +o
builtin trap -p | while IFS= builtin read -r __igloo_name; do
  case $__igloo_name in *__igloo_*) ;; *) builtin printf '%s\n' "$__igloo_name" ;; esac
done
builtin printf 'umask %s\n' "$(builtin umask)"
builtin printf 'set -- %s\n' "${*@Q}"
builtin printf 'cd -- %q\n' "$PWD"
builtin unset __igloo_name
