# makeWrapper and wrapProgram, with the options that are in use.
makeWrapper() {
  local program=$1 wrapper=$2 flags=''
  shift 2
  mkdir -p "$(dirname "$wrapper")"
  {
    echo "#!@bash@/bin/bash"
    while [ $# -gt 0 ]; do
      case $1 in
        --set) printf 'export %s=%q\n' "$2" "$3" && shift 3 ;;
        --set-default) printf 'export %s=${%s-%q}\n' "$2" "$2" "$3" && shift 3 ;;
        --prefix) printf 'export %s=%q${%s:+%q}$%s\n' "$2" "$4" "$2" "$3" "$2" && shift 4 ;;
        --suffix) printf 'export %s=${%s:+$%s%s}%q\n' "$2" "$2" "$2" "$3" "$4" && shift 4 ;;
        --unset) echo "unset $2" && shift 2 ;;
        --add-flags) flags+=" $2" && shift 2 ;;
        *) echo "makeWrapper: $1" >&2 && return 1 ;;
      esac
    done
    echo "exec $program$flags \"\$@\""
  } >"$wrapper"
  chmod +x "$wrapper"
}
wrapProgram() {
  local program=$1 hidden
  shift
  hidden=$(dirname "$program")/.$(basename "$program")-wrapped
  mv "$program" "$hidden"
  makeWrapper "$hidden" "$program" "$@"
}
