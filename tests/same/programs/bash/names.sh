#=== function-echo
echo() { builtin echo "mine: $*"; }
echo hello
#=== function-printf-read-exit
printf() { builtin echo printf; }
read() { builtin echo read; }
exit() { builtin echo "exit $*"; builtin exit 4; }
printf x
read y
exit 2
#=== function-builtin
builtin() { command echo "no builtin $*"; }
eval() { command echo "no eval $*"; }
source() { command echo "no source $*"; }
builtin echo x
eval echo y
source /dev/null
#=== function-trap-set-return
trap() { echo "trap: $*"; }
set() { echo "set: $*"; }
trap 'echo x' EXIT
set -e
false
echo goes on
#=== function-colon-and-bracket
:() { echo colon; }
[() { echo bracket "$@"; }
: x
[ 1 = 2 ]
true() { return 3; }
true
echo $?
#=== function-dot
.() { echo "dot $*"; }
. /no/such
#=== function-cd
cd() { builtin cd "$@" && echo "now $PWD"; }
cd /tmp
#=== builtins-disabled
enable -n echo printf test
type -t echo printf test
echo by program
enable echo
type -t echo
#=== builtins-all-disabled
enable -n exec eval source . trap read exit
type exec
exit 3
command echo end
#=== alias
alias hi='echo hello'
hi
shopt -s expand_aliases
alias hi='echo hello'
hi
#=== command-not-found-handle
command_not_found_handle() { echo "no $1"; return 5; }
nothing-here a
echo $?
#=== functions-at-start
declare -F
#=== functions-listed
b() { :; }
a() { echo a; }
declare -F
declare -f a
#=== exported-function
f() { echo "from $BASHPID" | tr -d 0-9; }
export -f f
bash -c f
#=== type-of-things
type -a test cd if ls
#=== hash-table
hash
ls > /dev/null
hash
#=== ifs-changed
IFS=x
a="1x2x3"
set -- $a
echo $# "$*"
#=== lang-changed
LC_ALL=C
x=äö
echo ${#x}
LC_ALL=C.UTF-8
echo ${#x}
#=== path-emptied
PATH=
ls
echo $?
/bin/echo still
#=== shell-options-changed
set -f
echo *
set +f
set -o noexec
echo never
#=== positional-parameters
echo $# "$@" "$0"
set -- a "b c"
echo $# "$@"
shift
echo "$1"
#=== script-name
echo "$0"
echo "$BASH_ARGV0"
BASH_ARGV0=other
echo "$0"
nothing-here
#=== funcname
f() { echo "${FUNCNAME[@]}"; g; }
g() { echo "${FUNCNAME[@]}" "${BASH_LINENO[@]}" "${BASH_SOURCE[@]}"; }
f
echo "${FUNCNAME[@]}" "${#FUNCNAME[@]}"
echo "${BASH_SOURCE[@]}" "${#BASH_SOURCE[@]}" "${BASH_LINENO[@]}"
#=== funcname-in-sourced
echo 'f() { echo "${FUNCNAME[@]} | ${BASH_SOURCE[@]}"; }; f; echo "${FUNCNAME[@]}"' > lib
. ./lib
f
#=== caller
f() { caller; caller 0; caller 1; echo $?; }
g() { f; }
g
caller
echo $?
#=== stack-trace
trace() { local i; for ((i = 0; i < ${#FUNCNAME[@]}; i++)); do echo "$i ${FUNCNAME[i]} ${BASH_LINENO[i]} ${BASH_SOURCE[i]}"; done; }
a() { b; }
b() { trace; }
a
#=== bash-argv
shopt -s extdebug
f() { echo "${BASH_ARGC[@]} | ${BASH_ARGV[@]}"; }
f one two
echo "${BASH_ARGC[@]} | ${BASH_ARGV[@]}"
#=== bash-command
echo "$BASH_COMMAND"
f() { echo "$BASH_COMMAND"; }
f x
