#=== exit-trap
trap 'echo bye $?' EXIT
(exit 3)
#=== exit-trap-with-exit
trap 'echo bye $?; exit 7' EXIT
exit 3
#=== exit-trap-after-error
trap 'echo bye $?' EXIT
: ${x:?gone}
#=== exit-trap-after-unbound
set -u
trap 'echo bye $?' EXIT
echo $nothing
#=== exit-trap-after-term
trap 'echo bye $?' EXIT
kill -TERM $$
echo never
#=== exit-trap-in-subshell
trap 'echo outer' EXIT
(trap 'echo inner' EXIT; echo in)
(echo no trap here)
echo end
#=== exit-trap-set-in-function
f() { trap 'echo "bye from $FUNCNAME"' EXIT; }
f
echo end
#=== exit-trap-at-exec
trap 'echo bye' EXIT
exec true
#=== exit-trap-listed
trap 'echo bye' EXIT
trap -p
trap - EXIT
trap -p
#=== traps-at-start
trap -p
trap
#=== debug-trap
trap 'echo "[$BASH_COMMAND]"' DEBUG
echo a
x=1
for i in 1 2; do :; done
f() { echo in; }
f
#=== debug-trap-functrace
set -T
trap 'echo "[$LINENO $FUNCNAME $BASH_COMMAND]"' DEBUG
f() { echo in
  return 2; }
f
(echo sub)
#=== debug-trap-at-end
trap 'echo "$LINENO: $BASH_COMMAND"' DEBUG
true
#=== debug-trap-skips
shopt -s extdebug
trap '[[ $BASH_COMMAND != *skip* ]]' DEBUG
echo one
echo skip
echo two
#=== err-trap
trap 'echo "failed $? at $LINENO: $BASH_COMMAND"' ERR
false
true
(exit 3)
if false; then :; fi
false || true
#=== err-trap-errtrace
set -E
trap 'echo "failed $? in ${FUNCNAME-main}"' ERR
f() { false; true; }
f
x=$(false)
#=== err-trap-and-errexit
set -e
trap 'echo err $?' ERR
trap 'echo exit $?' EXIT
f() { return 4; }
f
echo never
#=== err-trap-last-command
trap 'echo err $?' ERR
false
#=== return-trap
trap 'echo returned $?' RETURN
f() { return 3; }
f
declare -ft f
f
echo 'echo lib' > lib
. ./lib
#=== int-trap
trap 'echo int' INT
kill -INT $$
echo after
#=== term-trap
trap 'echo term; exit 9' TERM
kill -TERM $$
echo never
#=== trap-ignored
trap '' TERM
kill -TERM $$
echo alive
bash -c 'kill -TERM $$; echo child alive'
#=== trap-reset
trap 'echo usr1' USR1
kill -USR1 $$
trap - USR1
kill -USR1 $$
echo never
#=== trap-in-child
trap 'echo usr1' USR1
(kill -USR1 $BASHPID; echo never)
echo $?
#=== trap-while-waiting
trap 'echo got it' USR1
(kill -USR1 $$) &
wait $!
echo "$(( $? == 0 || $? > 128 ))"
#=== trap-chld
set -o monitor
trap 'echo child' CHLD
/bin/true
/bin/true
#=== trap-status
trap 'echo trap; false' USR1
kill -USR1 $$
echo $?
#=== trap-nested
trap 'trap "echo second" USR1; kill -USR1 $$; echo first' USR1
kill -USR1 $$
echo end
#=== trap-with-line
trap 'echo $LINENO' USR1

kill -USR1 $$
#=== ignored-signals-at-start
grep -E '^Sig(Ign|Blk)' /proc/$$/status
#=== caught-signals-in-children
grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status
