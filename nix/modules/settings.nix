# Options for everything that config.toml can say, made from igloo's own table of keys: names, types, ranges and
# descriptions are the program's, so a misspelt key or a wrong value fails at evaluation, with its path.
{ lib }:
let
  inherit (lib) mkOption types;

  table = import ../lib/keys.nix;

  typeOf = row: {
    text = types.str;
    name = types.str;
    path = types.either types.str types.path;
    inside = types.str;
    choice = types.enum (row.choices or [ ]);
    flag = types.bool;
    count = types.ints.between row.least row.most;
    # config.toml takes fractions of a second as well; whole ones are enough here.
    seconds = types.ints.between 1 row.most;
    megabytes = types.ints.between row.least row.most;
    cpus = types.either (types.ints.between 1 row.most) types.float;
    texts = types.listOf types.str;
    variables = types.listOf types.str;
    resolvers = types.str;
    rules = types.listOf types.str;
    hosts = types.listOf types.str;
    ports = types.listOf types.port;
    published = types.listOf (types.either types.port types.str);
    "text table" = types.attrsOf types.str;
  }.${row.kind};

  leaf = row: mkOption {
    type = types.nullOr (typeOf row);
    default = null;
    description = "${row.description}."
      + lib.optionalString (row ? fallback) " Without it: ${builtins.toJSON row.fallback}."
      + lib.optionalString (!row.served) " Not available yet.";
  };

  # Rows with the rest of their path, into options; NAME is a name that the user gives.
  tree = path: rows:
    let
      heads = lib.unique (map (each: lib.head each.rest) rows);
      below = head: map (each: each // { rest = lib.tail each.rest; }) (lib.filter (each: lib.head each.rest == head) rows);
      node = head:
        let
          inner = below head;
          here = path ++ [ head ];
          named = lib.head (lib.head inner).rest == "NAME";
        in
        if (lib.head inner).rest == [ ] then leaf (lib.head inner).row
        else if named then
          mkOption
            {
              type = types.attrsOf (types.submodule {
                options = tree (here ++ [ "NAME" ]) (map (each: each // { rest = lib.tail each.rest; }) inner);
              });
              default = { };
              description = table.descriptions.${lib.concatStringsSep "." (here ++ [ "NAME" ])} or "By name.";
            }
        else tree here inner;
    in
    lib.genAttrs heads node;

  # What was set: options that were not touched are null, and their sections empty. A package is a path to its files; a
  # path stays where it is.
  strip = value:
    if lib.isDerivation value then "${value}"
    else if builtins.isPath value then toString value
    else if !lib.isAttrs value then value
    else lib.filterAttrs (_: each: each != null && each != { }) (lib.mapAttrs (_: strip) value);
in
{
  option = mkOption {
    type = types.submodule { options = tree [ ] (map (row: { inherit row; rest = lib.splitString "." row.path; }) table.rows); };
    default = { };
    description = "What config.toml says, key by key (docs/configuration.md). Values stand in the Nix store, readable for all: no secrets.";
  };

  # As the file has it. An environment without settings of its own still is one.
  values = settings:
    strip (removeAttrs settings [ "environments" ])
    // lib.optionalAttrs (settings.environments != { }) { environments = lib.mapAttrs (_: strip) settings.environments; };
}
