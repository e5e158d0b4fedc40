# What igloo makes of a flake. `target` is the package that was asked for; where that is no
# environment itself, `environment` is one with it inside.
{ inputs, request }:
let
  inherit (request) system attribute;
  inherit (inputs) source;

  text = builtins.concatStringsSep ".";

  # { value } of what is at a path, or null.
  at = path: set:
    if path == [ ] then { value = set; }
    else if builtins.isAttrs set && builtins.hasAttr (builtins.head path) set
    then at (builtins.tail path) (builtins.getAttr (builtins.head path) set)
    else null;

  firstOf = paths: failure:
    let found = builtins.filter (each: each != null) (map (path: at path source) paths);
    in
    if found == [ ] then throw "${failure} (tried ${builtins.concatStringsSep ", " (map text paths)})"
    else (builtins.head found).value;

  asDerivation = what: value:
    if (value.type or "") == "derivation" then value
    else throw "${what} is no package: Nix cannot build it";

  below = [ [ "packages" system ] [ "legacyPackages" system ] ];
  packagePaths =
    if attribute == [ ] then [ [ "packages" system "default" ] ]
    else if builtins.length attribute == 1 then map (path: path ++ attribute) below
    else [ attribute ] ++ map (path: path ++ attribute) below;
  packageName = if attribute == [ ] then "default" else text attribute;
  package = asDerivation "'${packageName}'"
    (firstOf packagePaths "Package '${packageName}' not found in flake");

  shellPaths = [ [ "devShells" system "default" ] [ "devShell" system ] ];
  shell = firstOf shellPaths "Project flake has no devShell";
  # A shell's inputs are the outputs for compiling against; its programs are in another one.
  programsOf = input: input.bin or (input.out or input);
  shellPackages = map programsOf
    (builtins.filter builtins.isAttrs ((shell.buildInputs or [ ]) ++ (shell.nativeBuildInputs or [ ])));

  # The package set that bash and coreutils come from: the flake's own, where it has one.
  usable = found: found != null && found.value ? closureInfo;
  ofInputs = at [ "inputs" "nixpkgs" "legacyPackages" system ] source;
  ofSource = at [ "legacyPackages" system ] source;
  ofIgloo = at [ "nixpkgs" "legacyPackages" system ] inputs;
  found = builtins.filter usable [ ofInputs ofSource ofIgloo ];
  pkgs =
    if found == [ ] then throw "there is no package set for ${system} to take bash and coreutils from"
    else (builtins.head found).value;
in
{
  hasPackages = found != [ ];
  target = package;
  environment = import ./lib/mkEnvironment.nix {
    inherit pkgs;
    inherit (request) name;
    description =
      if request.kind == "shell" then "the development shell of a project"
      else package.meta.description or "the package '${packageName}' of a flake";
    interpreter_type = "bash";
    packages = (if request.kind == "shell" then shellPackages else [ package ])
      ++ [ pkgs.bash pkgs.coreutils ];
  };
}
