# Other names that nixpkgs has for the same packages, and one that Debian has not.
{ pkgs, ... }:
{
  nixfmt = pkgs.writeShellScriptBin "nixfmt" "echo 'hostpkgs has no nixfmt' >&2; exit 1";

  bashInteractive = pkgs.bash; # 'nix develop' asks for it
  dnsutils = pkgs.dig;
  jdk_headless = pkgs.jdk;
  net-tools = pkgs.nettools;
  runtimeShell = "${pkgs.bash}/bin/bash";
}
