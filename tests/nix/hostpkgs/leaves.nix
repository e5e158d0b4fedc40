# Debian packages as self-contained store paths. Every input is addressed by a hash in the lock; a builder sees
# nothing of the host.
{ lock, system }:
let
  inherit (builtins) attrNames concatLists concatStringsSep map mapAttrs replaceStrings;
  libraries = "lib/x86_64-linux-gnu";

  # Something that prepare has put into the store. Its builder never runs.
  fixed = { name, hash, mode ? "flat" }: derivation {
    inherit name system;
    builder = "/bin/sh";
    args = [ "-c" "echo 'hostpkgs: ${name} is not in the store: run tests/nix/prepare' >&2; exit 1" ];
    outputHash = hash;
    outputHashAlgo = "sha256";
    outputHashMode = mode;
    preferLocalBuild = true;
  };
  deb = name: fixed { name = lock.debs.${name}.file; hash = lock.debs.${name}.sha256; };
  bootstrap = fixed { name = "hostpkgs-bootstrap"; hash = lock.bootstrap; mode = "recursive"; };
  fixups = import ./fixups.nix { inherit (lock) versions; };

  leaf = pname: group:
    let
      fix = { shell = false; post = _: ""; mainProgram = pname; } // (fixups.${pname} or { });
      own = map (directory: "${placeholder "out"}/${directory}") group.rpath;
      others = concatLists (map (n: map (directory: "${leaves.${n}}/${directory}") group.deps.${n}) (attrNames group.deps));
      isLibc = pname == "libc";
    in
    derivation
      {
        name = replaceStrings [ ":" "~" ] [ "-" "-" ] "${pname}-${group.version}";
        inherit system bootstrap;
        inherit (group) elfs exes;
        builder = "${bootstrap}/bin/busybox";
        args = [ "sh" ./import.sh ];
        debs = map deb group.debs;
        # libc's own libraries find each other without a run path, which would break its loader.
        rpath = if isLibc then "" else concatStringsSep ":" (own ++ others);
        interp = "${if isLibc then placeholder "out" else leaves.libc}/${libraries}/ld-linux-x86-64.so.2";
        depPaths = map (n: leaves.${n}) (attrNames group.deps ++ group.links);
        links = map (n: leaves.${n}) group.links;
        scriptShell = if fix.shell then "${leaves.bash}/bin/bash" else "";
        postImport = fix.post leaves;
      } // {
      inherit pname;
      inherit (group) version;
      outputName = "out";
      meta = { inherit (fix) mainProgram; };
      passthru = { };
      requiredPythonModules = map (n: leaves.${n}) group.requires;
    };

  leaves = mapAttrs leaf lock.groups;
in
leaves // { inherit bootstrap; }
