# The part of nixpkgs' lib that this project uses, written from its documented behaviour: same names, same order of
# arguments. What is missing is an error of evaluation, so what the project uses of lib stays known.
let
  inherit (builtins)
    attrNames attrValues concatLists concatStringsSep elem elemAt filter foldl' genList head isAttrs isFunction isList
    isString length listToAttrs map mapAttrs match replaceStrings stringLength substring tail toString;
  base = rec {
    inherit (builtins)
      all any attrNames attrValues concatLists concatMap concatStringsSep elem elemAt filter foldl' fromJSON functionArgs
      genList getAttr hasAttr head isAttrs isBool isFunction isInt isList isString length listToAttrs map mapAttrs
      match readFile removeAttrs replaceStrings seq deepSeq sort split stringLength substring tail toJSON toString
      genericClosure intersectAttrs isPath pathExists readDir trace tryEval typeOf fromTOML;

    version = "25.11.hostpkgs";
    trivial = { release = "25.11"; version = "25.11.hostpkgs"; };

    id = x: x;
    const = x: _: x;
    flip = f: a: b: f b a;
    pipe = foldl' (x: f: f x);
    min = a: b: if a < b then a else b;
    max = a: b: if a > b then a else b;
    warn = msg: v: builtins.trace "warning: ${msg}" v;
    warnIf = c: msg: if c then warn msg else id;
    throwIf = c: msg: if c then throw msg else id;
    throwIfNot = c: throwIf (!c);
    assertMsg = c: msg: c || throw msg;

    optional = c: x: if c then [ x ] else [ ];
    optionals = c: x: if c then x else [ ];
    optionalAttrs = c: x: if c then x else { };
    optionalString = c: x: if c then x else "";
    singleton = x: [ x ];
    toList = x: if isList x then x else [ x ];
    last = l: elemAt l (length l - 1);
    init = l: genList (elemAt l) (length l - 1);
    take = n: l: genList (elemAt l) (min n (length l));
    drop = n: l: genList (i: elemAt l (i + n)) (max 0 (length l - n));
    range = a: b: if a > b then [ ] else genList (i: a + i) (b - a + 1);
    reverseList = l: genList (i: elemAt l (length l - 1 - i)) (length l);
    flatten = x: if isList x then concatLists (map flatten x) else [ x ];
    unique = foldl' (acc: x: if elem x acc then acc else acc ++ [ x ]) [ ];
    remove = x: filter (y: y != x);
    subtractLists = a: filter (x: !elem x a);
    foldr = f: z: l: if l == [ ] then z else f (head l) (foldr f z (tail l));
    zipListsWith = f: a: b: genList (i: f (elemAt a i) (elemAt b i)) (min (length a) (length b));
    imap0 = f: l: genList (i: f i (elemAt l i)) (length l);
    imap1 = f: l: genList (i: f (i + 1) (elemAt l i)) (length l);
    findFirst = p: d: l: let r = filter p l; in if r == [ ] then d else head r;
    partition = builtins.partition;
    groupBy = builtins.groupBy;

    nameValuePair = name: value: { inherit name value; };
    genAttrs = names: f: listToAttrs (map (n: nameValuePair n (f n)) names);
    mapAttrs' = f: s: listToAttrs (map (n: f n s.${n}) (attrNames s));
    mapAttrsToList = f: s: map (n: f n s.${n}) (attrNames s);
    filterAttrs = p: s: listToAttrs (concatLists (map (n: if p n s.${n} then [ (nameValuePair n s.${n}) ] else [ ]) (attrNames s)));
    concatMapAttrs = f: s: foldl' (a: b: a // b) { } (mapAttrsToList f s);
    attrByPath = p: d: s: if p == [ ] then s else if isAttrs s && s ? ${head p} then attrByPath (tail p) d s.${head p} else d;
    hasAttrByPath = p: s: p == [ ] || (isAttrs s && s ? ${head p} && hasAttrByPath (tail p) s.${head p});
    getAttrFromPath = p: s: foldl' (a: n: a.${n} or (throw "cannot find attribute '${concatStringsSep "." p}'")) s p;
    setAttrByPath = p: v: if p == [ ] then v else { ${head p} = setAttrByPath (tail p) v; };
    getAttrs = names: s: genAttrs names (n: s.${n});
    recursiveUpdateUntil = stop: l: r:
      let go = path: a: b:
        a // mapAttrs (n: v: if a ? ${n} && isAttrs a.${n} && isAttrs v && !(stop (path ++ [ n ]) a.${n} v) then go (path ++ [ n ]) a.${n} v else v) b;
      in go [ ] l r;
    recursiveUpdate = recursiveUpdateUntil (_: _: _: false);
    isDerivation = x: isAttrs x && (x.type or null) == "derivation";
    foldAttrs = f: z: l: foldr (n: a: foldr (name: o: o // { ${name} = f n.${name} (a.${name} or z); }) a (attrNames n)) { } l;
    zipAttrsWith = builtins.zipAttrsWith;

    concatStrings = concatStringsSep "";
    concatMapStrings = f: l: concatStrings (map f l);
    concatMapStringsSep = sep: f: l: concatStringsSep sep (map f l);
    concatLines = concatMapStrings (s: s + "\n");
    hasPrefix = p: s: substring 0 (stringLength p) s == p;
    hasSuffix = x: s: let n = stringLength s; m = stringLength x; in n >= m && substring (n - m) m s == x;
    hasInfix = i: s: match ".*${escapeRegex i}.*" s != null;
    removePrefix = p: s: if hasPrefix p s then substring (stringLength p) (stringLength s - stringLength p) s else s;
    removeSuffix = x: s: if hasSuffix x s then substring 0 (stringLength s - stringLength x) s else s;
    escapeRegex = replaceStrings [ "\\" "." "*" "+" "?" "(" ")" "[" "]" "{" "}" "^" "$" "|" ] [ "\\\\" "\\." "\\*" "\\+" "\\?" "\\(" "\\)" "\\[" "\\]" "\\{" "\\}" "\\^" "\\$" "\\|" ];
    splitString = sep: s: filter isString (builtins.split (escapeRegex sep) s);
    escapeShellArg = a: let s = toString a; in
      if match "[[:alnum:],._+:@%/-]+" s == null then "'${replaceStrings [ "'" ] [ "'\\''" ] s}'" else s;
    escapeShellArgs = concatMapStringsSep " " escapeShellArg;
    stringToCharacters = s: genList (i: substring i 1 s) (stringLength s);
    toUpper = replaceStrings (stringToCharacters "abcdefghijklmnopqrstuvwxyz") (stringToCharacters "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    toLower = replaceStrings (stringToCharacters "ABCDEFGHIJKLMNOPQRSTUVWXYZ") (stringToCharacters "abcdefghijklmnopqrstuvwxyz");
    trim = s: let m = match "[[:space:]]*(.*[^[:space:]])?[[:space:]]*" s; in if m == null || head m == null then "" else head m;
    boolToString = b: if b then "true" else "false";
    versionOlder = a: b: builtins.compareVersions b a == 1;
    versionAtLeast = a: b: !versionOlder a b;
    getName = x: x.pname or (builtins.parseDrvName (x.name or x)).name;
    getVersion = x: x.version or (builtins.parseDrvName (x.name or x)).version;
    makeSearchPath = sub: ps: concatStringsSep ":" (map (p: "${p}/${sub}") (filter (p: p != null) ps));
    makeBinPath = makeSearchPath "bin";
    makeLibraryPath = makeSearchPath "lib";
    getExe = x: getExe' x (x.meta.mainProgram or (getName x));
    getExe' = x: bin: "${getBin x}/bin/${bin}";
    getBin = x: x.bin or x.out or x;
    getLib = x: x.lib or x.out or x;
    getDev = x: x.dev or x.out or x;
    getOutput = o: x: x.${o} or x.out or x;

    fix = f: let x = f x; in x;
    extends = overlay: f: final: let prev = f final; in prev // overlay final prev;
    composeExtensions = f: g: final: prev: let a = f final prev; in a // g final (prev // a);
    composeManyExtensions = foldr composeExtensions (_: _: { });
    makeOverridable = f: args:
      let r = f args; in
      if isAttrs r then r // { override = new: makeOverridable f (args // (if isFunction new then new args else new)); } else r;
    callPackageWith = scope: fn: args:
      let f = if isFunction fn then fn else import fn; in
      makeOverridable f (builtins.intersectAttrs (builtins.functionArgs f) scope // args);

    fileset = import ./fileset.nix;
    cleanSource = root: fileset.toSource { inherit root; fileset = root; };
    cmakeFeature = name: value: "-D${name}:STRING=${value}";
    cmakeBool = name: value: "-D${name}:BOOL=${if value then "TRUE" else "FALSE"}";

    licenses = genAttrs [ "mit" "asl20" "gpl3Only" "gpl3Plus" "lgpl21Plus" "bsd3" ] (n: { shortName = n; });
    platforms = { linux = [ "x86_64-linux" "aarch64-linux" ]; };
    systems = { flakeExposed = [ "x86_64-linux" "aarch64-linux" ]; };
    meta = { inherit getExe; };
    lists = { inherit optional optionals flatten unique; };
    strings = { inherit concatStringsSep escapeShellArg hasPrefix; };
  };
in
base // (import ./modules.nix base)
