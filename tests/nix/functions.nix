# What the functions of nix/lib do with right and wrong arguments, by evaluation. An attribute for each promise; 'true'
# if it is kept.
{ pkgs }:
let
  inherit (pkgs) lib;
  inherit (builtins) all deepSeq tryEval;

  mkSandbox = given: import ../../nix/lib/mkSandbox.nix ({ inherit pkgs; } // given);
  mkEnvironment = given: import ../../nix/lib/mkEnvironment.nix ({ inherit pkgs; } // given);
  mkImage = import ../../nix/lib/mkMetadata.nix;
  mkMetadata = given: mkImage ({ root = "/r"; closure = "/c"; } // given);
  fromToml = file: import ../../nix/lib/fromToml.nix { inherit pkgs; config = file; };
  presets = import ../../nix/presets { inherit pkgs; };
  server = fromToml ./server.toml;

  fails = value: !(tryEval (deepSeq value value)).success;
  bash = { name = "a"; interpreter_type = "bash"; packages = [ ]; };
  meta = given: mkMetadata ({ name = "a"; interpreter_type = "bash"; } // given);
in
{
  defaults = let made = (mkSandbox bash).manifest; in
    removeAttrs made [ "root" "closure" ]
    == { schema = 1; name = "a"; interpreter_type = "bash"; timeout_seconds = 30; memory_mb = 512; env = { }; };
  everything = removeAttrs (meta {
    description = "d"; aliases = [ "b" ]; interpreter = [ "x" "-y" ]; code = "argument"; code_file = "m.x"; timeout_seconds = 1;
    memory_mb = 16; processes = 1; open_files = 16; network = "internet"; backend = "bubblewrap"; warm = 0; preload = [ "m" ]; env.A = "";
  }) [ "root" "closure" ] == {
    schema = 1; name = "a"; interpreter_type = "bash"; description = "d"; aliases = [ "b" ]; interpreter = [ "x" "-y" ];
    code = "argument"; code_file = "m.x"; timeout_seconds = 1; memory_mb = 16; processes = 1; open_files = 16; network = "internet";
    backend = "bubblewrap"; warm = 0; preload = [ "m" ]; env.A = "";
  };
  anyCommand = (mkEnvironment { name = "go"; interpreter = [ "go" "run" ]; code_file = "main.go"; packages = [ ]; }).manifest.interpreter == [ "go" "run" ];

  # The command lines that nix-sandbox-mcp planned to take.
  commandLines =
    let
      of = given: (mkSandbox ({ name = "a"; packages = [ ]; } // given)).manifest;
      started = given: let made = of given; in [ (made.interpreter_type or null) (made.interpreter or null) (made.code or null) ];
    in
    started { interpreter = "python3 -c"; } == [ "python" null null ]
    && started { interpreter = "bash -s"; stdinMode = "pipe"; } == [ "bash" null null ]
    && started { interpreter = "lua  -e"; } == [ null [ "lua" "-e" ] "argument" ]
    && started { interpreter = "lua -"; } == [ null [ "lua" "-" ] "input" ]
    && started { interpreter = "lua"; stdinMode = "arg"; } == [ null [ "lua" ] "argument" ]
    && started { interpreter = "lua -e"; interpreter_type = "node"; } == [ "node" null null ];
  plannedOnly = all (given: fails (mkSandbox (bash // given)).manifest) [ { inheritVars = [ "A" ]; } { projectMount = "/src"; } { backendOptions.a = 1; } ]
    && !fails (mkSandbox (bash // { inheritVars = [ ]; projectMount = "/project"; backendOptions = { }; })).manifest;

  unknownType = fails (mkSandbox (bash // { interpreter_type = "perl"; })).manifest;
  noInterpreter = fails (mkMetadata { name = "a"; });
  badName = all (name: fails (meta { inherit name; })) [ "" "-a" "a b" "ä" ".a" "a/b" 3 ];
  badTime = all (timeout_seconds: fails (meta { inherit timeout_seconds; })) [ 0 (-1) 86401 1.5 "30" ];
  badMemory = all (memory_mb: fails (meta { inherit memory_mb; })) [ 15 1048577 "512M" ];
  badCounts = all (given: fails (meta given)) [ { processes = 0; } { open_files = 15; } { warm = 65; } { warm = -1; } ];
  badCode = fails (meta { code = "file:"; });
  badFile = all (code_file: fails (meta { inherit code_file; })) [ "../x" "a/b" "" ];
  badWords = all (interpreter: fails (meta { inherit interpreter; })) [ [ ] [ "" ] "go run" [ 1 ] ];
  badEnv = all (env: fails (meta { inherit env; })) [ { "A-B" = "x"; } { A = 1; } [ ] ];
  badNetwork = fails (meta { network = "bridge"; });
  badBackend = fails (meta { backend = "docker"; });
  badPackages = all (packages: fails (mkSandbox (bash // { inherit packages; })).drvPath) [ pkgs.bash [ "bash" ] [ null ] [ { } ] [ [ pkgs.bash ] ] ];
  packagesByPath = !fails (mkSandbox (bash // { packages = [ "${pkgs.bash}" pkgs.jq ]; })).manifest;

  images = (mkEnvironment { name = "a"; image = "debian"; }).manifest == { schema = 1; name = "a"; image = "debian"; timeout_seconds = 30; memory_mb = 512; env = { }; };
  imageOrPackages = fails (mkMetadata { name = "a"; image = "debian"; }) && fails (mkImage { name = "a"; }) && fails (mkImage { name = "a"; image = "debian"; root = "/r"; })
    && all (image: fails (mkImage { name = "a"; inherit image; })) [ "" "/etc" "./x" "~/x" "oci:/x" "dir:/etc" "oci-archive:x" ];

  presetsAreRight = all (preset: !fails ((if preset ? image then mkImage else mkMetadata) (removeAttrs preset [ "packages" ]))) (lib.attrValues presets);
  presetsSayTheirNames = all (name: presets.${name}.name == name) (lib.attrNames presets);
  # Compilers end in the middle with less.
  toolchainsHaveRoom = all (name: presets.${name}.memory_mb >= 2048 && presets.${name}.timeout_seconds >= 60) [ "go" "rust" "java" ];

  settings = map (each: each.name) server.settings.environments == [ "data" "py" "shell" ];
  layers = let made = server.environments.data.manifest; in
    made.name == "data" && made.timeout_seconds == 60 && made.env.PYTHONPATH == "/workspace" && !(made ? aliases);
  shared = server.environments.shell.manifest.timeout_seconds == 20 && server.environments.shell.manifest.aliases == [ "bash" ];
  serverNamesArtifacts =
    let
      fakes = { writeText = _: text: text; runCommand = name: _: script: if lib.hasPrefix "sandbox-" name then "/made/${name}" else script; };
      made = import ../../nix/lib/mkServer.nix { pkgs = pkgs // fakes; config = ./server.toml; igloo = pkgs.bash; };
    in
    all (line: lib.hasInfix line made) [ "\"path\" = \"/made/sandbox-shell\"" "\"path\" = \"/made/sandbox-data\"" "\"alias\" = \"data\"" ];
  onlyNamedPresets = lib.attrNames server.presets == [ "python" "shell" ];
  presetsAsTheyAre = server.presets.python.manifest.timeout_seconds == 30;
  aliasesAreNoArtifacts = !(server.environments ? py);
  broken = fails (fromToml ./config/bad/unknown-preset.toml).settings;
  deferred = (fromToml ./config/good/flakes-and-images.toml).deferred == [ "rg" "debian" ];
  ownCommand = let made = (fromToml ./commands.toml).environments; in
    made.one.manifest.interpreter == [ "python3" "-I" "-c" ] && made.one.manifest.code == "argument" && !(made.one.manifest ? interpreter_type)
    && made.two.manifest.interpreter == [ "bash" "-s" ] && made.two.manifest.code == "input";
  toToml = builtins.fromTOML (import ../../nix/lib/toToml.nix { a.b = 1; c = "x\"\n"; d."e.f" = [ "g" 2.5 true ]; }) == { a.b = 1; c = "x\"\n"; d."e.f" = [ "g" 2.5 true ]; };
}
