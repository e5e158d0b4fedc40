#=== job-control-off
set -o | grep -E 'monitor|history'
jobs
fg
echo $?
#=== jobs-listed
sleep 20 &
jobs
jobs -p | wc -l
kill %1
wait $!
echo $?
#=== job-control-on
set -m
sleep 20 & p=$!
read -r -a stat < /proc/$p/stat
echo $((stat[4] == p))
kill %1
wait $p
echo $?
#=== job-killed-message; mask /  [0-9]+ (?=Killed|Terminated|Segm)/  N /
sleep 20 & p=$!
kill -9 $p
wait $p
echo $?
#=== job-killed-in-foreground; mask /  [0-9]+ (?=Killed|Terminated|Segm)/  N /
bash -c 'kill -9 $$'
echo $?
bash -c 'kill -TERM $$'
echo $?
#=== job-segfault-message; mask /  [0-9]+ (?=Killed|Terminated|Segm)/  N /
bash -c 'kill -SEGV $$'
echo $?
(kill -SEGV $BASHPID)
echo $?
#=== wait-any
(exit 3) &
(exit 4) & q=$!
wait -n
wait $q
echo $?
#=== disown
sleep 20 & p=$!
disown
jobs
kill $p
#=== many-children
for i in {1..20}; do (exit $i) & pids+=($!); done
for p in "${pids[@]}"; do wait $p; echo -n "$? "; done
echo
#=== subshell-variables
x=1
(x=2; echo $x)
echo $x
{ x=3; }
echo $x
#=== subshell-levels
echo $BASH_SUBSHELL
(echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL))
x=$(echo $BASH_SUBSHELL)
echo $x
#=== command-substitution-status
x=$(exit 6)
echo $?
y=$(kill -TERM $BASHPID)
echo $?
#=== processes-of-shell
ps -o comm= --ppid $$
echo
ps -o args= -p $$
#=== parent-is-not-shell
[[ $PPID != "$$" ]] && echo ok
ps -o comm= -p $$
#=== command-line
tr '\0' ' ' < /proc/$$/cmdline
echo
#=== environment-of-process
tr '\0' '\n' < /proc/$$/environ | sort
#=== session-and-group
read -r -a stat < /proc/$$/stat
echo $((stat[4] == $$)) $((stat[5] == $$))
#=== loop-with-children
for i in {1..30}; do x=$(/bin/echo $i); done
echo $x
#=== timeout-command
timeout 0.2 sleep 10
echo $?
#=== nice-and-xargs
echo 1 2 3 | xargs -n 1 echo
nice echo polite
#=== script-as-child
cat > child <<'E'
echo "$0 $1 ${BASH_SOURCE[0]}"
exit 7
E
bash child x
echo $?
#=== interactive-child
bash -i -c 'echo $-' 2> /dev/null
bash -c 'echo $-'
bash -l -c 'echo $0'
