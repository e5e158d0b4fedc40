# For those without flakes: 'nix-build' makes igloo, 'nix-build -A python' one environment, and so with every package of
# the flake. 'nix-build -A lib' makes nothing; it is for expressions of your own: (import ./. { }).lib.mkSandbox.
{ pkgs ? import <nixpkgs> { } }:
let
  parts = import ./nix/packages.nix { inherit pkgs; };
  lib = import ./nix/lib {
    inherit (pkgs) lib;
    systems = [ pkgs.stdenv.hostPlatform.system ];
    pkgsFor = _: pkgs;
  };
in
# The default package first: 'nix-build' alone builds it, and the attributes are there for -A.
parts.packages.default // parts.packages // { inherit lib; inherit (parts) presets; }
