# igloo itself, with its unit tests run in the build.
{ lib
, stdenv
, cmake
, ninja
, boost
, c-ares
, fmt
, gtest
, libedit
, linuxHeaders
, musl
, openssl
, passt
, tomlplusplus
, zlib
, zstd
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "igloo";
  # One place for the version: the build reads it there, too.
  version = lib.head (builtins.match ".*project\\(igloo VERSION ([0-9.]+) .*" (lib.readFile ../CMakeLists.txt));

  # What the program and its unit tests are made of: a change of anything else builds nothing.
  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../CMakeLists.txt
      ../cmake
      ../src
      ../tests/CMakeLists.txt
      ../tests/support
      # What igloo wraps a flake's package with.
      ../nix/lib/keys.json
      ../nix/lib/keys.nix
      ../nix/lib/mkEnvironment.nix
      ../nix/lib/mkMetadata.nix
      ../nix/lib/values.nix
    ];
  };

  strictDeps = true;
  nativeBuildInputs = [ cmake ninja ];
  buildInputs = [ boost c-ares fmt libedit openssl tomlplusplus zlib zstd ];
  checkInputs = [ gtest ];

  # Not a build input: only the launcher and init are on musl, and its headers must not hide glibc's elsewhere.
  cmakeFlags = [
    (lib.cmakeFeature "IGLOO_MUSL_GCC" "${lib.getDev musl}/bin/musl-gcc")
    (lib.cmakeFeature "IGLOO_MUSL_INCLUDE" "${lib.getDev musl}/include")
    (lib.cmakeFeature "IGLOO_KERNEL_INCLUDE" "${linuxHeaders}/include")
    # What carries packets of sandboxes with a device, where PATH has none.
    (lib.cmakeFeature "IGLOO_PASTA" "${lib.getBin passt}/bin/pasta")
    (lib.cmakeFeature "IGLOO_TESTS" (if finalAttrs.doCheck then "unit" else "OFF"))
    # Of the compilers that are to come.
    (lib.cmakeBool "IGLOO_WERROR" false)
  ];

  doCheck = true;
  # The label is for tests that start programs of /usr, of which a build sandbox has none: tests/CMakeLists.txt lists
  # them, and they run wherever igloo is developed.
  checkPhase = ''
    runHook preCheck
    ctest --output-on-failure --label-exclude host
    runHook postCheck
  '';

  meta = {
    description = "Runs code that language models write inside sandboxes";
    license = lib.licenses.mit;
    mainProgram = "igloo";
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
})
