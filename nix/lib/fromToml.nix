# config.toml in Nix: the same file that igloo reads gives the same environments, and a file that igloo refuses is
# refused. Gives
#   values        the file as an attribute set
#   settings      what 'igloo config check --json' says of it, without places in the file
#   environments  an artifact for each [environments.NAME] that Nix can build (made from a preset), with its limits
#   presets       the artifacts of the presets that the file names, as they are
#   deferred      names of those that igloo makes at run time (path, flake, image)
#   bundle        all environments in one directory, for igloo to find
#
# directory: what relative paths are relative to; home: what "~/" is (null: left to igloo).
{ pkgs, config, directory ? dirOf config, home ? null, igloo ? null }:
let
  inherit (builtins) concatStringsSep filter listToAttrs;
  inherit (pkgs) lib;

  catalogue = import ../presets { inherit pkgs; };

  values = import ./readToml.nix config;
  decoded = import ./decode.nix {
    inherit values;
    presets = builtins.attrNames catalogue;
    inherit directory home;
  };

  settings =
    if decoded.problems == [ ] then decoded.settings
    else throw "${toString config}:\n${concatStringsSep "\n" (map (each: "  ${each}") decoded.problems)}";

  mkEnvironment = arguments: import ./mkEnvironment.nix ({ inherit pkgs igloo; } // arguments);
  bySource = kind: filter (each: each.made_from == kind) settings.environments;

  # Whole seconds and megabytes: metadata.json counts in them. Less than a second would be no time at all.
  inSeconds = ms: (ms + 999) / 1000;
  inMegabytes = bytes: bytes / 1048576;
  given = key: value: lib.optionalAttrs (value != null && value != "" && value != [ ]) { ${key} = value; };

  # A command of one's own gets the code as an argument behind -c or -e, else as input; no driver knows it.
  withInterpreter = words: preset:
    if words == [ ] then preset
    else removeAttrs preset [ "interpreter_type" "code_file" ] // {
      interpreter = words;
      code = if lib.elem (lib.last words) [ "-c" "-e" ] then "argument" else "input";
    };

  fromPreset = each:
    let
      details = decoded.details.${each.name};
      preset = withInterpreter details.interpreter catalogue.${each.source};
      inherit (each) limits;
    in
    # Its aliases stay the preset's own: two environments cannot both be 'python3'.
    mkEnvironment (removeAttrs preset (if each.name == preset.name then [ ] else [ "aliases" ])
      // { inherit (each) name backend; env = (preset.env or { }) // details.env; }
      // given "description" each.description
      // given "timeout_seconds" (if limits.time_ms == null then null else inSeconds limits.time_ms)
      // given "memory_mb" (if limits.memory_bytes == null then null else inMegabytes limits.memory_bytes)
      // given "processes" limits.processes
      // given "open_files" limits.open_files
      // given "warm" details.warm
      // given "preload" details.preload);

  environments = listToAttrs (map (each: { inherit (each) name; value = fromPreset each; }) (bySource "preset"));

  # An alias that ends outside of the file ends at a preset.
  aliased = filter (name: catalogue ? ${name}) (map (each: decoded.details.${each.name}.behind) (bySource "alias"));
  presetNames = lib.unique (map (each: each.source) (bySource "preset") ++ aliased);
in
{
  inherit values settings environments;
  inherit (decoded) problems;
  deferred = map (each: each.name) (lib.concatMap bySource [ "path" "flake" "image" ]);
  presets = lib.genAttrs presetNames (name: mkEnvironment catalogue.${name});
  bundle = import ./collect.nix { inherit pkgs environments; };
}
