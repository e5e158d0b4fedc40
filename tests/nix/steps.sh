# What the tests of Nix do, for those that do it: 'run', and 'as-user' once more. Sets what prepare prints.
# shellcheck shell=bash
nix_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
passed=0 failed=0

# check NAME COMMAND...: one thing that must be so; what it says is shown when it is not.
check() {
  local name=$1 began=$SECONDS output
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
    echo "ok: $name ($((SECONDS - began)) s)${output:+: $(tail -n 1 <<<"$output" | cut -c1-120)}"
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n%s\n' "$name" "$(tail -n 40 <<<"$output")"
  fi
}

# The tree without what git ignores: a build directory would be copied into the store.
copy_source() {
  local top=$nix_tests/../..
  mkdir -p "$1"
  if [ -e "$top/.git" ]; then
    (cd "$top" && git ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done | tar -c --null -T -)
  else
    tar -C "$top" -c --exclude=./build .
  fi | tar -x -C "$1"
}

prepare_nix() {
  local words
  words=$("$nix_tests/prepare") || return
  eval "$words"
  export NIX_CONF_DIR
  # Nothing of the caller's.
  export XDG_CACHE_HOME=$1/cache NIX_USER_CONF_FILES=/dev/null
  unset NIX_PATH NIX_REMOTE NIX_CONFIG
}

version_of() { "$1" --version | sed 's/.* //'; }

# nix_on NIX COMMAND INSTALLABLE...: over the stand-in, and without a network.
nix_on() {
  local nix=$1 command=$2
  shift 2
  # shellcheck disable=SC2086  # 'flake check' is two words
  "$nix_tests/offline" "$nix" $command "$@" --override-input nixpkgs "path:$NIX_PACKAGES" --no-write-lock-file
}

# built NIX INSTALLABLE WORDS...: builds it and prints where it is.
built() {
  local nix=$1
  shift
  nix_on "$nix" build "$@" --no-link --json | jq -er '.[0].outputs.out'
}

# artifact TO NIX INSTALLABLE WORDS...: builds an environment; TO becomes a directory that igloo reads, and that says
# where the store is.
artifact() {
  local to=$1 out
  shift
  out=$(built "$@") || return
  mkdir -p "$to"
  jq --arg root "$NIX_STORE_ROOT" '. + {store_prefix: $root}' "$NIX_STORE_ROOT$out/metadata.json" >"$to/metadata.json" &&
    if jq -e .image "$to/metadata.json"; then return; fi &&
    wc -l <"$NIX_STORE_ROOT$(jq -r .closure "$to/metadata.json")" | sed 's/$/ store paths/'
}

# Code that prints what it sees, in the language of an environment.
seen_by() {
  case $1 in
    shell | network-tools) echo bash ;;
    python* | data-science) echo python ;;
    plain-node) echo node ;;
    *) echo "$1" ;;
  esac
}

# only_closure IGLOO ARTIFACTS NAME: runs code in an environment and looks at what it saw of this machine.
only_closure() {
  local metadata=$2/$3/metadata.json
  NIX_SANDBOX_DIR=$2 "$1" run --env "$3" --file "$nix_tests/seen/$(seen_by "$3")" >"$2/$3/seen" || return
  "$nix_tests/only-closure" "$(jq -r '.store_prefix + .closure' "$metadata")" <"$2/$3/seen"
}
