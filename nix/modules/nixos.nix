# services.igloo: the MCP server for a whole machine, on HTTP. Clients that start their own server on standard input and
# output need only the package; programs.igloo of the home-manager module sets them up.
self: { config, lib, pkgs, ... }:
let
  inherit (lib) mkOption types;
  cfg = config.services.igloo;
  common = import ./configuration.nix { inherit self lib pkgs cfg; option = "services.igloo"; };

  state = "/var/lib/igloo";
  project = if cfg.configFile == null then cfg.settings.project.path else null;
  projectPath = toString project;
  atHome = project != null && lib.any (top: lib.hasPrefix "${top}/" projectPath) [ "/home" "/root" ];
  writable = project != null && cfg.settings.project.mode == "readwrite";
  backends = [ cfg.settings.defaults.backend ] ++ lib.mapAttrsToList (_: each: each.backend) cfg.settings.environments;

  # systemd is no shell: it reads C's escapes in double quotes, and has words of its own behind '%' and '$'.
  quote = word:
    if builtins.match "[A-Za-z0-9,._+:@/-]+" word != null then word
    else lib.replaceStrings [ "%" "$" ] [ "%%" "$$" ] (builtins.toJSON word);
  words = [ (lib.getExe' cfg.package "igloo") "mcp" "--http" cfg.listen "--config" "${common.file}" ]
    ++ (if cfg.tokenFile == null then [ "--token-file" "${state}/http-token" ] else [ "--token-file" (toString cfg.tokenFile) ])
    ++ cfg.extraArgs;
in
{
  imports = [ (import ./legacy.nix self) ];

  options.services.igloo = common.options // {
    enable = lib.mkEnableOption "igloo, which runs code that language models write, in sandboxes";
    listen = mkOption {
      type = types.str;
      default = "127.0.0.1:8730";
      description = "Address of the server. Clients need the token, also on this machine.";
    };
    tokenFile = mkOption {
      type = types.nullOr types.path;
      default = null;
      description = "Where the clients' token is kept; made in ${state} if it is not named. Never a file in the store.";
    };
    environmentFile = mkOption {
      type = types.nullOr types.path;
      default = null;
      example = "/run/keys/igloo-environment";
      description = "A file of NAME=VALUE lines that systemd reads: variables of the server that are secret, for environments that inherit them. Never a file in the store.";
    };
    user = mkOption { type = types.str; default = "igloo"; description = "The server's user; made if it is 'igloo'."; };
    group = mkOption { type = types.str; default = "igloo"; description = "The server's group; made if it is 'igloo'."; };
    extraArgs = mkOption {
      type = types.listOf types.str;
      default = [ ];
      example = [ "--tools" "both" ];
      description = "Further arguments of 'igloo mcp'.";
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = common.assertions ++ [
      {
        assertion = cfg.user != "root";
        message = "services.igloo.user: the server needs no rights of root; give it a user of its own.";
      }
      {
        assertion = cfg.tokenFile == null || !lib.hasPrefix builtins.storeDir (toString cfg.tokenFile);
        message = "services.igloo.tokenFile: everybody can read the Nix store; keep the token elsewhere.";
      }
      {
        assertion = cfg.environmentFile == null || !lib.hasPrefix builtins.storeDir (toString cfg.environmentFile);
        message = "services.igloo.environmentFile: everybody can read the Nix store; keep secrets elsewhere.";
      }
      {
        assertion = !lib.elem "bubblewrap" backends;
        message = "services.igloo.settings: backend \"bubblewrap\" is the program /usr/bin/bwrap, which NixOS has not; keep \"jail\", igloo's own.";
      }
    ];

    environment.systemPackages = [ cfg.package ];
    # Sandboxes are made without root's help.
    security.unprivilegedUsernsClone = lib.mkDefault true;

    users.users = lib.mkIf (cfg.user == "igloo") {
      igloo = { isSystemUser = true; group = cfg.group; home = state; description = "Igloo's server"; };
    };
    users.groups = lib.mkIf (cfg.group == "igloo") { igloo = { }; };

    systemd.services.igloo = {
      description = "Igloo: code of language models, in sandboxes";
      documentation = [ "man:igloo(1)" ];
      wantedBy = [ "multi-user.target" ];
      after = [ "network.target" ];
      environment = { HOME = state; XDG_STATE_HOME = state; };
      # pasta carries packets of sandboxes that have a device. A package of the user's own may know no other.
      path = [ pkgs.passt ];
      serviceConfig = lib.optionalAttrs (cfg.environmentFile != null) { EnvironmentFile = toString cfg.environmentFile; } // {
        ExecStart = lib.concatMapStringsSep " " quote words;
        # It reads its configuration again.
        ExecReload = "${pkgs.coreutils}/bin/kill -HUP $MAINPID";
        User = cfg.user;
        Group = cfg.group;
        Restart = "on-failure";
        RestartSec = 5;
        StateDirectory = "igloo";
        StateDirectoryMode = "0700";
        WorkingDirectory = state;
        UMask = "0077";
        # Memory and processes of sandboxes are limited by cgroups of the service's own.
        Delegate = true;

        NoNewPrivileges = true;
        PrivateTmp = true;
        ProtectSystem = "strict";
        ProtectHome = if !atHome then true else if writable then false else "read-only";
        ReadWritePaths = lib.optional writable projectPath;
        CapabilityBoundingSet = "";
        AmbientCapabilities = "";
        LockPersonality = true;
        ProtectClock = true;
        ProtectKernelModules = true;
        RestrictRealtime = true;
        # SECURITY: not here, because sandboxes could not be built: RestrictNamespaces (they are namespaces),
        # ProtectKernelTunables, ProtectKernelLogs, ProtectControlGroups and ProtectProc (the kernel mounts no new /proc
        # where the old one is partly hidden), PrivateUsers (there would be no ids to map), RestrictSUIDSGID (its filter
        # answers openat2 with ENOSYS, and igloo opens what it mounts with nothing else), ProtectHostname (a sandbox has
        # a host name of its own, and its filter refuses sethostname in every namespace).
      };
    };
  };
}
