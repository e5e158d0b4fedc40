# A small module system with the interface of nixpkgs' lib.evalModules: enough to test this project's own modules for
# NixOS and home-manager where nixpkgs' lib is absent.
lib:
let
  inherit (builtins) attrNames concatLists concatMap concatStringsSep elem filter foldl' head isAttrs isBool isFunction isInt isList isPath isString length map mapAttrs toJSON;
  show = path: concatStringsSep "." path;
  kind = v: if isAttrs v then v._type or "" else "";

  mkIf = condition: content: { _type = "if"; inherit condition content; };
  mkMerge = contents: { _type = "merge"; inherit contents; };
  mkOverride = priority: content: { _type = "override"; inherit priority content; };

  # properties above an attribute set move to its members; conditions stay unevaluated
  pushDown = v:
    if kind v == "merge" then concatMap pushDown v.contents
    else if kind v == "if" then map (mapAttrs (_: mkIf v.condition)) (pushDown v.content)
    else if kind v == "override" then map (mapAttrs (_: mkOverride v.priority)) (pushDown v.content)
    else [ v ];
  discharge = prio: v:
    if kind v == "merge" then concatMap (discharge prio) v.contents
    else if kind v == "if" then (if v.condition then discharge prio v.content else [ ])
    else if kind v == "override" then discharge v.priority v.content
    else [{ inherit prio; value = v; }];

  mergeDefs = path: type: raw:
    let
      ds = concatMap (discharge 100) raw;
      top = foldl' (a: d: if d.prio < a then d.prio else a) 9999 ds;
      vs = map (d: d.value) (filter (d: d.prio == top) ds);
      bad = filter (v: !type.check v) vs;
    in
    if vs == [ ] then throw "The option `${show path}' was accessed but has no value defined."
    else if bad != [ ] then throw "A definition for option `${show path}' is not of type `${type.name}'. Definition values: ${let t = builtins.tryEval (toJSON (head bad)); in if t.success then t.value else "<unprintable>"}"
    else type.merge path vs;

  one = path: vs:
    if length vs == 1 || filter (v: v != head vs) vs == [ ] then head vs
    else throw "The option `${show path}' has conflicting definition values.";

  mkType = name: check: { inherit name check; merge = one; };
  types = rec {
    anything = { name = "anything"; check = _: true; merge = path: vs: if length vs > 1 && filter (v: !isAttrs v) vs == [ ] then foldl' lib.recursiveUpdate { } vs else if length vs > 1 && filter (v: !isList v) vs == [ ] then concatLists vs else one path vs; };
    raw = anything; unspecified = anything;
    bool = mkType "boolean" isBool;
    int = mkType "signed integer" isInt;
    str = mkType "string" isString;
    singleLineStr = str; nonEmptyStr = mkType "non-empty string" (v: isString v && v != "");
    lines = { name = "strings concatenated with \"\\n\""; check = isString; merge = _: concatStringsSep "\n"; };
    path = mkType "path" (v: isPath v || (isString v && lib.hasPrefix "/" v) || lib.isDerivation v);
    package = mkType "package" (v: lib.isDerivation v || (isString v && lib.hasPrefix builtins.storeDir v));
    port = mkType "16 bit unsigned integer; between 0 and 65535 (both inclusive)" (v: isInt v && v >= 0 && v <= 65535);
    ints = {
      positive = mkType "positive integer, meaning >0" (v: isInt v && v > 0);
      unsigned = mkType "unsigned integer, meaning >=0" (v: isInt v && v >= 0);
      between = a: b: mkType "integer between ${toString a} and ${toString b} (both inclusive)" (v: isInt v && v >= a && v <= b);
    };
    enum = vs: mkType "one of ${lib.concatMapStringsSep ", " toJSON vs}" (v: elem v vs);
    attrs = { name = "attribute set"; check = isAttrs; merge = _: foldl' (a: b: a // b) { }; };
    nullOr = t: { name = "null or ${t.name}"; check = v: v == null || t.check v; merge = path: vs: let r = filter (v: v != null) vs; in if r == [ ] then null else t.merge path r; };
    listOf = t: { name = "list of ${t.name}"; check = isList; merge = path: vs: map (v: mergeDefs (path ++ [ "*" ]) t [ v ]) (concatLists vs); };
    attrsOf = t: {
      name = "attribute set of ${t.name}"; check = isAttrs;
      merge = path: vs: let ps = concatMap pushDown vs; in
        lib.genAttrs (lib.unique (concatMap attrNames ps)) (n: mergeDefs (path ++ [ n ]) t (concatMap (p: if p ? ${n} then [ p.${n} ] else [ ]) ps));
    };
    lazyAttrsOf = attrsOf;
    either = a: b: { name = "${a.name} or ${b.name}"; check = v: a.check v || b.check v; merge = path: vs: if filter (v: !a.check v) vs == [ ] then a.merge path vs else b.merge path vs; };
    oneOf = ts: foldl' either (head ts) (builtins.tail ts);
    submodule = m: {
      name = "submodule"; check = v: isAttrs v || isFunction v;
      merge = path: vs: (evalModules { prefix = path; specialArgs.name = lib.last path; modules = lib.toList m ++ map (v: if isFunction v then v else { config = v; }) vs; }).config;
    };
  };

  evalModules = { modules, specialArgs ? { }, prefix ? [ ], check ? true }:
    let
      args = { lib = lib // self; inherit config options; } // specialArgs;
      load = m0:
        let
          f = if isPath m0 || isString m0 then import m0 else m0;
          m = if isFunction f then f (let a = builtins.functionArgs f; in if a == { } then args else args // builtins.intersectAttrs a args) else f;
        in [ m ] ++ concatMap load (m.imports or [ ]);
      all = concatMap load modules;
      structured = m: m ? config || m ? options;
      options = foldl' (lib.recursiveUpdateUntil (_: a: _: kind a == "option")) { } (map (m: m.options or { }) (filter structured all));
      defs = map (m: if structured m then m.config or { } else removeAttrs m [ "imports" "_file" "key" ]) all;
      evalTree = path: opts: raw:
        let
          ps = concatMap pushDown raw;
          unknown = filter (n: !opts ? ${n}) (concatMap attrNames ps);
          at = n: concatMap (p: if p ? ${n} then [ p.${n} ] else [ ]) ps;
        in
        if check && unknown != [ ] then throw "The option `${show (path ++ [ (head unknown) ])}' does not exist."
        else mapAttrs
          (n: o:
            if kind o == "option" then
              let v = mergeDefs (path ++ [ n ]) (o.type or types.anything) (at n ++ lib.optional (o ? default) (mkOverride 1500 o.default));
              in if o ? apply then o.apply v else v
            else evalTree (path ++ [ n ]) o (at n))
          opts;
      config = evalTree prefix options defs;
    in { inherit config options; };

  self = {
    inherit mkIf mkMerge mkOverride types evalModules;
    mkOption = a: a // { _type = "option"; };
    mkEnableOption = n: { _type = "option"; type = types.bool; default = false; example = true; description = "Whether to enable ${n}."; };
    mkPackageOption = pkgs: n: { default ? n, ... }: { _type = "option"; type = types.package; default = lib.attrByPath (lib.toList default) (throw "mkPackageOption: ${toString default}") pkgs; description = "The ${toString n} package to use."; };
    mkDefault = mkOverride 1000;
    mkForce = mkOverride 50;
    mkVMOverride = mkOverride 10;
    literalExpression = text: { _type = "literalExpression"; inherit text; };
    literalMD = text: { _type = "literalMD"; inherit text; };
  };
in
self
