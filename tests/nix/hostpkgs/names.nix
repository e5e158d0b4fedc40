# Other names that nixpkgs has for the same packages, and some that only people ask for who develop igloo.
{ pkgs, ... }:
{
  nixfmt = pkgs.writeShellScriptBin "nixfmt" "echo 'hostpkgs has no nixfmt' >&2; exit 1";

  llvmPackages_19 = {
    clang = pkgs.writeShellScriptBin "clang++" "echo 'hostpkgs has no clang' >&2; exit 1";
    clang-tools = pkgs.runCommand "clang-tools" { } ''
      mkdir -p $out/bin
      for tool in clang-format clang-tidy; do
        printf '#!${pkgs.runtimeShell}\necho "hostpkgs has no clang" >&2; exit 1\n' >$out/bin/$tool
        chmod +x $out/bin/$tool
      done
    '';
  };

  bashInteractive = pkgs.bash; # 'nix develop' asks for it
  dnsutils = pkgs.dig;
  jdk_headless = pkgs.jdk;
  net-tools = pkgs.nettools;
  runtimeShell = "${pkgs.bash}/bin/bash";
}
