# programs.sandbox-mcp, as its two earlier modules had it, in terms of programs.igloo.
self: { config, lib, pkgs, ... }:
let
  inherit (lib) mkOption types;
  cfg = config.programs.sandbox-mcp;
  option = type: default: description: mkOption { inherit type default description; };
  inherit (import ./refuse.nix { inherit lib; }) refuse refuseJson isToml;

  sandboxes = [ "shell" "go" "python" "javascript" "rust" "java" "network-tools" "apisix" ];

  # What was a setting for all sandboxes is one of each of them, in a file of sandbox-mcp's own. Their defaults keep
  # what these defaults say: 60 seconds, and at most 512 MB.
  usual = { enabledSandboxes = lib.take 6 sandboxes; sandboxTimeout = 60; maxMemory = "512M"; };
  own = key: "'sandbox-mcp --pull' writes sandbox-mcp/sandboxes/NAME/config.json into ~/.config, with '${key}' for each sandbox";
  changed = name: instead: refuse (cfg.${name} != usual.${name}) "programs.sandbox-mcp.${name}: this cannot be changed here: ${instead}.";
in
{
  options.programs.sandbox-mcp = {
    enable = option types.bool false "Renamed to programs.igloo.enable, with the program 'sandbox-mcp'.";
    package = option (types.nullOr types.package) null "Renamed to programs.igloo.package.";
    settings = option (types.attrsOf types.anything) { } "Renamed to programs.igloo.clients.claude-desktop.settings.";
    configFile = option (types.nullOr types.path) null "Renamed to programs.igloo.configFile, which is TOML.";
    nixPath = option (types.nullOr types.str) null "Not needed any more: environments are built ahead, not with every run.";
    enabledSandboxes = option (types.listOf (types.enum sandboxes)) usual.enabledSandboxes
      "Not to be changed any more: 'sandbox-mcp' offers all of its sandboxes.";
    sandboxTimeout = option types.ints.positive usual.sandboxTimeout "Not to be changed here any more: each sandbox has its own.";
    maxMemory = option types.str usual.maxMemory "Not to be changed here any more: each sandbox has its own.";
    maxCpuCores = option (types.nullOr types.ints.positive) null "Cores of a sandbox; not available yet.";
    args = option (types.listOf types.str) [ ] "Renamed to programs.igloo.args.";
    env = option (types.attrsOf types.str) { } "Renamed to programs.igloo.env.";
    envFile = option (types.nullOr types.path) null "Renamed to programs.igloo.envFile.";
    passwordCommand = option (types.nullOr types.anything) null
      "Not available: it made a script around the server. Use envFile.";
  };

  config = lib.mkIf cfg.enable {
    programs.igloo = {
      enable = true;
      package = lib.mkDefault (if cfg.package != null then cfg.package else self.packages.${pkgs.stdenv.hostPlatform.system}.sandbox-mcp);
      program = lib.mkDefault "sandbox-mcp";
      serverName = lib.mkDefault "sandbox-mcp";
      inherit (cfg) args env envFile;
      configFile = lib.mkIf (cfg.configFile != null && isToml cfg.configFile) cfg.configFile;
      # Only some clients read a file of variables.
      clients.claude-desktop = { enable = lib.mkDefault (cfg.envFile == null); inherit (cfg) settings; };
    };
    warnings = [ "programs.sandbox-mcp has become programs.igloo: see its options." ]
      ++ lib.optional (cfg.nixPath != null) "programs.sandbox-mcp.nixPath has no effect any more.";
    assertions = [
      (refuseJson "programs.sandbox-mcp.configFile" cfg.configFile
        "for the program 'sandbox-mcp' write xdg.configFile.\"sandbox-mcp/config.json\".source")
      (changed "enabledSandboxes"
        "'sandbox-mcp' offers all of its sandboxes, and clients choose among its tools")
      (changed "sandboxTimeout" (own "timeout"))
      (changed "maxMemory" (own "resources.memory"))
      (refuse (cfg.passwordCommand != null)
        "programs.sandbox-mcp.passwordCommand: igloo is started as it is, without a script around it; write what the command prints to a file and name that with envFile.")
      (refuse (cfg.maxCpuCores != null)
        "programs.sandbox-mcp.maxCpuCores: igloo has no limit of cores yet; remove it.")
    ];
  };
}
