# The driver of languages that no interpreter keeps alive (Go, Rust, Java): runs every piece of code
# that comes over descriptor 3 as a program of its own. Files last, and what compilers keep in them.
# Words of the protocol: `run ID SIZE FLAGS` comes, `ready 0 SIZE` and `done ID SIZE` go over descriptor 4.
#
# $1 is the name of the code's file, the rest is the command that runs it. For any POSIX shell.
directory=${TMPDIR:-/tmp}/igloo file=$directory/$1
shift
# For commands that can keep something from call to call and do not do so of themselves.
export IGLOO_CACHE="$directory/cache"

# Nothing that is started here gets one of the two, but for the `head` that reads.
send() {  # kind, id, payload (ASCII)
  printf '%s %s %s\n%s' "$1" "$2" "${#3}" "$3" >&4
}

# All of it leaves the channel, even when there is no room for it: the next header lies behind.
take() {  # size
  head -c "$1" <&3 4>&- | {
    exec 3<&- 4>&-
    mkdir -p "$directory" && cat >"$file"
    written=$?
    cat >/dev/null
    exit "$written"
  }
}

# SIGINT is the program's alone. A trap with a command is not inherited, and runs when the program
# has ended; one without is, so nothing breaks the reading.
trap '' INT
send ready 0 "{\"pid\": $$}"
while IFS=' ' read -r word id size flags <&3; do
  case $word:$size in
    run: | run:*[!0-9]*) exit 1 ;;
    run:*) ;;
    *) exit 1 ;;
  esac
  stopped= more=
  if take "$size"; then
    trap 'stopped=1' INT
    "$@" "$file" 3<&- 4>&-
    status=$?
    trap '' INT
  else
    status=1 more=', "error": "there is no room for the code"'
  fi
  if [ "$stopped" ]; then status=130 more=', "interrupted": true'; fi
  send done "$id" "{\"status\": $status$more}"
done
