# A server with its configuration: igloo's files, share/igloo/config.toml, and the presets that the file names beside
# it. What Nix cannot build ahead (path, flake, image) igloo makes at run time, as the file says.
{ pkgs, config, igloo, mainProgram ? "igloo" }:
let
  # The file is read where it lies now, and lies in the store later: a relative path would silently mean another place.
  parsed = import ./fromToml.nix { inherit pkgs config; directory = null; };
  inherit (import ../presets/sets.nix) nix-sandbox-mcp;
  usual = pkgs.lib.getAttrs nix-sandbox-mcp (import ../environments.nix { inherit pkgs; });
in
builtins.seq parsed.settings (import ./withEnvironments.nix {
  inherit pkgs igloo mainProgram;
  # A store path of its own: the file's place in a flake would bring the flake's whole source with it.
  config = builtins.path { name = "config.toml"; path = config; };
  environments = if parsed.settings.environments == [ ] then usual else parsed.presets;
})
