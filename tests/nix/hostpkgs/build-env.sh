# buildEnv: a tree of links to the files of $paths, in real directories.
shopt -s nullglob dotglob

link() { # directory, its place below $out
  local entry place old
  for entry in "$1"/*; do
    place=$2/${entry##*/}
    [ "$place" = /nix-support ] && continue
    if [ -d "$entry" ]; then
      if [ -L "$out$place" ]; then
        old=$(readlink "$out$place")
        rm "$out$place"
        mkdir -p "$out$place"
        link "$old" "$place"
      fi
      mkdir -p "$out$place"
      link "$entry" "$place"
    elif [ ! -e "$out$place" ] && [ ! -L "$out$place" ]; then
      ln -s "$entry" "$out$place"
    elif [ -z "$ignoreCollisions" ] && ! cmp -s "$entry" "$out$place"; then
      echo "collision between $entry and $(readlink "$out$place")" >&2
      exit 1
    fi
  done
}

mkdir -p "$out"
for path in $paths; do
  for part in $pathsToLink; do
    [ -d "$path${part%/}" ] || continue
    mkdir -p "$out$part"
    link "$path${part%/}" "${part%/}"
  done
done
