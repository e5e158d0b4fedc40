# A configuration, understood: what src/config/decode.cc makes of the same file. Only data and no package: the result
# is the same with every version of nixpkgs, or with none.
#
# values: the file as an attribute set; presets: names that 'preset' knows; directory and home: see values.nix.
# Gives { problems, settings }; settings mean something when there are no problems.
{ values, presets, directory ? null, home ? null }:
let
  inherit (builtins) attrNames concatMap elem filter head isAttrs length listToAttrs split
    stringLength substring typeOf;

  table = import ./keys.nix;
  rules = import ./values.nix { inherit directory home; };

  sources = [ "preset" "path" "alias" "flake" "image" ];
  join = path: part: if path == "" then part else "${path}.${part}";
  hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;
  isSection = path: builtins.any (section: section == path || hasPrefix "${path}." section) table.sections;
  takesNames = path: builtins.elem path [ "environments" "secrets" "agents" ];
  problem = path: what: [{ problem = "${path}: ${what}"; }];

  # The facts of a table: one for each value that is right, one for each thing that is wrong.
  walk = at: members: concatMap (name: visit at name members.${name}) (attrNames members);
  visit = at: name: value:
    let
      named = takesNames at.schema;
      here = {
        schema = join at.schema (if named then "NAME" else name);
        real = join at.real name;
        environment = if at.schema == "environments" then name else at.environment;
        secret = if at.schema == "secrets" then name else at.secret;
        agent = if at.schema == "agents" then name else at.agent;
      };
    in
    if named && !rules.isName name then
      problem here.real "this cannot be a name: names have up to 64 letters, digits, '.', '_' and '-', and neither '.' nor '-' comes first"
    else if table.keys ? ${here.schema} then take table.keys.${here.schema} here value
    else if !isSection here.schema then problem here.real "there is no such key or section"
    else if !isAttrs value then problem here.real "this is a section, not a value"
    else walk here value;

  take = row: here: value:
    let
      checked = rules.check row value;
      # Nix finds 1 and 1.0 equal; the file does not mean the same with them.
      isFallback = row ? fallback && typeOf row.fallback == typeOf value && row.fallback == value;
      later = elem value (row.later or [ ]);
    in
    if checked ? problem then problem here.real checked.problem
    else [{
      inherit (here) real environment secret agent;
      inherit (row) path;
      inherit (checked) value;
      # A wall that is not there is not replaced by another: its environment is refused as a whole.
      stored = !later;
      unavailable = later || (!row.served && !isFallback);
    }];

  facts = walk { schema = ""; real = ""; environment = null; secret = null; agent = null; } values;
  right = filter (fact: fact ? value) facts;

  # Stored values by the path of their key: of the file, and of one environment.
  store = belongs: listToAttrs (map (fact: { name = fact.path; inherit (fact) value; })
    (filter (fact: fact.stored && belongs fact) right));
  stored = environment: store (fact: fact.secret == null && fact.agent == null && fact.environment == environment);
  shared = stored null;

  # The sections below one whose members the user names.
  sectionsOf = section: let all = values.${section} or { }; in
    if isAttrs all then builtins.removeAttrs all (filter (name: !rules.isName name || !isAttrs all.${name}) (attrNames all))
    else { };
  named = sectionsOf "environments";
  secrets = builtins.mapAttrs (name: _: store (fact: fact.secret == name)) (sectionsOf "secrets");
  secretValue = name: key: fallback: secrets.${name}."secrets.NAME.${key}" or fallback;
  own = builtins.mapAttrs (name: _: stored name) named;
  ownValue = name: key: fallback: own.${name}."environments.NAME.${key}" or fallback;

  sourceOf = name:
    let given = filter (kind: named.${name} ? ${kind}) sources; in
    if given == [ ] then { kind = "preset"; value = name; }
    else { kind = head given; value = ownValue name (head given) ""; };

  sourceProblems = name:
    let
      given = filter (kind: named.${name} ? ${kind}) sources;
      source = sourceOf name;
      extra = filter (key: !elem key (sources ++ [ "description" ])) (attrNames named.${name});
      at = "environments.${name}";
    in
    if given == [ ] then
      (if elem name presets then [ ] else [{ problem = "Environment '${name}' must specify 'preset' or 'flake' (or 'path', 'alias', 'image')"; }])
    else if length given > 1 then problem at "this is made from '${head given}' already: keep either that or '${builtins.elemAt given 1}'"
    else if source.value == "" then [ ] # its value was wrong, and said so
    else if source.kind == "preset" && !elem source.value presets then [{ problem = "Unknown preset: ${source.value}"; }]
    else if source.kind == "alias" && extra != [ ] then problem at "an alias has no settings of its own: move '${head extra}' to [environments.${source.value}]"
    else if source.kind == "alias" && !(named ? ${source.value}) && !elem source.value presets then
      problem at "this is an alias of '${source.value}', which does not exist"
    else [ ];

  isAlias = name: named ? ${name} && (sourceOf name).kind == "alias";
  # The name behind all aliases; null when they go round in a circle.
  resolve = seen: name:
    if !isAlias name then name
    else if elem name seen then null
    else resolve (seen ++ [ name ]) (sourceOf name).value;
  cycles = concatMap (name: if resolve [ ] name == null then problem "environments.${name}" "aliases go round in a circle" else [ ]) (attrNames named);

  # Name in igloo's own output, key for all environments, key of one of them.
  limitRows = [
    { name = "time_ms"; all = "defaults.timeout_seconds"; one = "timeout_seconds"; }
    { name = "memory_bytes"; all = "defaults.memory_mb"; one = "memory_mb"; }
  ] ++ map (row: row // { all = "limits.${row.one}"; one = "limits.${row.one}"; }) [
    { name = "cpu_ms"; one = "cpu_seconds"; }
    { name = "millicpus"; one = "cpus"; }
    { name = "processes"; one = "processes"; }
    { name = "open_files"; one = "open_files"; }
    { name = "file_bytes"; one = "file_mb"; }
    { name = "disk_bytes"; one = "disk_mb"; }
    { name = "disk_files"; one = "disk_files"; }
    { name = "output_bytes"; one = "output_mb"; }
  ];
  # What an environment says itself counts before what counts for all; null: the environment decides.
  limits = name: listToAttrs (map
    (row: {
      inherit (row) name;
      value = let all = shared.${row.all} or null; in if named ? ${name} then ownValue name row.one all else all;
    })
    limitRows);
  backend = name: let all = shared."defaults.backend" or "jail"; in if named ? ${name} then ownValue name "backend" all else all;

  tierOf = name: let all = shared."defaults.network" or "none"; in if named ? ${name} then ownValue name "network" all else all;
  proxied = tier: elem tier [ "allow" "internet" ];
  network = name:
    let
      tier = tierOf name;
      mine = key: if named ? ${name} then ownValue name key [ ] else [ ];
    in
    {
      inherit tier;
      allow = (if tier == "none" then [ ] else map (place: "deny ${place}") (shared."network.deny" or [ ]))
        ++ (if tier == "allow" then shared."network.allow" or [ ] else [ ]) ++ mine "allow";
      publish = mine "publish";
      reach = mine "reach";
      secrets = mine "secrets";
      raw_sockets = if named ? ${name} then ownValue name "raw_sockets" false else false;
    };
  networkProblems = name:
    let
      wanted = network name;
      missing = filter (secret: !(secrets ? ${secret})) wanted.secrets;
      at = "environments.${name}";
    in
    if missing != [ ] then problem at "there is no secret '${head missing}'"
    else if wanted.raw_sockets && wanted.tier != "internet" then
      problem at "raw sockets are of no use with the network '${wanted.tier}': they need a device"
    else if proxied wanted.tier then [ ]
    else if wanted.secrets != [ ] then problem at "secrets need igloo's proxy, which the network '${wanted.tier}' does not have"
    else if wanted.allow != [ ] then problem at "rules are of no use with the network '${wanted.tier}'"
    else if wanted.tier == "host" && wanted.publish ++ wanted.reach != [ ] then
      problem at "a sandbox in the host's network has all ports of the host already"
    else [ ];

  secretSources = [ "variable" "file" "command" ];
  # The variable that holds its placeholder: "GITHUB_TOKEN" for "github-token".
  inside = name:
    let
      small = stringToCharacters "abcdefghijklmnopqrstuvwxyz" ++ [ "-" "." ];
      large = stringToCharacters "ABCDEFGHIJKLMNOPQRSTUVWXYZ" ++ [ "_" "_" ];
    in
    builtins.replaceStrings small large name;
  stringToCharacters = text: builtins.genList (at: substring at 1 text) (stringLength text);
  secretProblems = name:
    let
      given = filter (kind: values.secrets.${name} ? ${kind}) secretSources;
      at = "secrets.${name}";
    in
    (if given == [ ] then problem at "this does not say where its value comes from: add variable, file or command"
    else if length given > 1 then problem at "this comes from '${head given}' already: keep either that or '${builtins.elemAt given 1}'"
    else [ ])
    ++ (if values.secrets.${name}.hosts or [ ] == [ ] then problem at "this does not say whom it is for: add hosts" else [ ])
    ++ (if values.secrets.${name}.header or "" == "" then problem at "this names no header that it may stand in: add header" else [ ])
    ++ (if builtins.match "[0-9].*" name != null then problem at "this cannot be a variable of that name: let it begin with a letter" else [ ])
    ++ (if builtins.any (other: other < name && inside other == inside name) (attrNames secrets)
    then problem at "another secret would be the same variable" else [ ]);
  secret = name:
    let from = head (filter (kind: values.secrets.${name} ? ${kind}) secretSources); in
    {
      inherit name from;
      source = secretValue name from "";
      hosts = secretValue name "hosts" [ ];
      header = secretValue name "header" "";
      inside = inside name;
    };

  environment = name:
    let source = sourceOf name; behind = resolve [ ] name; in
    {
      inherit name;
      made_from = source.kind;
      source = source.value;
      description = ownValue name "description" "";
      backend = backend behind;
      limits = limits behind;
      network = network behind;
      variables = attrNames (ownValue name "env" { });
      inherited = ownValue name "inherit_env.vars" [ ];
    };

  fallback = path: shared.${path} or (
    let row = table.keys.${path}; in (rules.check row row.fallback).value);

  sectionOf = fact:
    if fact.environment != null then "environments.${fact.environment}"
    else head (split "\\." fact.real);
in
{
  problems = map (fact: fact.problem) (filter (fact: fact ? problem)
    (facts ++ concatMap sourceProblems (attrNames named) ++ cycles ++ concatMap secretProblems (attrNames secrets)
      ++ concatMap (name: if isAlias name then [ ] else networkProblems name) (attrNames named)));

  settings = {
    backend = backend "";
    limits = limits "";
    network = {
      tier = tierOf "";
      allow = shared."network.allow" or [ ];
      deny = shared."network.deny" or [ ];
      resolver = shared."network.resolver" or "";
    };
    secrets = map secret (attrNames secrets);
    audit = {
      enabled = fallback "audit.enabled";
      code = fallback "audit.code";
      rotate_bytes = fallback "audit.rotate_mb";
      keep = fallback "audit.keep";
    };
    tools = fallback "daemon.tools";
    always_load = fallback "daemon.always_load";
    transport = fallback "daemon.transport";
    listen = fallback "daemon.listen";
    log_level = fallback "daemon.log_level";
    terminal_sequences = fallback "daemon.terminal_sequences";
    sessions = {
      limit = fallback "session.limit";
      idle_timeout_ms = fallback "session.idle_timeout_seconds";
      max_lifetime_ms = fallback "session.max_lifetime_seconds";
    };
    project =
      if shared ? "project.path" then {
        path = shared."project.path";
        mode = fallback "project.mode";
        mount_point = fallback "project.mount_point";
        inherited = fallback "project.inherit_env.vars";
        hide = fallback "project.hide";
        show_hidden = fallback "project.show_hidden";
      } else null;
    environments = map environment (attrNames named);
    unavailable = map (fact: { key = fact.real; section = sectionOf fact; }) (filter (fact: fact.unavailable) right);
  };

  # What mkEnvironment needs of it and no output of igloo shows: the variables' values are nobody's business there.
  details = builtins.mapAttrs
    (name: _: {
      env = ownValue name "env" { };
      warm = ownValue name "warm" null;
      preload = ownValue name "preload" [ ];
      # A command line: its words, without those that two blanks would make.
      interpreter = filter (word: builtins.isString word && word != "") (split " " (ownValue name "interpreter" ""));
      behind = resolve [ ] name;
    })
    named;
}
