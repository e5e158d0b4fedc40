# An environment as a store path: metadata.json, which says what is in it and how code is started, and the list of the
# store paths that its sandboxes see. It is data; igloo builds the wall when code runs. See mkMetadata.nix for what
# the arguments mean.
#
# bin/run (code on standard input) and bin/session-run are there for those who start artifacts by hand, as with
# nix-sandbox-mcp. They only call igloo: the one given here, otherwise the one in PATH, so that a new igloo is no
# reason to build every environment again.
#
# image, instead of packages: a name in a registry. Nix fetches none: igloo makes the environment from it when the user
# has pulled it.
{ pkgs, name, packages ? null, image ? null, igloo ? null, ... }@arguments:
let
  inherit (pkgs) lib;

  settings = removeAttrs arguments [ "pkgs" "packages" "image" "igloo" ];

  # A shell and the basic programs are always there.
  contents = packages ++ [ pkgs.bash pkgs.coreutils ];

  root = pkgs.buildEnv {
    name = "sandbox-root-${name}";
    paths = contents;
    pathsToLink = [ "/bin" "/etc" "/lib" "/share" ];
    # Tools overlap ('hostname' of two packages); the earlier one counts, as in a PATH.
    ignoreCollisions = true;
  };
  closure = pkgs.closureInfo { rootPaths = [ root ] ++ contents; };

  metadata = import ./mkMetadata.nix (settings // (
    if image != null then { inherit image; }
    else { root = "${root}"; closure = "${closure}/store-paths"; }
  ));

  program = if igloo == null then "igloo" else lib.getExe' igloo "igloo";

  # A path of the source becomes one of the store.
  isPackage = each: builtins.isPath each || (builtins.isAttrs each && each ? outPath)
    || (builtins.isString each && builtins.substring 0 (builtins.stringLength store) each == store);
  store = "${builtins.storeDir}/";
  wrong = builtins.head (builtins.filter (each: !isPackage each) packages);
  fail = what: throw "environment '${name}': 'packages' is a list${what}";
  checked =
    if image != null then
      (if packages == null then metadata else throw "environment '${name}': it has 'packages' or 'image', not both")
    else if packages == null then fail "; it, or 'image', is missing"
    else if !builtins.isList packages then fail ""
    else if !builtins.all isPackage packages then
      fail " of packages, and ${if builtins.isString wrong then builtins.toJSON wrong else "a ${builtins.typeOf wrong}"} is none"
    else metadata;
in
# What is wrong with the name is said before it is used.
builtins.seq metadata (pkgs.runCommand "sandbox-${name}"
{
  metadata = builtins.toJSON checked;
  passAsFile = [ "metadata" ];
  # A few links and lines: asking a cache for them takes longer than making them.
  preferLocalBuild = true;
  allowSubstitutes = false;
  passthru = (if image == null then { inherit root closure packages; } else { }) // {
    # Not 'meta', which is a derivation's own.
    manifest = checked;
  };
  meta = {
    description = checked.description or "Sandbox environment ${name}";
    platforms = lib.platforms.linux;
  };
} ''
  mkdir -p $out/bin
  cp "$metadataPath" $out/metadata.json

  printf '#!%s\nexec %s run --artifact %s "$@"\n' ${pkgs.runtimeShell} ${lib.escapeShellArg program} $out > $out/bin/run
  printf '#!%s\nexec %s session-agent --artifact %s "$@"\n' ${pkgs.runtimeShell} ${lib.escapeShellArg program} $out > $out/bin/session-run
  chmod 755 $out/bin/run $out/bin/session-run
'')
