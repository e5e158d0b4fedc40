# Other names that nixpkgs has for the same packages, and one that Debian has not.
{ pkgs, ... }:
{
  nixfmt = pkgs.writeShellScriptBin "nixfmt" "echo 'hostpkgs has no nixfmt' >&2; exit 1";

  bashInteractive = pkgs.bash;
  bashNonInteractive = pkgs.bash;
  bind = pkgs.dig;
  coreutils-full = pkgs.coreutils;
  dnsutils = pkgs.dig;
  jdk_headless = pkgs.jdk;
  openjdk = pkgs.jdk;
  netcat-openbsd = pkgs.netcat;
  nodejs-slim = pkgs.nodejs;
  runtimeShell = "${pkgs.bash}/bin/bash";
  unixtools = { inherit (pkgs) nettools; ping = pkgs.iputils; };
}
