# A value against its row in the table of keys: type, range, characters, and the units that igloo counts in. The
# same as src/config/check_value.cc; tests/nix/config holds files that both are asked about.
#
# directory: what relative paths are relative to; null: they are refused.
# home: what "~/" is; null: it stays as it is written, for igloo to read at run time.
{ directory ? null, home ? null }:
let
  inherit (builtins) all attrNames concatStringsSep elem filter foldl' genList isAttrs isInt isList isString length
    elemAt match split stringLength substring typeOf;

  hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;
  lastPart = path: let parts = filter isString (split "\\." path); in elemAt parts (length parts - 1);
  quote = builtins.toJSON;

  typeNames = {
    bool = "true or false";
    int = "a whole number";
    float = "a number";
    string = "text";
    list = "a list";
    set = "a table";
  };
  typeName = value: typeNames.${typeOf value} or "a ${typeOf value}";

  expected = row: {
    text = "text";
    name = "a name of letters, digits, '.', '_' and '-'";
    path = "a path";
    inside = "a whole path, without '.' and '..'";
    choice = "one of ${concatStringsSep ", " (map quote (row.choices or [ ]))}";
    flag = "true or false";
    count = "a whole number from ${toString row.least} to ${toString row.most}";
    seconds = "seconds above 0 and up to ${toString row.most}";
    megabytes = "whole megabytes from ${toString row.least} to ${toString row.most}";
    cpus = "processors from 0.01 to ${toString row.most}";
    texts = "a list of texts";
    variables = "a list of names of environment variables";
    resolvers = "ADDRESS or ADDRESS:PORT, or several with commas between";
    rules = "a list of hosts, addresses or URLs that may be reached";
    denied = "a list of hosts or addresses";
    hosts = "a list of host names";
    ports = "a list of ports from 1 to 65535";
    published = "a list of ports, or of texts \"HOST:BOX\"";
    "text table" = "a table of names and texts";
  }.${row.kind};

  right = value: { inherit value; };
  wrong = row: what: { problem = "'${lastPart row.path}' ${what}; write ${expected row}"; };
  wrongType = row: value: wrong row "cannot be ${typeName value}";

  isName = text: stringLength text <= 64 && match "[A-Za-z0-9_][A-Za-z0-9._-]*" text != null;
  isVariable = text: stringLength text <= 256 && match "[A-Za-z_][A-Za-z0-9_]*" text != null;

  # "/a/./b/../c" is "/a/c"; nothing is above "/".
  normal = path:
    let
      parts = filter (part: isString part && part != "" && part != ".") (split "/" path);
      above = list: genList (elemAt list) (length list - 1);
      step = list: part: if part != ".." then list ++ [ part ] else if list == [ ] then [ ] else above list;
    in
    "/" + concatStringsSep "/" (foldl' step [ ] parts);
  join = base: path: if hasPrefix "/" path then path else "${base}/${path}";

  # As sandbox::CheckTarget has it: a mount point is a plain absolute path, so that it is where it seems to be.
  isInside = path:
    let parts = filter isString (split "/" path); in
    hasPrefix "/" path && stringLength path <= 4000
    && all (part: !elem part [ "" "." ".." ]) (builtins.tail parts);

  units = { count = 1; seconds = 1000; megabytes = 1048576; cpus = 1000; };

  number = row: value:
    if isInt value then
      if value < row.least || value > row.most then wrong row "cannot be ${toString value}"
      else right (value * units.${row.kind})
    else if typeOf value != "float" || !elem row.kind [ "seconds" "cpus" ] then wrongType row value
    # What is not a number is not inside, either.
    else if !((if row.kind == "cpus" then value >= 0.01 else value > 0) && value <= row.most) then wrong row "cannot be ${toString value}"
    else
      let rounded = builtins.floor (value * 1000.0 + 0.5); in
      right (if rounded < 1 then 1 else rounded);

  path = row: value:
    if value == "~" || hasPrefix "~/" value then
      if home == null then right value
      else right (normal (join home (substring 2 (stringLength value) value)))
    else if hasPrefix "~" value then wrong row "names another user's home directory"
    else if hasPrefix "/" value then right (normal value)
    else if directory == null then
      wrong row "is relative, and this configuration is not kept beside what it names: write it in full"
    else right (normal (join (toString directory) value));

  text = row: value:
    if !isString value then wrongType row value
    else if row.kind == "choice" then
      if elem value row.choices then right value else wrong row "cannot be ${quote value}"
    else if value == "" then wrong row "is empty"
    else if row.kind == "path" then path row value
    else if row.kind == "name" && !isName value then wrong row "cannot be ${quote value}"
    else if row.kind == "inside" && !isInside value then wrong row "cannot be ${quote value}"
    else right value;

  isPort = item: isInt item && item >= 1 && item <= 65535;
  # The two ports of "HOST:BOX"; null: this is none.
  pair = item:
    let
      parts = if isString item then match "([1-9][0-9]{0,4}):([1-9][0-9]{0,4})" item else null;
      ports = map builtins.fromJSON parts;
    in
    if parts == null || !all isPort ports then null else ports;

  # What a rule or a host name consists of is checked by igloo; here only what it cannot be.
  isItem = row: item:
    if row.kind == "ports" then isPort item
    else if row.kind == "published" then isPort item || pair item != null
    else isString item && item != "" && (row.kind != "variables" || isVariable item);

  list = row: value:
    if !isList value then wrongType row value
    # SECURITY: what a list of names holds instead may be a secret: it is not repeated.
    else if !all (isItem row) value then wrong row "holds something else"
    else if row.kind == "published" then
      right (map (item: if isInt item then "${toString item}:${toString item}" else item) value)
    else if row.kind == "ports" then right value
    else right (map toString value);

  textTable = row: value:
    let names = attrNames value; in
    if !isAttrs value then wrongType row value
    else if !all isVariable names then wrong row "has a name that is no name of a variable"
    else if !all (name: isString value.${name}) names then wrong row "holds something that is not text"
    else right value;

  checks = {
    inherit text;
    path = text;
    inside = text;
    name = text;
    resolvers = text;
    choice = text;
    flag = row: value: if builtins.isBool value then right value else wrongType row value;
    count = number;
    seconds = number;
    megabytes = number;
    cpus = number;
    texts = list;
    variables = list;
    rules = list;
    denied = list;
    hosts = list;
    ports = list;
    published = list;
    "text table" = textTable;
  };
in
{
  inherit isName isVariable expected;
  # { value = ...; } in igloo's units, or { problem = "..."; }.
  check = row: value: checks.${row.kind} row value;
}
