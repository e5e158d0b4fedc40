# 'nix develop': what CMakePresets.json, the Makefile and the tests call, under the names that they use.
{ pkgs, igloo }:
let
  inherit (pkgs) lib;
  llvm = pkgs.llvmPackages_19;

  # Debian's names, which say the version.
  names = pkgs.runCommand "clang-19-names" { preferLocalBuild = true; } ''
    mkdir -p $out/bin
    ln -s ${llvm.clang}/bin/clang++ $out/bin/clang++-19
    for tool in clang-format clang-tidy; do ln -s ${llvm.clang-tools}/bin/$tool $out/bin/$tool-19; done
  '';
in
pkgs.mkShell {
  inputsFrom = [ igloo ];
  packages = [ names ] ++ (with pkgs; [ bubblewrap ccache gtest jq nodejs passt python3 shellcheck ]);

  # As package.nix tells CMake; the presets read them here.
  IGLOO_MUSL_GCC = "${lib.getDev pkgs.musl}/bin/musl-gcc";
  IGLOO_MUSL_INCLUDE = "${lib.getDev pkgs.musl}/include";
  IGLOO_KERNEL_INCLUDE = "${pkgs.linuxHeaders}/include";
  # The shell has brought all packages.
  IGLOO_SKIP_PACKAGES = "1";
}
