# nixpkgs' lib.fileset, as far as it is used: what of a tree belongs to a source. A set is a test of a path, and the
# paths that it was made of, whose parents must be walked through. Files and directories are sets, too.
let
  inherit (builtins) any concatMap filter isPath map pathExists readDir substring stringLength;
  under = path: parent: path == parent || substring 0 (stringLength parent + 1) path == "${parent}/";
  toSet = x: if isPath x then { has = path: under path (toString x); roots = [ (toString x) ]; } else x;
  files = directory: concatMap
    (name:
      let path = directory + "/${name}"; in
      if (readDir directory).${name} == "directory" then files path else [ path ])
    (builtins.attrNames (readDir directory));
in
rec {
  empty = { has = _: false; roots = [ ]; };
  unions = sets: let all = map toSet sets; in
    { has = path: any (set: set.has path) all; roots = concatMap (set: set.roots) all; };
  union = a: b: unions [ a b ];
  difference = a: b: toSet a // { has = path: (toSet a).has path && !(toSet b).has path; };
  maybeMissing = path: if pathExists path then toSet path else empty;
  fileFilter = keep: directory: unions (filter
    (path: keep { name = baseNameOf path; type = "regular"; hasExt = ext: builtins.match ".*\\.${ext}" (baseNameOf path) != null; })
    (files directory));
  toSource = { root, fileset }:
    let set = toSet fileset; in
    builtins.path {
      name = "source";
      path = root;
      filter = path: type: set.has path || (type == "directory" && any (each: under each path) set.roots);
    };
}
