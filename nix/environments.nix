# The presets as artifacts, by name.
{ pkgs, igloo ? null }:
pkgs.lib.mapAttrs
  (_: preset: import ./lib/mkEnvironment.nix ({ inherit pkgs igloo; } // preset))
  (import ./presets { inherit pkgs; })
