# hostpkgs: the part of nixpkgs' interface that this project uses, over Debian packages. A name that is missing here
# is an error of evaluation, so what the project uses of nixpkgs stays known.
{ lock, system ? "x86_64-linux", overlays ? [ ], config ? { }, ... }:
let
  lib = import ./lib.nix;
  leaves = import ./leaves.nix { inherit lock system; };
  parts = [ ./stdenv.nix ./trivial.nix ./python.nix ./gcc.nix ./names.nix ];

  base = self: leaves // {
    inherit lib system config;
    path = ./.;
    pkgs = self;
    callPackage = lib.callPackageWith self;
    newScope = extra: lib.callPackageWith (self // extra);
    extend = overlay: lib.fix (lib.extends overlay all);
  };
  all = self: builtins.foldl' (have: part: have // import part { inherit lib lock leaves system; pkgs = self; }) (base self) parts;
in
lib.fix (builtins.foldl' (f: overlay: lib.extends overlay f) all overlays)
