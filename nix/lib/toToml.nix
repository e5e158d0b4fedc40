# An attribute set as TOML, at evaluation: a file that only a build could write could not be checked before it.
# Numbers, flags, texts, lists of them, and tables; nothing else stands in a configuration.
let
  inherit (builtins) attrNames concatStringsSep filter isAttrs isList toJSON;

  # JSON's way to write a text is one of TOML's.
  value = v:
    if isList v then "[${concatStringsSep ", " (map value v)}]"
    else if isAttrs v then "{ ${concatStringsSep ", " (map (name: "${toJSON name} = ${value v.${name}}") (attrNames v))} }"
    else toJSON v;

  section = path: table:
    let
      names = attrNames table;
      tables = filter (name: isAttrs table.${name}) names;
      others = filter (name: !isAttrs table.${name}) names;
      lines = map (name: "${toJSON name} = ${value table.${name}}\n") others;
      head = if path == [ ] then "" else "[${concatStringsSep "." (map toJSON path)}]\n";
    in
    concatStringsSep "" ([ head ] ++ lines ++ map (name: section (path ++ [ name ]) table.${name}) tables);
in
section [ ]
