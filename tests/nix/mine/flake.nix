# What somebody else's flakes may give igloo: an environment of Node with no word about its memory, and an artifact as
# nix-sandbox-mcp made them, with four fields and a program of its own.
{
  inputs = {
    igloo.url = "path:/igloo"; # the tests put theirs in its place
    nixpkgs.follows = "igloo/nixpkgs";
  };

  outputs = { self, igloo, nixpkgs }:
    let pkgs = nixpkgs.legacyPackages.x86_64-linux; in
    {
      packages.x86_64-linux = {
        node = igloo.lib.mkSandbox {
          inherit pkgs;
          name = "plain-node";
          interpreter_type = "node";
          packages = [ pkgs.nodejs ];
        };

        original = pkgs.runCommand "sandbox-original"
          {
            metadata = builtins.toJSON { name = "original"; interpreter_type = "bash"; timeout_seconds = 30; memory_mb = 512; };
            passAsFile = [ "metadata" ];
          } ''
          mkdir -p $out/bin
          cp "$metadataPath" $out/metadata.json
          # What igloo never starts: it only tells Nix what the artifact needs.
          printf '#!%s\nPATH=%s exec false\n' ${pkgs.bash}/bin/bash ${pkgs.coreutils}/bin > $out/bin/run
          chmod 755 $out/bin/run
        '';
      };
    };
}
