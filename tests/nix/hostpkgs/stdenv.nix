# stdenv.mkDerivation and what is made of it directly. stdenv-setup.sh has the phases.
{ pkgs, lib, system, ... }:
let
  platform = {
    inherit system;
    isLinux = true;
    isDarwin = false;
    isx86_64 = system == "x86_64-linux";
    isAarch64 = system == "aarch64-linux";
    parsed = { cpu.name = lib.head (lib.splitString "-" system); kernel.name = "linux"; };
  };
  setup = derivation {
    name = "stdenv-hostpkgs";
    inherit system;
    builder = "${pkgs.bash}/bin/bash";
    PATH = lib.makeBinPath [ pkgs.coreutils ];
    # The last command must not be cp, which bash would become: Nix kills a builder that has closed its output, and
    # cp closes it before it ends.
    args = [ "-ec" "mkdir $out; cp ${./stdenv-setup.sh} $out/setup; exit 0" ];
  };
  initialPath = with pkgs; [
    coreutils findutils diffutils gnused gnugrep gawk gnutar gzip bzip2 xz gnumake bash patch patchelf
  ];
  # What a builder does not get to see: it is of the package, not of the build.
  notForBuilder = [
    "meta" "passthru" "pname" "version" "name" "env" "strictDeps" "__structuredAttrs" "enableParallelBuilding"
    "checkInputs" "nativeCheckInputs"
  ];
  devPaths = map (package: "${lib.getDev package}");

  mkDerivationWith = compiler: given:
    let
      attrs = if lib.isFunction given then lib.fix (final: given (final // { finalPackage = package; })) else given;
      name = attrs.name or "${attrs.pname}-${attrs.version}";
      checks = lib.optionals (attrs.doCheck or false) ((attrs.checkInputs or [ ]) ++ (attrs.nativeCheckInputs or [ ]));
      package = derivation
        (removeAttrs attrs notForBuilder // (attrs.env or { })
          // lib.optionalAttrs (attrs ? pname) { inherit (attrs) pname version; }
          // {
          inherit name system;
          builder = "${pkgs.bash}/bin/bash";
          args = [ "-e" ./builder.sh ];
          stdenv = setup;
          outputs = attrs.outputs or [ "out" ];
          initialPath = map toString (compiler ++ initialPath);
          nativeBuildInputs = devPaths (attrs.nativeBuildInputs or [ ]);
          buildInputs = devPaths ((attrs.buildInputs or [ ]) ++ checks);
        }) // (attrs.passthru or { }) // {
        inherit name;
        pname = attrs.pname or (lib.getName { inherit name; });
        version = attrs.version or (lib.getVersion { inherit name; });
        meta = attrs.meta or { };
        passthru = attrs.passthru or { };
        nativeBuildInputs = attrs.nativeBuildInputs or [ ];
        buildInputs = attrs.buildInputs or [ ];
        # 'change' takes the old attributes, or the final ones and the old.
        overrideAttrs = change: mkDerivationWith compiler (final:
          let
            old = if lib.isFunction given then given final else given;
            new = change old;
          in
          old // (if lib.isFunction new then change final old else new));
      };
    in
    package;
in
{
  stdenvNoCC = {
    mkDerivation = mkDerivationWith [ ];
    inherit system;
    inherit (platform) isLinux isDarwin isx86_64 isAarch64;
    hostPlatform = platform;
    buildPlatform = platform;
    targetPlatform = platform;
    shell = "${pkgs.bash}/bin/bash";
  };
  stdenv = pkgs.stdenvNoCC // { mkDerivation = mkDerivationWith [ pkgs.gcc ]; cc = pkgs.gcc; };

  mkShell = { packages ? [ ], nativeBuildInputs ? [ ], buildInputs ? [ ], inputsFrom ? [ ], name ? "nix-shell", ... }@given:
    pkgs.stdenv.mkDerivation (removeAttrs given [ "packages" "inputsFrom" ] // {
      inherit name buildInputs;
      nativeBuildInputs = nativeBuildInputs ++ packages
        ++ lib.concatMap (from: (from.nativeBuildInputs or [ ]) ++ (from.buildInputs or [ ])) inputsFrom;
      buildCommand = "export > $out";
    });
  mkShellNoCC = pkgs.mkShell;
}
