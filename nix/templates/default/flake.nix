{
  description = "My own sandbox environments for igloo";

  inputs = {
    igloo.url = "flake:igloo"; # what 'nix registry add igloo FLAKE' named; or write FLAKE here, as "path:/home/me/igloo"
    nixpkgs.follows = "igloo/nixpkgs";
  };

  # igloo env add .#data-science
  # or: nix build .#data-science --out-link ~/.config/igloo/environments/data-science
  outputs = { self, igloo, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      forAllSystems = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = forAllSystems (pkgs: {
        data-science = igloo.lib.mkSandbox {
          inherit pkgs;
          name = "data-science";
          description = "Python with numpy, pandas and requests";
          interpreter_type = "python";
          packages = [ (pkgs.python3.withPackages (ps: [ ps.numpy ps.pandas ps.requests ])) ];
          timeout_seconds = 60;
          memory_mb = 1024;
          # Interpreters that wait have loaded these already.
          preload = [ "numpy" "pandas" ];
        };

        nix-tools = igloo.lib.mkSandbox {
          inherit pkgs;
          name = "nix-tools";
          description = "Bash with tools to look through Nix code";
          interpreter_type = "bash";
          packages = with pkgs; [ ripgrep fd jq yq-go tree nix ];
        };
      });
    };
}
