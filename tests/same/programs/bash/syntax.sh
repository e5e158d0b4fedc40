#=== syntax-error-at-start
)
echo never
#=== syntax-error-in-middle
echo one
echo two
if then
echo never
#=== syntax-error-at-end
echo one
if true; then
#=== syntax-error-quote
echo one
echo "never closed
echo two
#=== syntax-error-backquote
echo `echo a
#=== syntax-error-function
f() {
echo in
#=== syntax-error-case
case x in
a) echo a ;;
#=== syntax-error-after-heredoc
cat <<E
text
E
done
#=== syntax-error-with-exit-trap
trap 'echo bye $?' EXIT
echo one
fi
#=== syntax-error-in-function-never-called
echo one
f() { for; }
echo two
#=== syntax-error-unexpected-newline
echo a &&
#=== syntax-error-near-token
for i in 1 2; do echo $i; done done
#=== syntax-error-same-line
echo one; )
#=== syntax-error-array
a=(1 2
echo
#=== crlf; escaped
echo one\r\nif true; then echo two; fi\r\necho three\r\n
#=== crlf-first-command; escaped
x=1\r\necho "[$x]" | od -c\n
#=== nul-bytes; escaped
echo one\x00two\necho three\n
#=== control-characters; escaped
echo a\x01b\x7fc | od -c\necho d\x0be\n
#=== byte-order-mark; escaped
\xefecho one\necho two\n
#=== binary-looking; escaped
\x7fELF\x02\x01\x01\x00\x00\n
#=== binary-later; escaped
echo first line is text\n\x00\x00\x00\nprintf end\n
#=== long-line; escaped
echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | wc -c\n
#=== unicode
grüße() { echo "schöne $1"; }
grüße 世界
x='🐧'
echo "${#x} ${x@Q}"
printf '%s\n' "$(printf '\u00e9')"
#=== line-continuation
echo one \
  two
ec\
ho three
#=== shebang-line
#!/bin/sh -e
false
echo not sh
#=== shebang-in-middle
echo a
#!/usr/bin/python3
echo b
#=== options-in-shebang
#!/bin/bash -u
echo "[$nothing]"
#=== comments-and-blank-lines

# comment

   
echo end   # trailing
#=== script-changes-itself
echo 'echo added' >> "$0"
echo $?
rm -f "$0"
echo $?
: > "$0"
echo $?
#=== script-directory
ls -A /run/igloo
echo "$(basename "$0") $(dirname "$0")"
touch /run/igloo/new
echo $?
#=== script-reads-itself
cat "$0"
wc -l < "$0"
#=== script-file-kind
stat -c '%F %a %s %U' "$0"
#=== exec-self-as-program
"$0"
echo $?
#=== exit-before-garbage
echo fine
exit 0
this is ( not shell at all
#=== text-after-exec
exec cat "$0"
( garbage
#=== reads-line-by-line
sed -n 3p "$0"
alias later='echo alias works'
shopt -s expand_aliases
alias now='echo alias now'
now
#=== extglob
shopt -s extglob
case abc in @(a|b)*) echo yes ;; esac
x=aaab
echo "${x##+(a)}"
#=== conditional-commands
[[ abc =~ b(.) ]] && echo "${BASH_REMATCH[1]}"
[[ -v HOME && ! -v nothing ]] && echo set
((3 > 2)) && echo more
test 1 -lt 2 -a 3 -gt 2
echo $?
#=== select
select x in a b; do echo "$x"; break; done <<< 2
#=== brace-and-tilde
echo {1..5} {a,b}{1,2} ~ ~root
#=== glob
touch b a c
echo *
echo [ab] ?
shopt -s nullglob
echo none*
#=== arithmetic
echo $((2 ** 10)) $((7 % 3)) $((0x1f)) $((1 ? 2 : 3)) $((16#ff))
((x = 5, x += 2))
echo $x
#=== printf-formats
printf '%5d|%-5s|%05.1f|%x|%q\n' 42 ab 3.14159 255 "a b'c"
printf '%(%Y)T\n' 0
#=== quoting
echo $'a\tb\'c' "d\"e" 'f'\''g'
x='a  b'
echo $x "$x"
#=== set-id-bits
touch f
chmod u+s f
echo $?
mkdir d
chmod g+s d
echo $?
