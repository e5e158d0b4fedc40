# programs.sandbox-mcp, as its two earlier modules had it, in terms of programs.igloo.
self: { config, lib, pkgs, ... }:
let
  inherit (lib) mkOption types;
  cfg = config.programs.sandbox-mcp;
  option = type: default: description: mkOption { inherit type default description; };

  presetOf = name: if name == "javascript" then "node" else name;
  sandboxes = [ "shell" "go" "python" "javascript" "rust" "java" "network-tools" "apisix" ];

  # "512M", "2G", or megabytes.
  size = builtins.match "([1-9][0-9]*)([MG]?)B?" cfg.maxMemory;
  megabytes = builtins.fromJSON (lib.head size) * (if lib.last size == "G" then 1024 else 1);

  refuse = wrong: message: { assertion = !wrong; inherit message; };
in
{
  options.programs.sandbox-mcp = {
    enable = option types.bool false "Renamed to programs.igloo.enable, with the program 'sandbox-mcp'.";
    package = option (types.nullOr types.package) null "Renamed to programs.igloo.package.";
    settings = option (types.attrsOf types.anything) { } "Renamed to programs.igloo.clients.claude-desktop.settings.";
    configFile = option (types.nullOr types.path) null "Renamed to programs.igloo.configFile, which is TOML.";
    nixPath = option (types.nullOr types.str) null "Not needed any more: environments are built ahead, not with every run.";
    enabledSandboxes = option (types.listOf (types.enum sandboxes)) [ "shell" "go" "python" "javascript" "rust" "java" ]
      "Renamed to programs.igloo.settings.environments.";
    sandboxTimeout = option types.ints.positive 60 "Renamed to programs.igloo.settings.defaults.timeout_seconds.";
    maxMemory = option types.str "512M" "Renamed to programs.igloo.settings.defaults.memory_mb.";
    maxCpuCores = option (types.nullOr types.ints.positive) null "Cores of a sandbox; igloo limits time on them instead.";
    args = option (types.listOf types.str) [ ] "Renamed to programs.igloo.args.";
    env = option (types.attrsOf types.str) { } "Renamed to programs.igloo.env.";
  };

  config = lib.mkIf cfg.enable {
    programs.igloo = {
      enable = true;
      package = lib.mkDefault (if cfg.package != null then cfg.package else self.packages.${pkgs.stdenv.hostPlatform.system}.sandbox-mcp);
      program = lib.mkDefault "sandbox-mcp";
      serverName = lib.mkDefault "sandbox-mcp";
      inherit (cfg) args env;
      configFile = lib.mkIf (cfg.configFile != null) cfg.configFile;
      clients.claude-desktop = { enable = lib.mkDefault true; inherit (cfg) settings; };
      settings = lib.mkIf (cfg.configFile == null) {
        defaults.timeout_seconds = lib.mkDefault cfg.sandboxTimeout;
        defaults.memory_mb = lib.mkIf (size != null) (lib.mkDefault megabytes);
        environments = lib.genAttrs (map presetOf (lib.remove "apisix" cfg.enabledSandboxes)) (preset: { inherit preset; });
      };
    };
    warnings = [ "programs.sandbox-mcp has become programs.igloo: see its options." ]
      ++ lib.optional (cfg.nixPath != null) "programs.sandbox-mcp.nixPath has no effect any more.";
    assertions = [
      (refuse (size == null) "programs.sandbox-mcp.maxMemory: write it as \"512M\" or \"2G\".")
      (refuse (cfg.maxCpuCores != null)
        "programs.sandbox-mcp.maxCpuCores: igloo has no limit of cores; programs.igloo.settings.limits.cpu_seconds limits the time on them.")
      (refuse (lib.elem "apisix" cfg.enabledSandboxes)
        "programs.sandbox-mcp.enabledSandboxes: apisix is made from an image, which Nix does not fetch; 'igloo env pull' does.")
    ];
  };
}
