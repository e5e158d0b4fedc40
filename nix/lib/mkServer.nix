# A server with its configuration: igloo's files, share/igloo/config.toml, and the presets that the file names beside
# it. What Nix cannot build ahead (path, flake, image) igloo makes at run time, as the file says.
{ pkgs, config, igloo, mainProgram ? "igloo" }:
let
  inherit (pkgs) lib;

  # The file is read where it lies now, and lies in the store later: a relative path would silently mean another place.
  parsed = import ./fromToml.nix { inherit pkgs config; directory = null; };
  inherit (parsed) values;

  # A preset, also one that only the section's name says, means what this machine has, which may be another thing than
  # what was built here, or nothing: the file of the server names the artifact, with the limits of the file in it.
  built = name: given:
    if !(parsed.environments ? ${name}) then given
    else removeAttrs given [ "preset" ] // { path = "${parsed.environments.${name}}"; };
  written = values // lib.optionalAttrs (values ? environments) {
    environments = lib.mapAttrs built values.environments;
  };

  inherit (import ../presets/sets.nix) nix-sandbox-mcp;
  usual = lib.getAttrs nix-sandbox-mcp (import ../environments.nix { inherit pkgs; });
in
builtins.seq parsed.settings (import ./withEnvironments.nix {
  inherit pkgs igloo mainProgram;
  config = pkgs.writeText "config.toml" (import ./toToml.nix written);
  environments = if parsed.settings.environments == [ ] then usual else parsed.presets;
})
