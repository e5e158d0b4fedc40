# What the modules for NixOS and home-manager make of options, over any lib with evalModules: the stand-in's, or
# nixpkgs' where it is at hand. An attribute for each promise; 'true' if it is kept. No package is built: a package set
# of fakes shows what would be.
{ lib, system ? "x86_64-linux" }:
let
  inherit (builtins) all any deepSeq filter map tryEval;

  hash = "0123456789abcdfghijklmnpqrsvwxyz";
  fake = name: more: { type = "derivation"; inherit name; outPath = "/nix/store/${hash}-${name}"; meta.mainProgram = "igloo"; } // more;
  pkgs = {
    inherit lib;
    stdenv.hostPlatform = { inherit system; };
    runtimeShell = "/bin/sh";
    bash = fake "bash" { };
    coreutils = fake "coreutils" { };
    ripgrep = fake "ripgrep" { };
    go = fake "go" { };
    git = fake "git" { };
    passt = fake "passt" { };
    buildEnv = { name, ... }: fake name { };
    closureInfo = _: fake "closure-info" { };
    runCommand = name: given: _: builtins.seq (given.metadata or null) (fake name (given.passthru or { }));
    writeText = name: text: fake name { inherit text; };
  };
  self.packages.${system} = { default = fake "igloo" { }; sandbox-mcp = fake "igloo-for-sandbox-mcp" { meta.mainProgram = "sandbox-mcp"; }; };

  # The options of NixOS and of home-manager that the modules write to.
  listOf = type: lib.mkOption { type = lib.types.listOf type; default = [ ]; };
  attrs = lib.mkOption { type = lib.types.attrsOf lib.types.anything; default = { }; };
  surroundings.options = {
    assertions = listOf lib.types.attrs;
    warnings = listOf lib.types.str;
    systemd.services = attrs;
    users.users = attrs;
    users.groups = attrs;
    environment.systemPackages = listOf lib.types.package;
    security.unprivilegedUsernsClone = lib.mkOption { type = lib.types.bool; default = false; };
    home.packages = listOf lib.types.package;
    home.file = attrs;
    xdg.configFile = attrs;
  };
  evalWith = module: config: (lib.evalModules {
    specialArgs = { inherit pkgs; };
    modules = [ (import module self) surroundings { inherit config; } ];
  }).config;

  nixos = services: evalWith ../../nix/modules/nixos.nix { inherit services; };
  igloo = given: nixos { igloo = { enable = true; } // given; };
  manager = services: evalWith ../../nix/modules/manager.nix { inherit services; };
  home = programs: evalWith ../../nix/modules/home.nix { inherit programs; };

  messages = config: map (each: each.message) (filter (each: !each.assertion) config.assertions);
  says = text: config: any (message: lib.hasInfix text message) (messages config);
  fine = config: messages config == [ ];
  fails = value: !(tryEval (deepSeq value value)).success;

  unit = config: config.systemd.services.igloo.serviceConfig;
  # The text of the config.toml that the unit names.
  fileOf = given: (import ../../nix/modules/configuration.nix {
    inherit self lib pkgs;
    option = "services.igloo";
    cfg = (igloo given).services.igloo;
  }).file.text;
  toml = given: builtins.fromTOML (fileOf given);
  exec = config: (unit config).ExecStart;
in
{
  off = (nixos { }).systemd.services == { } && (nixos { }).environment.systemPackages == [ ];
  offSaysNothing = fine (nixos { igloo.settings.environments.mine = { }; });
  on = exec (igloo { }) == "/nix/store/${hash}-igloo/bin/igloo mcp --http 127.0.0.1:8730 --config /nix/store/${hash}-config.toml --token-file /var/lib/igloo/http-token";
  onIsFine = fine (igloo { });
  onMakesItsUser = (igloo { }).users.users.igloo.isSystemUser && (igloo { }).users.groups ? igloo;
  onCarriesPackets = (igloo { }).systemd.services.igloo.path == [ pkgs.passt ];
  onNeedsUserNamespaces = (igloo { }).security.unprivilegedUsernsClone;
  hardened = all (key: (unit (igloo { })).${key} == true) [ "NoNewPrivileges" "PrivateTmp" "ProtectHome" "LockPersonality" "Delegate" ]
    && (unit (igloo { })).ProtectSystem == "strict" && (unit (igloo { })).ReadWritePaths == [ ];
  # Sandboxes are namespaces with a /proc and a host name of their own, and what they show is opened with openat2.
  hardenedNotTooMuch = !any (key: unit (igloo { }) ? ${key})
    [ "RestrictNamespaces" "PrivateUsers" "ProtectKernelTunables" "ProtectKernelLogs" "ProtectControlGroups" "ProtectProc" "ProtectHostname" "RestrictSUIDSGID" ];

  otherUser = let config = igloo { user = "me"; group = "us"; }; in
    (unit config).User == "me" && config.users.users == { } && config.users.groups == { };
  otherPackage = lib.hasPrefix "/nix/store/${hash}-mine/bin/igloo " (exec (igloo { package = fake "mine" { }; }));
  otherAddress = lib.hasInfix " --http 10.0.0.1:80 " (exec (igloo { listen = "10.0.0.1:80"; }));
  arguments = lib.hasSuffix " --tools \"two %% $$ words\"" (exec (igloo { extraArgs = [ "--tools" "two % $ words" ]; }));
  ownFile = let config = igloo { configFile = "/etc/igloo.toml"; }; in lib.hasInfix " --config /etc/igloo.toml " (exec config) && fine config;

  settings = toml { settings = { defaults.timeout_seconds = 60; environments.python = { }; environments.js.alias = "node"; audit.code = true; }; }
    == { defaults.timeout_seconds = 60; environments = { python = { }; js.alias = "node"; }; audit.code = true; };
  settingsAreFine = fine (igloo { settings = { environments.py = { preset = "python"; memory_mb = 1024; env.TZ = "UTC"; limits.processes = 9; }; }; });
  texts = (toml { settings.environments.shell.description = "a \"b\" \\ ä\n"; }).environments.shell.description == "a \"b\" \\ ä\n";
  own = (toml { environments.tools = { interpreter_type = "bash"; packages = [ pkgs.ripgrep ]; }; settings.environments.tools.timeout_seconds = 5; }).environments
    == { tools = { path = "/nix/store/${hash}-sandbox-tools"; timeout_seconds = 5; }; };
  presets = (toml { presets = [ "go" ]; }).environments == { go.path = "/nix/store/${hash}-sandbox-go"; };
  presetOfAnImage = (toml { presets = [ "apisix" ]; }).environments == { apisix.path = "/nix/store/${hash}-sandbox-apisix"; };
  imagesInSettings = (toml { settings.environments = { gate.preset = "apisix"; apisix.timeout_seconds = 90; }; }).environments
    == { gate.preset = "apisix"; apisix.timeout_seconds = 90; };
  presetAndOwn = says "'go' stands in presets and in environments" (igloo { presets = [ "go" ]; environments.go = { interpreter = [ "go" "run" ]; packages = [ pkgs.go ]; }; });
  pathOfPackage = (toml { settings.environments.sci.path = fake "sandbox-sci" { self = throw "a package is looked into"; }; }).environments
    == { sci.path = "/nix/store/${hash}-sandbox-sci"; };
  pathOfNix = let given.settings.environments.sci.path = /srv/sci; in
    fine (igloo given) && (toml given).environments == { sci.path = "/srv/sci"; };
  project = let config = igloo { settings.project.path = "/srv/code"; }; in (unit config).ProtectHome == true && (unit config).ReadWritePaths == [ ];
  projectAtHome = (unit (igloo { settings.project.path = "/home/me/code"; })).ProtectHome == "read-only";
  projectToWrite = let config = igloo { settings.project = { path = "/srv/code"; mode = "readwrite"; }; }; in (unit config).ReadWritePaths == [ "/srv/code" ];

  wrongKey = fails (igloo { settings.defaults.timeout = 3; }).services.igloo.settings;
  wrongType = fails (igloo { settings.defaults.timeout_seconds = "3"; }).services.igloo.settings;
  wrongRange = fails (igloo { settings.defaults.memory_mb = 1; }).services.igloo.settings;
  wrongChoice = fails (igloo { settings.defaults.backend = "docker"; }).services.igloo.settings;
  wrongPreset = fails (igloo { presets = [ "cobol" ]; }).services.igloo.presets;
  wrongInterpreter = fails (igloo { environments.a.interpreter_type = "perl"; }).services.igloo.environments;
  noInterpreter = fails (fileOf { environments.a = { }; });
  wrongListen = fails (igloo { listen = 80; }).services.igloo.listen;

  unknownPreset = says "Unknown preset: pythn" (igloo { settings.environments.a.preset = "pythn"; });
  noSource = says "Environment 'a' must specify 'preset' or 'flake'" (igloo { settings.environments.a = { }; });
  relativePath = says "is relative" (igloo { settings.project.path = "code"; });
  bubblewrap = says "/usr/bin/bwrap" (igloo { settings.defaults.backend = "bubblewrap"; });
  bubblewrapOfOne = says "/usr/bin/bwrap" (igloo { settings.environments.a = { preset = "python"; backend = "bubblewrap"; }; });
  notYet = says "settings.defaults.backend: this igloo does not have it yet" (igloo { settings.defaults.backend = "container"; });
  network = fine (igloo { settings.defaults.network = "internet"; });
  fileAndSettings = says "configFile replaces" (igloo { configFile = "/etc/igloo.toml"; settings.audit.code = true; });
  root = says "no rights of root" (igloo { user = "root"; });
  tokenInStore = says "Nix store" (igloo { tokenFile = "/nix/store/${hash}-token"; });
  tokenElsewhere = lib.hasSuffix "--token-file /run/keys/igloo" (exec (igloo { tokenFile = "/run/keys/igloo"; }));

  environmentFile = (unit (igloo { environmentFile = "/run/keys/env"; })).EnvironmentFile == "/run/keys/env" && !(unit (igloo { }) ? EnvironmentFile);
  environmentInStore = says "services.igloo.environmentFile" (igloo { environmentFile = "/nix/store/${hash}-env"; });

  sandboxMcp = let config = nixos { sandbox-mcp = { enable = true; user = "sandbox-mcp"; group = "sandbox-mcp"; }; }; in
    lib.hasPrefix "/nix/store/${hash}-igloo-for-sandbox-mcp/bin/igloo mcp " (exec config) && (unit config).User == "sandbox-mcp"
    && config.users.users.sandbox-mcp.group == "sandbox-mcp" && config.users.groups ? sandbox-mcp
    && config.services.igloo.settings.daemon.tools == "per-environment" && config.warnings != [ ] && fine config;
  sandboxMcpToml = let config = nixos { sandbox-mcp = { enable = true; configFile = "/etc/a.toml"; }; }; in
    fine config && config.services.igloo.configFile == "/etc/a.toml";
  sandboxMcpJson = says "not sandbox-mcp's JSON" (nixos { sandbox-mcp = { enable = true; configFile = "/etc/a.json"; }; });
  sandboxMcpUser = let config = nixos { sandbox-mcp = { enable = true; user = "me"; group = "us"; }; }; in
    says "there is no user 'me'" config && says "there is no group 'us'" config;
  sandboxMcpUserOfOthers = fine (evalWith ../../nix/modules/nixos.nix {
    services.sandbox-mcp = { enable = true; user = "me"; group = "us"; };
    users = { users.me.isNormalUser = true; groups.us = { }; };
  });
  sandboxMcpOverridden = (nixos { sandbox-mcp.enable = true; igloo.package = fake "mine" { }; }).services.igloo.package.name == "mine";
  claudeSandbox = let config = nixos { claude-sandbox = { enable = true; network = false; bubblewrap.extraPackages = [ pkgs.ripgrep ]; }; }; in
    fine config && config.services.igloo.settings.defaults.backend == null && config.services.igloo.environments ? claude-sandbox;
  claudeSandboxNetwork = let config = nixos { claude-sandbox.enable = true; }; in
    fine config && config.services.igloo.settings.defaults.network == "internet"
    && (nixos { claude-sandbox = { enable = true; network = false; }; }).services.igloo.settings.defaults.network == null;
  claudeSandboxContainer = says "no containers yet" (nixos { claude-sandbox = { enable = true; network = false; container.enable = true; }; });
  claudeSandboxMachine = says "no virtual machines yet" (nixos { claude-sandbox = { enable = true; network = false; vm.enable = true; }; });

  managerOff = fine (manager { });
  managerOn = says "services.igloo.manager.enable: this igloo has no manager yet" (manager { igloo.manager.enable = true; });
  managerByItsOldName = says "services.claude-sandbox-manager.enable" (manager { claude-sandbox-manager = { enable = true; listenAddress = "0.0.0.0:1"; }; });
  managerTyped = fails (manager { igloo.manager.listenAddress = 3000; }).services.igloo.manager.listenAddress;

  homeOff = (home { }).home.packages == [ ] && (home { }).xdg.configFile == { };
  homeOn = let config = home { igloo = { enable = true; settings.audit.code = true; }; }; in
    fine config && builtins.attrNames config.xdg.configFile == [ "igloo/config.toml" ]
    && builtins.fromTOML config.xdg.configFile."igloo/config.toml".source.text == { audit.code = true; };
  homeDesktop = builtins.fromJSON (home { igloo = { enable = true; args = [ "--no-project" ]; clients.claude-desktop = { enable = true; settings.theme = "dark"; }; }; }).xdg.configFile."Claude/claude_desktop_config.json".text
    == { theme = "dark"; mcpServers.igloo = { command = "/nix/store/${hash}-igloo/bin/igloo"; args = [ "mcp" "--no-project" ]; }; };
  homeVscode = (builtins.fromJSON (home { igloo = { enable = true; clients.vscode.enable = true; }; }).xdg.configFile."Code/User/mcp.json".text).servers.igloo.type == "stdio";
  homeCursor = (builtins.fromJSON (home { igloo = { enable = true; program = "nix-sandbox-mcp"; clients.cursor.enable = true; env.A = "1"; }; }).home.file.".cursor/mcp.json".text).mcpServers.igloo
    == { type = "stdio"; command = "/nix/store/${hash}-igloo/bin/nix-sandbox-mcp"; args = [ ]; env.A = "1"; };
  homeEnvFile = let config = home { igloo = { enable = true; envFile = "/run/keys/env"; clients.vscode.enable = true; }; }; in
    fine config && (builtins.fromJSON config.xdg.configFile."Code/User/mcp.json".text).servers.igloo.envFile == "/run/keys/env";
  homeEnvFileOfDesktop = says "claude-desktop reads no such file" (home { igloo = { enable = true; envFile = "/run/keys/env"; clients.claude-desktop.enable = true; }; });
  homeEnvFileInStore = says "programs.igloo.envFile: everybody" (home { igloo = { enable = true; envFile = "/nix/store/${hash}-env"; }; });
  homeUnknownClient = fails (home { igloo = { enable = true; clients.emacs.enable = true; }; }).programs.igloo.clients;
  homeNotYet = says "programs.igloo.settings.environments.a.backend" (home { igloo = { enable = true; settings.environments.a = { preset = "shell"; backend = "container"; }; }; });
  homeBubblewrap = fine (home { igloo = { enable = true; settings.defaults.backend = "bubblewrap"; }; });
  homeSandboxMcp = let config = home { sandbox-mcp = { enable = true; settings.theme = "dark"; }; }; in
    fine config && builtins.fromTOML config.xdg.configFile."igloo/config.toml".source.text == { }
    && (builtins.fromJSON config.xdg.configFile."Claude/claude_desktop_config.json".text).mcpServers.sandbox-mcp.command == "/nix/store/${hash}-igloo-for-sandbox-mcp/bin/sandbox-mcp";
  homeSandboxMcpEnvFile = let config = home { sandbox-mcp = { enable = true; envFile = "/run/keys/env"; }; igloo.clients.cursor.enable = true; }; in
    fine config && (builtins.fromJSON config.home.file.".cursor/mcp.json".text).mcpServers.sandbox-mcp.envFile == "/run/keys/env";
  homeSandboxMcpPassword = says "passwordCommand" (home { sandbox-mcp = { enable = true; passwordCommand = { TOKEN = [ "pass" "token" ]; }; }; });
  homeSandboxMcpCores = says "maxCpuCores" (home { sandbox-mcp = { enable = true; maxCpuCores = 2; }; });
  # It has its own files for these, and would not look at igloo's.
  homeSandboxMcpMemory = says "'resources.memory'" (home { sandbox-mcp = { enable = true; maxMemory = "2G"; }; });
  homeSandboxMcpTime = says "'timeout'" (home { sandbox-mcp = { enable = true; sandboxTimeout = 5; }; });
  homeSandboxMcpSome = says "offers all of its sandboxes" (home { sandbox-mcp = { enable = true; enabledSandboxes = [ "shell" ]; }; });
  homeSandboxMcpToml = let config = home { sandbox-mcp = { enable = true; configFile = "/etc/a.toml"; }; }; in
    fine config && config.programs.igloo.configFile == "/etc/a.toml";
  homeSandboxMcpJson = let config = home { sandbox-mcp = { enable = true; configFile = "/etc/a.json"; }; }; in
    says "not sandbox-mcp's JSON" config && config.programs.igloo.configFile == null;
}
