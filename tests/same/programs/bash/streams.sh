#=== descriptors-at-start
for fd in {0..255}; do [ -e /proc/$$/fd/$fd ] && echo $fd; done
#=== descriptors-in-child
ls /proc/self/fd
#=== descriptors-used-by-user
for fd in {3..60}; do eval "exec $fd> f$fd" || echo "no $fd"; done
for fd in {3..60}; do echo "at $fd" >&$fd || echo "cannot $fd"; done
cat f3 f10 f58 f59 f60
#=== descriptors-high
exec 255> high
echo hello >&255
exec 200>&255
echo more >&200
cat high
#=== descriptors-closed
for fd in {3..255}; do eval "exec $fd>&-"; done
echo still here
x=$(echo substitution)
echo $x
#=== descriptors-named
exec {fd}> file
echo $((fd >= 10))
echo hi >&$fd
exec {fd}>&-
cat file
#=== descriptor-bad
echo hi >&77
echo $?
exec 3<&44
echo never
#=== descriptor-swap
exec 3>&1 1>&2 2>&3
echo to error
nothing-here
#=== stdout-closed
exec >&-
echo lost
echo $? >&2
#=== stdout-full
echo full > /dev/full
echo $?
printf full > /dev/full
echo $?
exec > /dev/full
echo lost
#=== stderr-closed
exec 2>&-
nothing-here
echo $?
#=== stdin-at-start
cat
read -r line
echo $? "[$line]"
#=== stdin-kind
[ -t 0 ] && echo terminal
[ -p /proc/self/fd/0 ] && echo pipe
[ -c /proc/self/fd/0 ] && echo device
readlink /proc/$$/fd/0
#=== stdout-kind
[ -t 1 ] || echo none
[ -p /proc/self/fd/1 ] && echo pipe
[ -p /proc/self/fd/2 ] && echo pipe
#=== stdin-device-read
cat /dev/stdin
echo $?
#=== stdin-device-as-file
wc -c < /dev/stdin
. /dev/stdin
echo $?
#=== stdout-device
echo one > /dev/stdout
echo two > /dev/stderr
echo three >> /dev/stdout
#=== tee-into-devices
echo hi | tee /dev/stderr
#=== descriptor-device
exec 3> f
echo hi > /dev/fd/3
cat f
echo there > /proc/self/fd/3
cat f
#=== script-read-from-own-input
exec < "$0"
read -r line
echo "$line"
#=== here-document
cat <<END
value $((1 + 1)) $0
END
cat <<'END'
raw $x
END
cat <<-END
	tabs
	END
#=== here-document-unfinished
cat <<END
no end
#=== here-document-in-substitution
x=$(cat <<END
inner
END
)
echo "$x"
#=== here-string
read -r a b <<< "one two three"
echo "$b"
cat <<< "$(seq 3)"
#=== here-document-large
x=$(seq 20000)
cat <<END | tail -n 1
$x
END
wc -c <<< "$x"
#=== process-substitution
diff <(seq 3) <(seq 4)
echo $?
echo <(true) | tr 0-9 N
cat < <(echo in)
echo x > >(cat)
wait $!
#=== pipeline-lastpipe
shopt -s lastpipe
echo a b | read -r x y
echo "$y"
#=== read-loop
seq 3 | while read -r n; do echo "got $n"; done
#=== read-options
read -r -n 3 x <<< abcdef
echo $x
read -r -d : y <<< a:b
echo $y
read -r -a z <<< "1 2 3"
echo ${#z[@]}
mapfile -t lines < <(seq 3)
echo "${lines[@]}"
#=== read-timeout
read -r -t 0.01 x < <(sleep 5)
echo $(($? > 128))
#=== coproc
coproc C { read -r x; echo "got $x"; read -r x; exit 3; }
in=${C[0]} out=${C[1]} pid=$C_PID
echo hello >&$out
read -r answer <&$in
echo "$answer"
echo end >&$out
wait $pid
echo $?
#=== coproc-descriptors
coproc cat
echo $((COPROC[0] > 9)) ${#COPROC[@]}
exec 5<&${COPROC[0]}
echo hi >&${COPROC[1]}
eval "exec ${COPROC[1]}>&-"
cat <&5
#=== output-order
echo one
echo two >&2
echo three
exec 2>&1
echo four
echo five >&2
nothing-here
echo six
#=== output-of-children-ordered
exec 2>&1
echo a
/bin/echo b
bash -c 'echo c; echo d >&2'
echo e
#=== output-large
seq 100000
#=== output-binary
printf '\x00\x01\xff\xfe\n'
head -c 300 /dev/zero
#=== output-without-newline
printf hello
printf error >&2
#=== output-invalid-utf8
printf '\xc3\x28 \xe2\x82 \xf0\x9f\x98\n'
