# programs.igloo for home-manager: the package, the user's config.toml, and clients that start igloo themselves. Only
# clients whose file is theirs to read: one that writes its own settings into the same file (Claude Code, Codex, Gemini
# CLI) could not with a link into the store; 'igloo mcp install CLIENT' changes a block of such a file.
self: { config, lib, pkgs, ... }:
let
  inherit (lib) mkOption types;
  cfg = config.programs.igloo;
  common = import ./configuration.nix { inherit self lib pkgs cfg; option = "programs.igloo"; };

  # As src/clients/client.h has them.
  clients = {
    claude-desktop = { key = "mcpServers"; typed = false; readsEnvFile = false; };
    cursor = { key = "mcpServers"; typed = true; readsEnvFile = true; };
    vscode = { key = "servers"; typed = true; readsEnvFile = true; };
  };

  block = client: lib.optionalAttrs client.typed { type = "stdio"; } // {
    command = lib.getExe' cfg.package cfg.program;
    args = lib.optional (cfg.program == "igloo") "mcp" ++ cfg.args;
  } // lib.optionalAttrs (cfg.env != { }) { inherit (cfg) env; }
  // lib.optionalAttrs (cfg.envFile != null) { envFile = toString cfg.envFile; };

  fileOf = name: builtins.toJSON (lib.recursiveUpdate
    { ${clients.${name}.key}.${cfg.serverName} = block clients.${name}; }
    cfg.clients.${name}.settings);
  enabled = name: cfg.clients.${name}.enable;
in
{
  imports = [ (import ./home-legacy.nix self) ];

  options.programs.igloo = common.options // {
    enable = lib.mkEnableOption "igloo, which runs code that language models write, in sandboxes";
    program = mkOption {
      type = types.enum [ "igloo" "nix-sandbox-mcp" "sandbox-mcp" ];
      default = "igloo";
      description = "The name under which clients start it: each has its own tools.";
    };
    serverName = mkOption { type = types.str; default = "igloo"; description = "What clients call the server."; };
    args = mkOption {
      type = types.listOf types.str;
      default = [ ];
      example = [ "--project" "/home/me/code" ];
      description = "Further arguments of the server.";
    };
    env = mkOption {
      type = types.attrsOf types.str;
      default = { };
      description = "Variables of the server. They stand in the Nix store, readable for all: no secrets.";
    };
    envFile = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/home/me/.config/igloo/secrets.env";
      description = "A file of NAME=VALUE lines with variables of the server that are secret: the client reads it. Never a file in the store.";
    };
    clients = lib.mapAttrs
      (name: _: {
        enable = mkOption { type = types.bool; default = false; description = "Whether ${name} starts igloo; its file becomes a link into the store."; };
        settings = mkOption { type = types.attrsOf types.anything; default = { }; description = "What else stands in the file of ${name}."; };
      })
      clients;
  };

  config = lib.mkIf cfg.enable {
    assertions = common.assertions ++ [
      {
        assertion = cfg.program == "igloo" || !lib.elem "--http" cfg.args;
        message = "programs.igloo.args: only 'igloo' serves HTTP.";
      }
      {
        assertion = cfg.envFile == null || !lib.hasPrefix builtins.storeDir (toString cfg.envFile);
        message = "programs.igloo.envFile: everybody can read the Nix store; keep secrets elsewhere.";
      }
    ] ++ map
      (name: {
        assertion = cfg.envFile == null || !enabled name || clients.${name}.readsEnvFile;
        message = "programs.igloo.envFile: ${name} reads no such file; set the variables where ${name} is started.";
      })
      (builtins.attrNames clients);
    home.packages = [ cfg.package ];
    home.file = lib.mkIf (enabled "cursor") { ".cursor/mcp.json".text = fileOf "cursor"; };
    xdg.configFile = lib.mkMerge [
      { "igloo/config.toml".source = common.file; }
      (lib.mkIf (enabled "claude-desktop") { "Claude/claude_desktop_config.json".text = fileOf "claude-desktop"; })
      (lib.mkIf (enabled "vscode") { "Code/User/mcp.json".text = fileOf "vscode"; })
    ];
  };
}
