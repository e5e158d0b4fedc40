# Builder of one leaf; runs under the bootstrap's busybox in the build sandbox. Unpacks the packages, merges /usr
# into $out, gives every ELF file a loader and a run path in the store, and repairs links between packages.
set -e
patchelf() { "$bootstrap/lib/ld.so" --library-path "$bootstrap/lib" "$bootstrap/bin/patchelf" "$@"; }

unpack() {
  case $1 in
    *.tgz)
      mkdir usr
      gzip -dc "$1" | tar -xf - -C usr
      cp -a usr/package/. usr/
      rm -rf usr/package usr/include
      return
      ;;
  esac
  case $(ar -t "$1") in
    *data.tar.xz*) ar -p "$1" data.tar.xz | xz -dc | tar -xf - ;;
    *data.tar.gz*) ar -p "$1" data.tar.gz | gzip -dc | tar -xf - ;;
    *) ar -p "$1" data.tar | tar -xf - ;;
  esac
}

mkdir -p "$out" root
for deb in $debs; do (cd root && unpack "$deb"); done
for each in doc man locale lintian info; do rm -rf "root/usr/share/$each"; done

# What was /bin or /usr/bin becomes $out/bin, and so on.
for each in bin sbin lib lib64; do
  if [ -d "root/$each" ] && [ ! -L "root/$each" ]; then
    mkdir -p "root/usr/$each"
    cp -a "root/$each/." "root/usr/$each/"
  fi
  rm -rf "root/${each:?}"
done
if [ -d root/usr ]; then
  cp -a root/usr/. "$out/"
  rm -rf root/usr
fi
cp -a root/. "$out/"
if [ -d "$out/sbin" ]; then
  mkdir -p "$out/bin"
  for file in "$out"/sbin/*; do [ -e "$out/bin/${file##*/}" ] || cp -a "$file" "$out/bin/"; done
  rm -rf "$out/sbin"
fi
chmod -R u+w "$out"
find "$out" -perm /6000 -exec chmod ug-s {} \;

# Links that lead out of the package: into $out, into a dependency, or nowhere.
find "$out" -type l >links
while read -r link; do
  target=$(readlink "$link")
  case $target in
    "$NIX_STORE"/*) continue ;;
    /*)
      path=${target#/usr}
      path=${path#/}
      ;;
    *)
      [ -e "$link" ] && continue
      path=${link#"$out"/}
      path=$(dirname "$path")/$target
      ;;
  esac
  found=
  for base in "$out" $depPaths; do
    for each in "$path" "lib/x86_64-linux-gnu/$(basename "$target")"; do
      [ -z "$found" ] && [ -e "$base/$each" ] && found=$base/$each
    done
  done
  if [ -n "$found" ]; then ln -sfn "$found" "$link"; else rm -f "$link"; fi
done <links

# Headers are packages of their own, so that what is linked needs only the libraries at run time. Those who look for
# a library beside its headers find a link; who links with it gets the run path of the real one, which comes first.
for each in $links; do
  mkdir -p "$out/lib/x86_64-linux-gnu" "$out/nix-support"
  for file in "$each"/lib/x86_64-linux-gnu/*.so*; do
    name=${file##*/}
    [ -e "$out/lib/x86_64-linux-gnu/$name" ] || ln -s "$file" "$out/lib/x86_64-linux-gnu/$name"
  done
  echo "$each" >>"$out/nix-support/propagated-build-inputs"
done

relocatable() { # whether it is there and not the loader or libc, which must stay as they are
  case $1 in */ld-linux-x86-64.so.2 | */libc.so.6) return 1 ;; esac
  [ -f "$1" ]
}
for file in $exes; do
  relocatable "$out/$file" || continue
  patchelf --set-interpreter "$interp" --set-rpath "$rpath" "$out/$file"
done
for file in $elfs; do
  [ -n "$rpath" ] && relocatable "$out/$file" || continue
  patchelf --set-rpath "$rpath" "$out/$file"
done

# The shell of scripts, and the places that pkg-config tells.
if [ -n "$scriptShell" ]; then
  for file in "$out"/bin/*; do
    [ -f "$file" ] && [ ! -L "$file" ] && [ "$(head -c 2 "$file")" = '#!' ] || continue
    sed -i -e "1s@^#! *\(/usr\)\{0,1\}/bin/\(ba\|da\)\{0,1\}sh@#!$scriptShell@" "$file"
  done
fi
for file in "$out"/lib/pkgconfig/*.pc "$out"/lib/x86_64-linux-gnu/pkgconfig/*.pc "$out"/share/pkgconfig/*.pc; do
  [ -f "$file" ] && [ ! -L "$file" ] && sed -i "s@=/usr\(/\|\$\)@=$out\1@" "$file"
done
eval "$postImport"
find "$out" -depth -type d -empty -exec rmdir {} \;
