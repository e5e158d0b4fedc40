{
  description = "hostpkgs: a stand-in for nixpkgs made of Debian packages, for tests without nixpkgs or a binary cache";
  # tests/nix/prepare puts lock.json beside this file.
  outputs = { self }:
    let
      lock = builtins.fromJSON (builtins.readFile ./lock.json);
      packages = system: import ./. { inherit lock system; };
    in
    {
      lib = import ./lib.nix;
      legacyPackages.x86_64-linux = packages "x86_64-linux";
      legacyPackages.aarch64-linux = packages "aarch64-linux"; # for evaluation alone
    };
}
