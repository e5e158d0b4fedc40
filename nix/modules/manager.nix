# The manager of agents' sandboxes, with the option path of claude-sandbox-manager. This igloo has no manager yet, and a
# machine that is told to run one must not be built without it: enabling it is an error. The options are there so that
# configurations can be moved now.
_: { config, lib, ... }:
let
  inherit (lib) mkOption types;
  option = type: default: description: mkOption { inherit type default description; };
  options = {
    enable = lib.mkEnableOption "igloo's manager of agents' sandboxes (not available yet)";
    listenAddress = option types.str "127.0.0.1:3000" "Address of its pages and its API.";
    stateDir = option types.path "/var/lib/igloo-manager" "Where it keeps what it knows.";
    user = option types.str "igloo-manager" "Its user.";
    group = option types.str "igloo-manager" "Its group.";
    sandboxPackages = option (types.listOf types.package) [ ] "Packages that start sandboxes.";
    containerSudoers = option types.bool false "Whether it may start containers as root.";
  };
  refuse = path: {
    assertion = false;
    message = "${path}.enable: this igloo has no manager yet; services.igloo runs code in sandboxes.";
  };
in
{
  options.services.igloo.manager = options;
  options.services.claude-sandbox-manager = options;

  config.assertions =
    lib.optional config.services.igloo.manager.enable (refuse "services.igloo.manager")
    ++ lib.optional config.services.claude-sandbox-manager.enable (refuse "services.claude-sandbox-manager");
}
