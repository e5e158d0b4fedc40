# 'nix flake check': what is built is right. Environments that take long to build (compilers, python-data) are in
# 'packages' and not here; the checks look at all of them by evaluation.
{ pkgs, self, packages }:
let
  inherit (pkgs) lib;

  # name: file, then what jq must find true of it.
  look = name: file: conditions: pkgs.runCommand "check-${name}" { nativeBuildInputs = [ pkgs.jq ]; } (lib.concatMapStrings
    (condition: ''
      jq -e ${lib.escapeShellArg condition} ${file} >/dev/null || {
        echo ${lib.escapeShellArg "not so: ${condition}"} >&2
        cat ${file} >&2
        exit 1
      }
    '')
    conditions + "touch $out\n");

  promises = name: results:
    let broken = lib.attrNames (lib.filterAttrs (_: kept: kept != true) results); in
    if broken == [ ] then pkgs.runCommand "check-${name}" { } "touch $out"
    else throw "${name}: not kept: ${lib.concatStringsSep ", " broken}";

  isArtifact = name: [
    ".schema == 1"
    ".name == \"${name}\""
    ".root | startswith(\"/nix/store/\")"
    ".closure | startswith(\"/nix/store/\") and endswith(\"/store-paths\")"
    ".timeout_seconds >= 30 and .memory_mb >= 512"
  ];
in
{
  igloo = packages.igloo;
  default = packages.default;
  test-sandbox = packages.test-sandbox;

  metadata-shell = look "metadata-shell" "${packages.shell}/metadata.json" (isArtifact "shell" ++ [
    ".interpreter_type == \"bash\" and .aliases == [\"bash\"] and (has(\"interpreter\") | not)"
  ]);
  metadata-python = look "metadata-python" "${packages.python}/metadata.json" (isArtifact "python" ++ [
    ".interpreter_type == \"python\" and .env.PYTHONPATH == \"/workspace\""
  ]);
  metadata-node = look "metadata-node" "${packages.node}/metadata.json" (isArtifact "node" ++ [
    ".interpreter_type == \"node\" and .aliases == [\"javascript\", \"js\"]"
  ]);
  metadata-apisix = look "metadata-apisix" "${packages.apisix}/metadata.json" [
    ".schema == 1 and .name == \"apisix\" and (.image | startswith(\"docker.io/apache/apisix:\"))"
    "[has(\"root\", \"closure\", \"interpreter_type\")] | any | not"
  ];

  # The closure is complete, and what stands beside metadata.json only starts igloo.
  artifact = pkgs.runCommand "check-artifact" { nativeBuildInputs = [ pkgs.jq ]; } ''
    closure=$(jq -r .closure ${packages.shell}/metadata.json)
    root=$(jq -r .root ${packages.shell}/metadata.json)
    grep -qx "$root" "$closure"
    grep -q -- '-bash-' "$closure"
    for program in bash jq tree file bc grep sed awk find diff ls; do test -x "$root/bin/$program"; done
    [ "$(sed 1d ${packages.shell}/bin/run)" = 'exec igloo run --artifact ${packages.shell} "$@"' ]
    [ "$(sed 1d ${packages.shell}/bin/session-run)" = 'exec igloo session-agent --artifact ${packages.shell} "$@"' ]
    touch $out
  '';

  # igloo finds what stands beside its own program: files, not a script around it.
  bundle = pkgs.runCommand "check-bundle" { } ''
    test -f ${packages.default}/bin/igloo
    test ! -L ${packages.default}/bin/igloo
    grep -qF ${lib.getBin pkgs.passt}/bin/pasta ${packages.igloo}/libexec/igloo/igloo-core
    test -x ${lib.getBin pkgs.passt}/bin/pasta
    cmp ${packages.igloo}/bin/igloo ${packages.default}/bin/igloo
    for name in shell python node; do test -f ${packages.default}/share/igloo/environments/$name/metadata.json; done
    test "$(ls ${packages.default}/share/igloo/environments | wc -l)" = 3
    touch $out
  '';

  server =
    let
      server = self.lib.mkServer { inherit pkgs; config = ../tests/nix/server.toml; inherit (packages) igloo; };
      inherit (self.lib.fromToml { inherit pkgs; config = ../tests/nix/server.toml; }) environments;
    in
    pkgs.runCommand "check-server" { nativeBuildInputs = [ pkgs.jq ]; } ''
      config=${server}/share/igloo/config.toml
      grep -qF '"timeout_seconds" = 60' $config
      grep -qF '"path" = "${environments.data}"' $config
      # Named by its section alone: the bundled artifact of that name has a time of its own.
      grep -qF '"path" = "${environments.shell}"' $config
      test "$(jq .timeout_seconds ${environments.shell}/metadata.json)" = 20
      test "$(grep -c '"path"' $config)" = 2
      test "$(ls ${server}/share/igloo/environments | tr '\n' ' ')" = "python shell "
      touch $out
    '';

  functions = promises "functions" (import ../tests/nix/functions.nix { inherit pkgs; });
  modules = promises "modules" (import ../tests/nix/modules.nix { inherit lib; });
}
