# What the modules for NixOS and home-manager have in common: options that become a config.toml, the file, and all that
# can be said against it before anything is built.
#
# self: the flake; option: where the options stand, for messages.
{ self, lib, pkgs, option, cfg }:
let
  inherit (lib) mkOption types;

  system = pkgs.stdenv.hostPlatform.system;
  settings = import ./settings.nix { inherit lib; };
  presets = import ../presets { inherit pkgs; };

  artifact = name: given: import ../lib/mkEnvironment.nix
    ({ inherit pkgs name; } // lib.filterAttrs (_: value: value != null) given);
  artifacts = lib.mapAttrs artifact cfg.environments
    // lib.genAttrs cfg.presets (name: artifact name presets.${name});

  written = settings.values cfg.settings;
  values = written // lib.optionalAttrs (written ? environments || artifacts != { }) {
    # What the settings say about an artifact of the same name (its time, say) stays.
    environments = lib.recursiveUpdate (lib.mapAttrs (_: made: { path = "${made}"; }) artifacts) (written.environments or { });
  };
  decoded = import ../lib/decode.nix { inherit values; presets = lib.attrNames presets; };
in
{
  options = {
    package = mkOption {
      type = types.package;
      default = self.packages.${system}.default;
      defaultText = lib.literalExpression "igloo.packages.\${system}.default";
      description = "The package: 'default' brings shell, python and node along, 'full' all presets, 'igloo' none.";
    };
    settings = settings.option;
    configFile = mkOption {
      type = types.nullOr types.path;
      default = null;
      description = "A config.toml of your own, instead of settings.";
    };
    presets = mkOption {
      type = types.listOf (types.enum (lib.attrNames presets));
      default = [ ];
      example = [ "go" "rust" ];
      description = "Presets to build, beside those of the package.";
    };
    environments = mkOption {
      type = types.attrsOf (types.submodule (import ./environment.nix { inherit lib; }));
      default = { };
      description = "Environments of your own, built by Nix.";
    };
  };

  file = if cfg.configFile != null then cfg.configFile else pkgs.writeText "config.toml" (import ../lib/toToml.nix values);

  assertions =
    [{
      assertion = cfg.configFile == null || values == { };
      message = "${option}: configFile replaces settings, presets and environments; use either it or them.";
    }]
    ++ map
      (name: {
        assertion = !(cfg.environments ? ${name});
        message = "${option}: '${name}' stands in presets and in environments; keep one of them, or give yours another name.";
      })
      cfg.presets
    ++ map (problem: { assertion = false; message = "${option}.settings: ${problem}"; }) decoded.problems
    # Refused here and not at run time: a system that is built should do what its configuration says.
    ++ lib.optionals (decoded.problems == [ ]) (map
      (missing: {
        assertion = false;
        message = "${option}.settings.${missing.key}: this igloo does not have it yet; remove it, or use a newer one.";
      })
      decoded.settings.unavailable);
}
