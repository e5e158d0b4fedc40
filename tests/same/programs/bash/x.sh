#=== hello
echo hello; echo err >&2; exit 3
#=== random; varies
echo $RANDOM$RANDOM
#=== crlf; escaped
echo a\r\necho b
