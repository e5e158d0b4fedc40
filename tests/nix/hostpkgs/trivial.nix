# nixpkgs' "trivial builders": texts, scripts, trees of links, closures.
{ pkgs, lib, ... }:
let
  bash = "${pkgs.bash}/bin/bash";
  inherit (pkgs) runCommand writeTextFile;
  asEntries = entries: if lib.isAttrs entries then lib.mapAttrsToList (name: path: { inherit name path; }) entries else entries;
  commandWith = stdenv: name: env: buildCommand: stdenv.mkDerivation (env // {
    inherit name buildCommand;
    passAsFile = [ "buildCommand" ] ++ (env.passAsFile or [ ]);
  });
in
{
  runCommand = commandWith pkgs.stdenvNoCC;
  runCommandLocal = name: env: runCommand name (env // { preferLocalBuild = true; allowSubstitutes = false; });
  runCommandCC = commandWith pkgs.stdenv;

  writeTextFile = { name, text, executable ? false, destination ? "", checkPhase ? "", meta ? { }, derivationArgs ? { }, ... }:
    runCommand name
      ({ inherit text executable checkPhase meta; passAsFile = [ "text" ]; preferLocalBuild = true; } // derivationArgs) ''
      target=$out${lib.escapeShellArg destination}
      mkdir -p "$(dirname "$target")"
      cp "$textPath" "$target"
      chmod 644 "$target"
      if [ -n "$executable" ]; then chmod +x "$target"; fi
      eval "$checkPhase"
    '';
  writeText = name: text: writeTextFile { inherit name text; };
  writeTextDir = path: text: writeTextFile { name = baseNameOf path; inherit text; destination = "/${path}"; };
  writeScript = name: text: writeTextFile { inherit name text; executable = true; };
  writeScriptBin = name: text:
    writeTextFile { inherit name text; executable = true; destination = "/bin/${name}"; meta.mainProgram = name; };
  writeShellScript = name: text: pkgs.writeScript name "#!${bash}\n${text}\n";
  writeShellScriptBin = name: text: pkgs.writeScriptBin name "#!${bash}\n${text}\n";
  writeShellApplication =
    { name, text, runtimeInputs ? [ ], runtimeEnv ? { }, meta ? { }, excludeShellChecks ? [ ], inheritPath ? true
    , bashOptions ? [ "errexit" "nounset" "pipefail" ], derivationArgs ? { }, ... }:
    writeTextFile {
      inherit name derivationArgs;
      executable = true;
      destination = "/bin/${name}";
      meta = { mainProgram = name; } // meta;
      text = lib.concatLines ([ "#!${bash}" ]
        ++ map (option: "set -o ${option}") bashOptions
        ++ lib.mapAttrsToList (key: value: "export ${key}=${lib.escapeShellArg value}") runtimeEnv
        ++ lib.optional (runtimeInputs != [ ])
        ''export PATH="${lib.makeBinPath runtimeInputs}${lib.optionalString inheritPath ":$PATH"}"''
        ++ [ text ]);
      checkPhase = ''
        ${bash} -n -O extglob "$target"
        ${pkgs.shellcheck}/bin/shellcheck ${lib.concatMapStringsSep " " (code: "--exclude ${code}") excludeShellChecks} "$target"
      '';
    };

  buildEnv = { name, paths, pathsToLink ? [ "/" ], ignoreCollisions ? false, postBuild ? "", meta ? { }, passthru ? { }
    , nativeBuildInputs ? [ ], ... }:
    runCommand name
      { paths = map toString (lib.flatten paths); inherit ignoreCollisions pathsToLink nativeBuildInputs meta passthru; preferLocalBuild = true; }
      ". ${./build-env.sh}\n${postBuild}";
  symlinkJoin = { name ? null, pname ? null, version ? null, paths, ... }@given:
    pkgs.buildEnv (removeAttrs given [ "pname" "version" ] // {
      name = if name != null then name else "${pname}-${version}";
      ignoreCollisions = true;
    });
  linkFarm = name: entries: runCommand name { preferLocalBuild = true; } (''
    mkdir -p $out && cd $out
  '' + lib.concatMapStrings
    (entry: ''
      mkdir -p "$(dirname ${lib.escapeShellArg entry.name})"
      ln -s ${lib.escapeShellArg "${entry.path}"} ${lib.escapeShellArg entry.name}
    '')
    (asEntries entries));

  closureInfo = { rootPaths }: runCommand "closure-info"
    {
      exportReferencesGraph = lib.concatLists (lib.imap0 (i: path: [ "graph-${toString i}" path ]) (lib.flatten [ rootPaths ]));
      preferLocalBuild = true;
    } ''
    mkdir $out
    # Records of a graph: path, deriver, number of references, the references.
    awk 'n > 0 { n--; next }
         line == 0 { print; line = 1; next }
         line == 1 { line = 2; next }
         { n = $0; line = 0 }' graph-* | sort -u > $out/store-paths
    xargs du -sb --apparent-size < $out/store-paths | awk '{ total += $1 } END { print total }' > $out/total-nar-size
  '';
  writeClosure = paths: runCommand "runtime-deps" { } "ln -s ${pkgs.closureInfo { rootPaths = paths; }}/store-paths $out";

  makeWrapper = runCommand "make-wrapper" { } ''
    mkdir -p $out/nix-support
    substitute ${./make-wrapper.sh} $out/nix-support/setup-hook --replace-fail @bash@ ${pkgs.bash}
  '';
  makeBinaryWrapper = pkgs.makeWrapper;
  emptyDirectory = runCommand "empty-directory" { } "mkdir $out";
  emptyFile = runCommand "empty-file" { } "touch $out";
  formats = lib.genAttrs [ "json" "toml" ] (kind: _: {
    type = lib.types.anything;
    # Nix has no printer of TOML, and nothing here reads what comes out: what is tested is what goes in.
    generate = name: value: pkgs.writeText name (builtins.toJSON value);
  });
}
