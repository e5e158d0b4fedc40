#!@bash@/bin/bash
# What nixpkgs' compiler wrapper does: search paths of the build inputs, a loader and a run path in the store.
linking=1 static=
for word in "$@"; do
  case $word in
    -c | -S | -E | -M | -MM | -fsyntax-only | -v | --version | -dump* | -print-*) linking= ;;
    -static | -static-pie) static=1 ;;
  esac
done
flags=()
if [ -n "$linking" ]; then
  if [ -z "$static" ]; then
    # With a sysroot, the linker does not look into the run paths of libraries for what these need.
    flags+=(-Wl,-dynamic-linker,@libc@/ld-linux-x86-64.so.2 -Wl,-rpath,@libc@:@gcc-lib@ -Wl,--allow-shlib-undefined)
  fi
  for flag in $NIX_LDFLAGS; do
    case $flag in
      -L*)
        flags+=("$flag")
        [ -n "$static" ] || flags+=("-Wl,-rpath,${flag#-L}")
        ;;
      -l*) flags+=("$flag") ;;
      *) flags+=(-Xlinker "$flag") ;;
    esac
  done
fi
# What a build has compiled before is not compiled again where tests/nix/prepare puts a cache into the build sandbox.
cached=()
if [ -d /ccache ] && [ -z "$linking" ]; then
  export CCACHE_DIR=/ccache CCACHE_COMPILERCHECK=string:@compiler@ CCACHE_MAXSIZE=1G CCACHE_DEPEND=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  cached=(@ccache@/bin/ccache)
fi
# shellcheck disable=SC2086  # a list of words
exec "${cached[@]}" @compiler@ --sysroot=@sysroot@ "$@" $NIX_CFLAGS_COMPILE "${flags[@]}"
