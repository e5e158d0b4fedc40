# The driver of bash: runs the code that comes over descriptor 3, one piece after the other, in one
# shell. Words of the protocol: `run ID SIZE FLAGS` comes, a line of 64 bytes, and the code behind it.
# `ready 0 SIZE`, `done ID SIZE` and `exit ID STATUS` go over descriptor 4. Or `.+` comes: run 1, whose code is
# a whole program that the host has written to its file, to be sourced. The second of these two bytes is read
# when it has come to its end with status 0, which the host sees.
#
# Everything here must survive what user code may have done before: set -eux, another IFS or LANG,
# closed descriptors, functions called printf or `:`. So everything is quoted, and `builtin` or a
# keyword (`[[ 1 ]]` for `:`).

# Started as a script, bash would put this file's name and line numbers into every message. As a
# `-c` string of one line it says "bash: line 2: ..." with the numbers of the user's own lines.
#
# The code is eval'ed at the top level: in a function, its `declare` would make locals. Three loops,
# because the traps below say `continue 999`, which stays in the outermost one, and a stray `break`
# or `break 2` of the user's leaves only the inner ones.
#
# Behind a whole program the next word is waited for at once: the host may need this processor for the answer.
#
# What follows an order is written out, down to its numbers: with variables it takes a tenth longer. They are numbers
# that nobody chooses: bash takes what is marked close-on-exec for its own, and would undo the user's `exec 12>file`. Below
# 64, where its table would have to grow, and below those that `<(...)` gets; or where few are allowed, the last of 16.
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  if { exec 59>&4; } 2>/dev/null; then __igloo_fd=58 __igloo_out=59; else __igloo_fd=14 __igloo_out=15; fi
  exec 59>&-
  printf -v __igloo_file %q "${1-main.sh}"
  exec "$BASH" --norc --noprofile -c '. "$@"; builtin set --; builtin read -r -N 1 -u '$__igloo_fd' __igloo_order; case $__igloo_order in .) . '"$__igloo_file"'; case $? in 0) ! builtin read -r -N 2 -u '$__igloo_fd' ;; *) __igloo_status=$? ;; esac ;; *) . "$__igloo_driver"; if [[ $__igloo_order == *" once"[\ ,]* ]]; then builtin trap - INT; __igloo_prepare_whole; builtin eval "$__igloo_code"; else __igloo_begin; while [[ 1 ]]; do while [[ 1 ]]; do while [[ 1 ]]; do { __igloo_close 0; } 2>/dev/null; __igloo_next; builtin eval "$__igloo_code"; { __igloo_close "$?"; } 2>/dev/null; done; done; done; fi; __igloo_status=$? ;; esac; builtin echo "exit ${__igloo_id:-1} $__igloo_status" >&'$__igloo_out' && builtin read -u '$__igloo_fd'; builtin trap - EXIT; builtin exit "$__igloo_status"' bash "$0" "${1-main.sh}" "$__igloo_fd" "$__igloo_out"
fi

# What a shell needs that waits, and all that most programs need: what stands behind it takes a fifth of the
# memory of such a shell, and is read when there is a use for it. Without a trap for SIGINT, which would have to
# be taken back: igloo sends none to a shell that has just got its first order.
if (( $# )); then
  # Copies of descriptors 3 and 4 that no program inherits. Bash cannot ask for close-on-exec, but it marks
  # what it puts aside for the time of a redirection (the first free number from 10 on), and a copy of a marked
  # one is marked.
  __igloo_fd=$2 __igloo_out=$3
  eval "{ exec $__igloo_fd<&10; } 3<&-; { exec $__igloo_out>&10; } 4>&-"
  exec 3<&- 4>&-
  __igloo_driver=${BASH_SOURCE[0]} __igloo_file=$1 __igloo_order= __igloo_status=0 # the file: of code that is a whole program
  eval 'builtin printf "warm %s" "$BASHPID"' >/dev/null
  # There before it is needed. Never a file in a directory of the user's.
  if [[ $__igloo_file == /* ]]; then { [[ 1 ]] >"$__igloo_file"; } 2>/dev/null; fi
  BASH_ARGV0=$__igloo_file
  builtin printf 'ready 0 %s\n{"pid": %s}' "$((9 + ${#$}))" "$$" >&"$__igloo_out"
  builtin return
fi

__igloo_open= __igloo_id=0 __igloo_status=0 __igloo_stopped= __igloo_failed= __igloo_errexit=
__igloo_traps= __igloo_last= __igloo_options= __igloo_armed= __igloo_extdebug= __igloo_code=

# Stopping code: a DEBUG trap is asked before every command. In a function its status 2 makes bash
# return, from one function after the other, until the top level is reached. There `continue 999`
# leaves all loops, and the status 1 (by the `!`) skips the command that was about to begin.
__igloo_two() { builtin return 2; }
__igloo_leave='if [[ ${FUNCNAME-} ]]; then __igloo_two; else builtin trap - DEBUG; ! builtin continue 999; fi'
# Without set -e meanwhile: there a status of 2 would end the shell. The trap is set last: it would
# return from the middle of whatever followed here, and bash would think that for ever under way.
__igloo_unwind='if [[ $- == *e* ]]; then __igloo_errexit=e; builtin set +e; fi
  builtin shopt -q extdebug || __igloo_extdebug=1; builtin shopt -s extdebug; builtin trap "$__igloo_leave" DEBUG'
# Between runs nothing is open, and SIGINT does nothing.
__igloo_on_int='if [[ $__igloo_open ]]; then __igloo_stopped=1; '"$__igloo_unwind; fi"
# A failure under set -e would end the shell and all that it knows. It ends the run instead.
# Subshells end as ever.
__igloo_on_err='__igloo_last=$?; if [[ $- == *e* && $BASHPID == "$$" ]]; then
  __igloo_failed=$__igloo_last; '"$__igloo_unwind; fi"

__igloo_send() {  # kind, id, payload (ASCII)
  builtin printf '%s %s %s\n%s' "$1" "$2" "${#3}" "$3" >&"$__igloo_out"
}

# Ends the run that is open, if there is one. $1: what the code's last command said.
__igloo_close() {
  [[ $__igloo_open ]] || builtin return 0
  __igloo_options=${-//[!ex]/}$__igloo_errexit
  builtin set +ex  # what follows is not to be traced, nor to end anything
  __igloo_open=
  if [[ $__igloo_extdebug ]]; then
    builtin shopt -u extdebug
    __igloo_extdebug=
  fi
  if [[ $__igloo_armed ]]; then
    if [[ $(builtin trap -p ERR) == *__igloo_failed* ]]; then builtin trap - ERR; fi
    builtin set +E
  fi
  # The user's own traps wait until the next run: they are not for the driver's commands. Asking
  # costs a process, so only when the code may have set one.
  if [[ $__igloo_code == *trap* || $__igloo_traps ]]; then
    builtin local interrupt
    __igloo_traps=$(builtin trap -p ERR DEBUG RETURN)
    interrupt=$(builtin trap -p INT)
    # After `trap - INT` the session's own default is back: stopping the run, not the shell.
    if [[ $interrupt != *__igloo_stopped* ]]; then __igloo_traps+=$'\n'$interrupt; fi
    builtin trap - ERR DEBUG RETURN
    builtin trap "$__igloo_on_int" INT
  fi
  __igloo_status=${__igloo_failed:-$1}
  builtin local more=
  if [[ $__igloo_stopped ]]; then
    __igloo_status=130
    more=', "interrupted": true'
  fi
  __igloo_send done "$__igloo_id" "{\"status\": $__igloo_status$more}"
  # An interrupt may have come since: the run is over, it must not stop the next one.
  __igloo_stopped= __igloo_failed= __igloo_errexit=
}

# Takes __igloo_order apart; its code lies behind it. Sets flags. All in bytes: whoever calls this has
# LC_ALL=C.
__igloo_take() {
  builtin local size=${__igloo_order:16:11}
  __igloo_id=${__igloo_order:4:11} flags=${__igloo_order:28:35}
  __igloo_id=${__igloo_id%% *} size=${size%% *} flags=,${flags%% *},
  # No regular expression: with counts in it, it takes longer to compile than most code to run.
  if [[ ${#__igloo_order} != 64 || ${__igloo_order:0:4} != 'run ' || ! $__igloo_id ||
    $__igloo_id == *[!0-9]* || ! $size || $size == *[!0-9]* ]]; then
    # The host has gone or talks nonsense; the user's EXIT trap has nobody to speak to.
    builtin trap - EXIT
    builtin exit 0
  fi
  __igloo_code=
  if [[ $flags == *,nul,* ]]; then
    __igloo_skip "$size"
  elif (( size > 0 )); then
    builtin read -r -N "$size" -u "$__igloo_fd" __igloo_code
  fi
}

# Code with NUL bytes, which `read` drops without counting: it would wait for more than will ever come.
# When two seconds bring nothing, that is it.
__igloo_skip() {
  builtin local part left=$1
  while (( left > 0 )); do
    part=
    builtin read -r -t 2 -N "$left" -u "$__igloo_fd" part
    if [[ ! $part ]]; then break; fi
    left=$(( left - ${#part} ))
  done
}

# Until the first order has come, nearly everything is as for a program of its own: most shells get no
# other order. It is for a session.
__igloo_begin() {
  BASH_ARGV0=bash
  builtin shopt -s expand_aliases  # a session is used as a prompt is
}

# Waits for the next run. Its code is in __igloo_code, the last status becomes $?.
__igloo_next() {
  builtin local IFS= LC_ALL=C flags
  while [[ 1 ]]; do
    if [[ ! $__igloo_order ]]; then builtin read -r -N 64 -u "$__igloo_fd" __igloo_order; fi
    __igloo_take
    __igloo_order=
    if [[ $flags != *,nul,* ]]; then break; fi
    __igloo_send done "$__igloo_id" '{"status": 2, "error": "bash cannot run code with a NUL byte"}'
  done
  builtin declare -g +x __igloo_code  # with set -a, a large one would be in the way of every program
  __igloo_prepare
}

# The code is a program of its own: in a file, with bash's defaults for everything. It is sourced, which
# saves a start, where the host says that this makes no difference: the flag `plain`, and `exits` where it
# must leave by itself, for an EXIT trap. igloo-init tells how it left; only one that comes to its end
# otherwise saves that time. The flag `filed`: the host has written the file.
__igloo_prepare_whole() {
  builtin local LC_ALL=C flags
  __igloo_take
  if [[ $flags != *,filed,* ]]; then builtin printf '%s' "$__igloo_code" 2>/dev/null >"$__igloo_file"; fi
  case $flags in
    *,plain,*) __igloo_code='. "$__igloo_file"' ;;
    *,exits,*) __igloo_code='. "$__igloo_file"; builtin exit "$?"' ;;
    *) __igloo_code='builtin exec "$BASH" "$__igloo_file"' ;;
  esac
}

__igloo_prepare() {
  __igloo_armed=
  if [[ $__igloo_options == *e* || $__igloo_code == *set* ]] && [[ $__igloo_traps != *" ERR"* ]]; then
    [[ $- == *E* ]] || __igloo_armed=1
    builtin set -E
    builtin trap "$__igloo_on_err" ERR
  fi
  if [[ $__igloo_options ]]; then __igloo_code="builtin set -$__igloo_options; $__igloo_code"; fi
  if [[ $__igloo_traps ]]; then
    __igloo_open=1
    builtin eval "$__igloo_traps"
    builtin return 0  # a failure here would call the ERR trap
  fi
  __igloo_open=1
  builtin return "$__igloo_status"
}

builtin trap "$__igloo_on_int" INT
builtin read -r -N 63 -u "$__igloo_fd" __igloo_code  # the rest of the first order
__igloo_order+=$__igloo_code
