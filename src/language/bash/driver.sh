if [[ $1 && ${BASH_SOURCE[0]} == "$0" ]]; then . ./bash "$@"; builtin set --; while [[ 1 ]]; do while [[ 1 ]]; do while [[ 1 ]]; do { __igloo_close 0; } 2>/dev/null; __igloo_next; builtin eval "$__igloo_code"; { __igloo_close "$?"; } 2>/dev/null; done; done; done; builtin exit; fi

# The driver of bash: runs the code that comes over descriptor 3, one piece after the other, in one
# shell. Words of the protocol: `run ID SIZE FLAGS` comes, a line of 64 bytes, and the code behind it.
# `ready 0 SIZE` and `done ID SIZE` go over descriptor 4, with JSON behind them.
#
# Everything here must survive what user code may have done before: set -eux, another IFS or LANG,
# closed descriptors, functions called printf or `:`. So everything is quoted, and `builtin` or a
# keyword (`[[ 1 ]]` for `:`).

# The code is eval'ed at the top level: in a function, its `declare` would make locals. Three loops,
# because the traps below say `continue 999`, which stays in the outermost one, and a stray `break`
# or `break 2` of the user's leaves only the inner ones.
#
# Igloo starts this file by its path. It starts itself once more, as a script that is called `bash` and lies in the
# current directory: so messages begin with "bash: line 2: ", and ${BASH_SOURCE[0]} is "$0", as in every script.
# The loops are in the first line, because the lines of code are counted from theirs.
#
# Numbers for the channel that nobody chooses: bash takes what is marked close-on-exec for its own, and would undo
# the user's `exec 12>file`. Below 64, where its table would have to grow, and below those that `<(...)` gets; or
# where few are allowed, the last of 15. The highest allowed one is not among them: there bash has its script.
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  if { exec 60>&4; } 2>/dev/null; then __igloo_fd=58 __igloo_out=59; else __igloo_fd=13 __igloo_out=14; fi
  exec 60>&-
  __igloo_place=$PWD
  cd -- "${0%/*}"
  exec "$BASH" --norc --noprofile bash "$__igloo_fd" "$__igloo_out" "$__igloo_place"
fi
cd -- "$3"
unset OLDPWD
declare -x OLDPWD

# Copies of descriptors 3 and 4 that no program inherits. Bash cannot ask for close-on-exec, but it marks
# what it puts aside for the time of a redirection (the first free number from 10 on), and a copy of a marked
# one is marked.
__igloo_fd=$1 __igloo_out=$2
eval "{ exec $__igloo_fd<&10; } 3<&-; { exec $__igloo_out>&10; } 4>&-"
exec 3<&- 4>&-

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

# Waits for the next run. Its code is in __igloo_code, the last status becomes $?.
__igloo_next() {
  builtin local IFS= LC_ALL=C flags
  while [[ 1 ]]; do
    builtin read -r -N 64 -u "$__igloo_fd" __igloo_order
    __igloo_take
    if [[ $flags != *,nul,* ]]; then break; fi
    __igloo_send done "$__igloo_id" '{"status": 2, "error": "bash cannot run code with a NUL byte"}'
  done
  builtin declare -g +x __igloo_code  # with set -a, a large one would be in the way of every program
  __igloo_prepare
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

builtin shopt -s expand_aliases  # a session is used as a prompt is
builtin trap "$__igloo_on_int" INT
builtin eval 'builtin printf "warm %s" "$BASHPID"' >/dev/null
__igloo_send ready 0 "{\"pid\": $$}"
