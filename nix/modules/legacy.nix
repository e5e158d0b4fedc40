# Option paths of the servers that igloo stands in for. What they asked for is done by services.igloo; what igloo cannot
# do is an error that says so, never something weaker in silence.
self: { config, lib, pkgs, ... }:
let
  inherit (lib) mkOption types;

  mcp = config.services.sandbox-mcp;
  claude = config.services.claude-sandbox;

  flag = default: description: mkOption { type = types.bool; inherit default description; };
  any = default: type: description: mkOption { inherit default type description; };
  inherit (import ./refuse.nix { inherit lib; }) refuse refuseJson isToml;

  moved = old: "${old} has become services.igloo: see its options.";
  # The user and the group that sandbox-mcp had by itself are made here; others must be there.
  absent = kind: name: name != null && !(config.users.${kind} ? ${name});
in
{
  options.services.sandbox-mcp = {
    enable = flag false "Renamed to services.igloo.enable, with one tool for each environment.";
    package = any null (types.nullOr types.package) "Renamed to services.igloo.package.";
    configFile = any null (types.nullOr types.path) "Renamed to services.igloo.configFile, which is TOML.";
    user = any null (types.nullOr types.str) "Renamed to services.igloo.user; made if it is 'sandbox-mcp'.";
    group = any null (types.nullOr types.str) "Renamed to services.igloo.group; made if it is 'sandbox-mcp'.";
  };

  options.services.claude-sandbox = {
    enable = flag false "Renamed to services.igloo.enable.";
    network = flag true "Whether code reaches the network; see services.igloo.settings.defaults.network.";
    bubblewrap.enable = flag true "Sandboxes of namespaces, which igloo's own backend makes; bubblewrap itself is not used.";
    bubblewrap.extraPackages = any [ ] (types.listOf types.package) "Renamed to services.igloo.environments.NAME.packages.";
    container.enable = flag false "Sandboxes as containers; not available yet.";
    container.extraModules = any [ ] (types.listOf types.anything) "NixOS modules of the container.";
    vm.enable = flag false "Sandboxes as virtual machines; not available yet.";
    vm.extraModules = any [ ] (types.listOf types.anything) "NixOS modules of the machine.";
  };

  config = lib.mkMerge [
    (lib.mkIf mcp.enable {
      services.igloo = {
        enable = true;
        # A tool for each environment, as its clients know it; its own package has the presets for that.
        package = lib.mkDefault (if mcp.package != null then mcp.package else self.packages.${pkgs.stdenv.hostPlatform.system}.sandbox-mcp);
        settings.daemon.tools = lib.mkIf (mcp.configFile == null) (lib.mkDefault "per-environment");
        configFile = lib.mkIf (mcp.configFile != null && isToml mcp.configFile) mcp.configFile;
        user = lib.mkIf (mcp.user != null) mcp.user;
        group = lib.mkIf (mcp.group != null) mcp.group;
      };
      users.users = lib.mkIf (mcp.user == "sandbox-mcp") {
        sandbox-mcp = { isSystemUser = true; inherit (config.services.igloo) group; home = "/var/lib/igloo"; description = "Igloo's server"; };
      };
      users.groups = lib.mkIf (mcp.group == "sandbox-mcp") { sandbox-mcp = { }; };
      warnings = [ (moved "services.sandbox-mcp") ];
      assertions = [
        (refuseJson "services.sandbox-mcp.configFile" mcp.configFile
          "write services.igloo.settings, or start 'sandbox-mcp' from a client, which reads it")
        (refuse (absent "users" mcp.user)
          "services.sandbox-mcp.user: there is no user '${toString mcp.user}'; add users.users.${toString mcp.user}.")
        (refuse (absent "groups" mcp.group)
          "services.sandbox-mcp.group: there is no group '${toString mcp.group}'; add users.groups.${toString mcp.group}.")
      ];
    })

    (lib.mkIf claude.enable {
      services.igloo = {
        enable = true;
        settings.defaults.network = lib.mkIf claude.network (lib.mkDefault "internet");
        environments = lib.mkIf (claude.bubblewrap.enable && claude.bubblewrap.extraPackages != [ ]) {
          claude-sandbox = { interpreter_type = "bash"; packages = claude.bubblewrap.extraPackages; };
        };
      };
      warnings = [ (moved "services.claude-sandbox") ];
      assertions = [
        (refuse claude.container.enable
          "services.claude-sandbox.container.enable: this igloo has no containers yet; use bubblewrap.enable.")
        (refuse claude.vm.enable
          "services.claude-sandbox.vm.enable: this igloo has no virtual machines yet; use bubblewrap.enable.")
        (refuse (claude.container.extraModules != [ ] || claude.vm.extraModules != [ ])
          "services.claude-sandbox.*.extraModules: there is no container and no machine that they could go into.")
      ];
    })
  ];
}
