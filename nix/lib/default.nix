# The flake's 'lib'. Functions take 'pkgs', so that environments are made of the nixpkgs that a user has already.
{ lib, systems, pkgsFor }:
let
  iglooOf = pkgs: (import ../packages.nix { inherit pkgs; }).packages.igloo;
  mkServer = { pkgs, config, igloo ? iglooOf pkgs, ... }@arguments:
    import ./mkServer.nix ({ inherit igloo; } // arguments);
in
{
  mkSandbox = import ./mkSandbox.nix;
  mkEnvironment = import ./mkEnvironment.nix;
  mkMetadata = import ./mkMetadata.nix;
  fromToml = import ./fromToml.nix;
  # mkServer { pkgs, config }, or mkServer ./config.toml: then by system, with this flake's own nixpkgs.
  mkServer = arguments:
    if builtins.isAttrs arguments then mkServer arguments
    else lib.genAttrs systems (system: mkServer { pkgs = pkgsFor system; config = arguments; });
  # presets pkgs: arguments of mkEnvironment, to be extended.
  presets = pkgs: import ../presets { inherit pkgs; };
}
