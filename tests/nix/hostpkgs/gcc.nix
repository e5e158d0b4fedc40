# The compiler: Debian's gcc with itself as its sysroot; what it links gets the loader and libraries of the store.
{ pkgs, lock, leaves, ... }:
let
  libraries = "lib/x86_64-linux-gnu";
  inherit (lock.versions) gcc;
in
{
  gcc = pkgs.runCommand "gcc-wrapper-${gcc}" { meta.mainProgram = "gcc"; } ''
    mkdir -p $out/bin $out/nix-support
    unwrapped=${leaves.gcc-unwrapped}
    for tool in ar as ld nm objcopy objdump ranlib readelf strip strings addr2line; do
      ln -s $unwrapped/bin/x86_64-linux-gnu-$tool $out/bin/$tool
    done
    for tool in gcc g++ cpp; do
      substitute ${./gcc-wrapper.sh} $out/bin/$tool --replace-fail @bash@ ${pkgs.bash} --replace-fail @ccache@ ${leaves.ccache} \
        --replace-fail @compiler@ $unwrapped/bin/x86_64-linux-gnu-$tool-${gcc} --replace-fail @sysroot@ $unwrapped \
        --replace-fail @libc@ ${leaves.libc}/${libraries} --replace-fail @gcc-lib@ ${leaves.gcc-lib}/${libraries}
      chmod +x $out/bin/$tool
    done
    ln -s gcc $out/bin/cc
    ln -s g++ $out/bin/c++
    printf 'export CC=%s/bin/gcc CXX=%s/bin/g++ AR=%s/bin/ar\n' $out $out $out > $out/nix-support/setup-hook
  '';
}
