#=== division-by-zero-goes-on
echo before
x=$((1 / 0))
echo after $?
#=== division-by-zero-in-let
let y=1/0
echo $? after
#=== bad-substitution-goes-on
echo ${a-b c}
echo ${!}
echo "${x@Z}"
echo after
#=== bad-substitution-in-function
f() { echo one; echo "${x@Z}"; echo two; }
f
echo three $?
#=== unbound-variable
set -u
echo start
echo "$nothing"
echo never
#=== unbound-in-subshell
set -u
(echo "$nothing"; echo never)
echo $?
#=== error-message-operator
: ${needed:?is needed here}
echo never
#=== readonly-assignment
readonly r=1
r=2
echo after $?
#=== readonly-in-function
readonly r=1
f() { r=2; echo in; }
f
echo after $?
#=== readonly-unset
readonly r=1
unset r
echo $?
#=== invalid-identifier
export 1a=2
echo $?
declare 'b c=1'
echo $?
#=== command-not-found
no-such-command one two
echo $?
#=== not-executable
echo 'echo hi' > script
./script
echo $?
chmod +x script
./script
echo $?
/workspace
echo $?
#=== no-such-interpreter
printf '#!/no/such\necho hi\n' > script
chmod +x script
./script
echo $?
#=== bad-array-subscript
a=(1 2)
a[-5]=1
echo after $?
echo "${a[-9]}"
echo after $?
#=== arithmetic-syntax
echo $((1 +))
echo after
#=== arithmetic-syntax-in-condition
if ((1 +)); then echo yes; else echo no $?; fi
[[ 1 -eq 1+ ]]
echo $?
#=== failglob
shopt -s failglob
echo before
echo *.nothing
echo after $?
#=== posix-special-builtin-error
set -o posix
echo before
. /no/such/file
echo never
#=== source-missing
. /no/such/file
echo $?
source
echo $?
#=== cd-missing
cd /no/such
echo $? "$PWD"
#=== redirect-missing
echo hi > /no/such/file
echo $?
cat < /no/such/file
echo $?
exec 5< /no/such/file
echo never
#=== redirect-ambiguous
a='x y'
echo hi > $a
echo $?
echo hi >& $a
echo $?
#=== noclobber
set -C
echo 1 > f
echo 2 > f
echo $?
echo 3 >| f
cat f
#=== bad-option-of-builtin
echo $(read -Z)
cd -Z
echo $?
printf -Z
echo $?
set -Z
echo $?
shopt -s nothing_like_this
echo $?
#=== printf-invalid-number
printf '%d\n' abc 12x ''
echo $?
#=== shift-too-far
set -- a b
shift 5
echo $? $#
#=== return-from-nothing-with-number
return 3
echo after $?
#=== break-outside
break
echo $?
continue 2
echo $?
#=== exit-not-a-number
exit abc
#=== exit-too-many
exit 1 2
echo after $?
#=== kill-bad
kill -9 999999
echo $?
kill -l 15 9 130
kill -NOPE $$
echo $?
#=== trap-bad
trap 'echo x' NOPE
echo $?
#=== division-by-zero-under-errexit
set -e
x=$((1 / 0))
echo never
#=== error-in-command-substitution
x=$(echo "${y@Z}"; echo never)
echo "$? [$x]"
#=== error-in-sourced-file
echo 'echo a; echo "${x@Z}"; echo b' > lib
. ./lib
echo after $?
#=== error-in-eval
eval 'echo a; echo "${x@Z}"; echo b'
echo after $?
#=== syntax-error-in-eval
eval 'if then'
echo after $?
eval 'echo )'
echo after $?
#=== syntax-error-in-sourced-file
printf 'echo one\nif then\necho two\n' > lib
. ./lib
echo after $?
#=== recursion-limit
FUNCNEST=20
f() { echo -n "$1 "; f $(($1 + 1)); }
f 1
echo after $?
