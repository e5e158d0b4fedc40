# Everything that is built, of one set of packages: for the flake, the overlay and default.nix alike.
{ pkgs }:
let
  inherit (pkgs) lib;
  sets = import ./presets/sets.nix;

  igloo = pkgs.callPackage ./package.nix { };
  presets = import ./environments.nix { inherit pkgs; };

  bring = mainProgram: names: import ./lib/withEnvironments.nix {
    inherit pkgs igloo mainProgram;
    environments = lib.getAttrs names presets;
  };
in
{
  inherit presets;

  packages = presets // {
    # The program alone: environments are the host's, or come from a configuration.
    inherit igloo;
    daemon = igloo; # its name in nix-sandbox-mcp's flake

    default = bring "igloo" sets.nix-sandbox-mcp;
    nix-sandbox-mcp = bring "nix-sandbox-mcp" sets.nix-sandbox-mcp;
    sandbox-mcp = bring "sandbox-mcp" sets.sandbox-mcp;
    full = bring "igloo" (builtins.attrNames presets);

    # All presets in one directory, to be linked to where igloo looks for artifacts.
    sandboxes = import ./lib/collect.nix { inherit pkgs; environments = presets; };

    # mkSandbox with nothing but what it needs, as nix-sandbox-mcp's flake had it.
    test-sandbox = import ./lib/mkSandbox.nix {
      inherit pkgs;
      name = "test-sandbox";
      interpreter_type = "python";
      packages = [ pkgs.python3 ];
    };

    # Every key with its meaning, and a server's block for a client that has JSON: to be copied and changed.
    example-config = pkgs.runCommand "igloo-example-config"
      {
        preferLocalBuild = true;
        client = builtins.toJSON { mcpServers.igloo = { command = "igloo"; args = [ "mcp" ]; }; };
        passAsFile = [ "client" ];
      } ''
      mkdir -p $out
      cp ${../config.example.toml} $out/config.toml
      cp "$clientPath" $out/mcp.json
    '';

    docs = pkgs.runCommand "igloo-docs" { preferLocalBuild = true; } ''
      mkdir -p $out/share/doc/igloo
      cp -r ${../docs}/. $out/share/doc/igloo
      cp ${../README.md} $out/share/doc/igloo/README.md
      cp ${../config.example.toml} $out/share/doc/igloo/config.example.toml
    '';
  };
}
