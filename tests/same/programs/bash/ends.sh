#=== return-at-top-level
echo a
return
echo b
#=== return-guard
(return 0 2>/dev/null) && echo sourced || echo run
#=== return-status-at-top-level
echo a
false
return 7
echo b $?
#=== source-guard
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then echo main; else echo library; fi
#=== exit-zero
exit
#=== exit-of-last
false
#=== exit-last-status
(exit 9)
exit
#=== exit-large
exit 300
#=== exit-negative
exit -1
#=== exit-127
nothing-of-that-name
#=== exit-126
/etc/passwd
#=== exit-in-subshell
(exit 4)
echo $?
#=== exit-in-function
f() { exit 5; }
f
echo never
#=== exit-in-pipeline
true | exit 3
echo $? "${PIPESTATUS[@]}"
exit 3 | cat
echo $? "${PIPESTATUS[@]}"
#=== killed-by-own-signal
kill -TERM $$
echo never
#=== killed-by-kill
kill -KILL $$
#=== killed-by-segv
kill -SEGV $$
#=== interrupted-by-itself
kill -INT $$
echo after
#=== hangup
kill -HUP $$
#=== broken-pipe
trap 'echo pipe >&2' PIPE
yes | head -n 1
echo "${PIPESTATUS[@]}"
#=== errexit
set -e
echo a
false
echo never
#=== errexit-in-condition
set -e
f() { false; echo in; }
if f; then echo yes; fi
f || true
! f
echo end
#=== errexit-in-function
set -e
f() { false; echo in; }
f
echo never
#=== errexit-in-substitution
set -e
x=$(false; echo more)
echo "[$x]"
shopt -s inherit_errexit
x=$(false; echo more)
echo never
#=== errexit-and-local
set -e
f() { local x=$(false); echo in $?; }
f
#=== errexit-pipefail
set -eo pipefail
false | true
echo never
#=== errexit-arithmetic
set -e
((0)) || echo ok
i=0
((i++))
echo never
#=== pipefail
set -o pipefail
false | true
echo $?
(exit 3) | (exit 4) | true
echo $?
#=== exec-replaces
echo before
exec echo replaced
echo never
#=== exec-missing
exec /no/such/program
echo never
#=== exec-missing-execfail
shopt -s execfail
exec /no/such/program
echo after $?
#=== exec-with-name
exec -a other bash -c 'echo $0'
#=== exec-shell-again
if [[ -z $AGAIN ]]; then AGAIN=1 exec bash "$0" one two; fi
echo "$0" "$@"
#=== logout
logout
echo $?
#=== suspend
suspend
echo $?
#=== empty; escaped

#=== only-comment
# nothing
#=== no-newline-at-end; escaped
echo hello\nexit 3
#=== comment-without-newline; escaped
echo hello\n# the end
#=== background-left-behind
sleep 30 &
echo gone
#=== background-output-waited
{ echo inner; } &
wait $!
echo outer $?
#=== wait-for-status
(exit 5) & p=$!
wait $p
echo $?
wait 99999
echo $?
