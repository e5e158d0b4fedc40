#=== flags
echo "$-"
#=== shellopts
echo "$SHELLOPTS"
echo "$BASHOPTS"
#=== set-o
set -o
#=== shopt
shopt
#=== declare-p; mask /(BASHPID|PPID|SRANDOM|RANDOM|EPOCHSECONDS|EPOCHREALTIME)="[^"]*"/\1/; mask / \[[0-9]+\]="[^"]*"(?= )/ N/
declare -p
#=== set-lists; mask /(BASHPID|PPID|SRANDOM|RANDOM|EPOCHSECONDS|EPOCHREALTIME)=.*/\1/
x=1
set
#=== compgen-variables
compgen -v
#=== compgen-all-names
compgen -A function; compgen -a; compgen -b | wc -l; compgen -k | wc -l
#=== environment
env | sort
#=== exported
export -p
#=== readonly-list; mask /PPID="[0-9]+"/PPID/
readonly -p
#=== pid-of-subshell
[[ $$ != "$BASHPID" ]] && echo other || echo same
(echo $(($$ == BASHPID)))
#=== shell-level
echo $SHLVL
bash -c 'echo $SHLVL'
#=== underscore
echo "$_"
echo a b
echo "$_"
#=== line-numbers
echo $LINENO

echo $LINENO
f() {
  echo $LINENO
}
f
eval 'echo $LINENO
echo $LINENO'
#=== line-numbers-in-messages
echo

nothing-here
f() {

  nothing-there
}
f
#=== seconds-set
SECONDS=100
echo $SECONDS
#=== seconds-at-start; aged
echo $((SECONDS < 2))
#=== seconds-counted
began=$SECONDS
read -r -t 1.1 < <(sleep 5)
echo $((SECONDS - began < 3))
#=== age-of-process; aged
read -r -a stat < /proc/$$/stat
read -r up _ < /proc/uptime
echo $((${up%.*} - stat[21] / 100 < 3))
#=== random-varies; varies
echo $RANDOM $RANDOM $SRANDOM
#=== random-seeded
RANDOM=42
echo $RANDOM $RANDOM
#=== bash-path
echo "$BASH"
echo "$BASH_VERSION" "${BASH_VERSINFO[@]}"
#=== execution-string
echo "${BASH_EXECUTION_STRING-none}"
#=== prompt-and-history
echo "${PS1-none} ${PS2-none} $PS4 ${HISTFILE-none} ${HISTSIZE-none}"
history
#=== optind
echo $OPTIND $OPTERR
while getopts ab: o -a -b x -c; do echo "$o ${OPTARG-}"; done
echo $OPTIND
#=== pipestatus-at-start
echo "${PIPESTATUS[@]}" $?
#=== dollar-bang
echo "[$!]"
#=== last-argument-of-shell
echo "${@:0}"
echo "${BASH_SOURCE-none}"
#=== groups-and-uid
echo $UID $EUID "${GROUPS[@]}"
#=== hostname-and-type
echo $HOSTNAME $HOSTTYPE $OSTYPE $MACHTYPE
#=== directory-stack
dirs
pushd /tmp
popd
echo "$OLDPWD"
#=== oldpwd-at-start
echo "${OLDPWD-none}"
cd -
echo $?
#=== time-format
TIMEFORMAT=done
time true
#=== xtrace
set -x
echo a
x=$(echo b)
f() { echo "$x"; }
f
set +x
#=== xtrace-ps4
PS4='+${BASH_SOURCE}:${LINENO}:${FUNCNAME[0]} '
set -x
f() { :; }
f
#=== xtrace-descriptor
exec 12> trace
BASH_XTRACEFD=12
set -x
echo a
set +x
cat trace
#=== verbose
set -v
echo a
# a comment
echo b
set +v
#=== allexport
set -a
x=1
f() { echo f; }
env | grep -E '^(x|BASH_FUNC_f)'
#=== nameref-and-arrays
declare -A m=([a]=1 [b]=2)
declare -n r=m
echo "${r[a]}" "${#r[@]}"
declare -p r
#=== locale
locale | head -n 3
#=== umask-and-limits
umask
ulimit -a | grep -v -E 'time|data'
