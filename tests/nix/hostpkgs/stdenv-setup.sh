# A small stand-in for nixpkgs' stdenv: search paths from the build inputs, and the phases. builder.sh reads it and
# goes on with genericBuild; `nix develop` reads it alone.
export NIX_BUILD_TOP=$PWD HOME=/homeless-shelter TMPDIR=$PWD SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800}
PATH=
seen=" "

addInputs() {
  local input each
  for input in "$@"; do
    case $seen in *" $input "*) continue ;; esac
    seen+="$input "
    each=$input/nix-support/propagated-build-inputs
    [ -f "$each" ] && addInputs $(<"$each")
    [ -d "$input/bin" ] && PATH+=${PATH:+:}$input/bin
    [ -d "$input/include" ] && NIX_CFLAGS_COMPILE="${NIX_CFLAGS_COMPILE:-} -isystem $input/include"
    for each in "$input"/{lib,share,lib/x86_64-linux-gnu}/pkgconfig; do
      [ -d "$each" ] && PKG_CONFIG_PATH=${PKG_CONFIG_PATH:+$PKG_CONFIG_PATH:}$each
    done
    for each in "$input"/lib "$input"/lib/x86_64-linux-gnu; do
      [ -d "$each" ] && NIX_LDFLAGS="${NIX_LDFLAGS:-} -L$each"
    done
    CMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH:+$CMAKE_PREFIX_PATH:}$input
    [ -f "$input/nix-support/setup-hook" ] && . "$input/nix-support/setup-hook"
  done
  return 0
}
addInputs ${nativeBuildInputs:-} ${buildInputs:-} $initialPath
export PATH PKG_CONFIG_PATH NIX_CFLAGS_COMPILE NIX_LDFLAGS CMAKE_PREFIX_PATH
: "${outputs:=out}" "${prefix:=$out}"

substitute() {
  local from=$1 to=$2 text
  shift 2
  text=$(<"$from")
  while [ $# -gt 0 ]; do
    case $1 in
      --replace-fail)
        [[ $text == *"$2"* ]] || { echo "substitute: $from has no '$2'" >&2 && return 1; }
        text=${text//"$2"/"$3"}
        shift 3
        ;;
      *) echo "substitute: $1" >&2 && return 1 ;;
    esac
  done
  printf '%s\n' "$text" >"$to"
}
substituteInPlace() { substitute "$1" "$@"; }

patchShebangs() {
  local file line program
  find "$@" -type f -perm -0100 | while read -r file; do
    IFS= read -r line <"$file" 2>/dev/null || true
    case $line in
      '#!'*/env\ *) program=${line##*env } ;;
      '#!/bin/'* | '#!/usr/bin/'*) program=${line##*/} ;;
      *) continue ;;
    esac
    program=$(type -P "${program%% *}") && sed -i "1s@^#!\S*\( *env\)\? *\S*@#!$program@" "$file"
  done
}

# A hook is a function or a text.
runHook() { if declare -F "$1" >/dev/null; then "$1"; else eval "${!1:-}"; fi; }
runPhase() {
  echo "Running phase: $1" >&2
  if [ -n "${!1:-}" ]; then eval "${!1}"; else "$1"; fi
}

unpackPhase() {
  runHook preUnpack
  if [ -d "$src" ]; then
    cp -r "$src" source
    chmod -R u+w source
    cd source
  else
    tar xf "$src"
    cd "${sourceRoot:-$(find . -mindepth 1 -maxdepth 1 -type d | head -n 1)}"
  fi
  runHook postUnpack
}
patchPhase() {
  local each
  for each in ${patches:-}; do patch -p1 <"$each"; done
  runHook postPatch
}
configurePhase() {
  runHook preConfigure
  if [ -f CMakeLists.txt ] && type -P cmake >/dev/null; then
    mkdir -p build
    cd build
    # As nixpkgs' hook: the build tree's programs run where they are, the installed ones are fixed up below.
    cmake .. -G"$(type -P ninja >/dev/null && echo Ninja || echo 'Unix Makefiles')" \
      -DCMAKE_BUILD_TYPE="${cmakeBuildType:-Release}" -DCMAKE_INSTALL_PREFIX="$out" -DCMAKE_SKIP_BUILD_RPATH=ON \
      -DBUILD_TESTING="$([ -n "${doCheck:-}" ] && echo ON || echo OFF)" ${cmakeFlags:-}
  elif [ -x configure ]; then
    ./configure --prefix="$out" ${configureFlags:-}
  fi
  runHook postConfigure
}
buildPhase() {
  runHook preBuild
  if [ -f build.ninja ]; then
    ninja -j"${NIX_BUILD_CORES:-1}" ${ninjaFlags:-}
  elif [ -f Makefile ]; then
    make -j"${NIX_BUILD_CORES:-1}" ${makeFlags:-}
  fi
  runHook postBuild
}
checkPhase() {
  runHook preCheck
  if [ -f CTestTestfile.cmake ]; then ctest --output-on-failure; elif [ -f Makefile ]; then make check; fi
  runHook postCheck
}
installPhase() {
  runHook preInstall
  if [ -f build.ninja ]; then ninja install; elif [ -f Makefile ]; then make install prefix="$out"; fi
  runHook postInstall
}
fixupPhase() {
  runHook preFixup
  local file magic
  [ -d "$out/bin" ] && patchShebangs "$out/bin"
  find "$out" -type f \( -perm -0100 -o -name '*.so*' \) | while read -r file; do
    IFS= read -r -n 4 -d '' magic <"$file" || true
    [ "$magic" = $'\x7fELF' ] || continue
    [ -n "${dontStrip:-}" ] || strip --strip-unneeded "$file"
    # What is static has nothing to be found.
    if patchelf --print-interpreter "$file" >/dev/null 2>&1 || [[ $file == *.so* ]]; then
      patchelf --shrink-rpath --allowed-rpath-prefixes "$NIX_STORE" "$file"
    fi
  done
  runHook postFixup
}

genericBuild() {
  set -euo pipefail
  shopt -s nullglob
  local each skip
  if [ -n "${buildCommandPath:-}" ]; then
    . "$buildCommandPath"
    return
  fi
  if [ -n "${buildCommand:-}" ]; then
    eval "$buildCommand"
    return
  fi
  for each in ${phases:-unpackPhase patchPhase configurePhase buildPhase ${doCheck:+checkPhase} installPhase fixupPhase}; do
    skip=${each%Phase}
    skip=dont${skip^}
    [ -n "${!skip:-}" ] || runPhase "$each"
  done
}
