# The presets as artifacts, by name; those that need an image are not among them.
{ pkgs, igloo ? null }:
pkgs.lib.mapAttrs
  (_: preset: import ./lib/mkEnvironment.nix ({ inherit pkgs igloo; } // preset))
  (pkgs.lib.filterAttrs (_: preset: preset ? packages) (import ./presets { inherit pkgs; }))
