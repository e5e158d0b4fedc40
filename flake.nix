{
  description = "Igloo: runs code that language models write, in sandboxes; environments as Nix closures";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [ "x86_64-linux" "aarch64-linux" ];
      pkgsFor = system: nixpkgs.legacyPackages.${system};
      forAllSystems = make: lib.genAttrs systems (system: make (pkgsFor system));
      forOtherSystems = lib.genAttrs [ "x86_64-darwin" "aarch64-darwin" ];
      needsLinux = system: "Igloo needs Linux: its walls are made of namespaces, seccomp and cgroups, which ${system} has not. Run it in a Linux machine, with Lima for example.";
      systemOf = pkgs: pkgs.stdenv.hostPlatform.system;

      # Every place that makes something of a set of packages, with any nixpkgs that a user brings.
      parts = pkgs: import ./nix/packages.nix { inherit pkgs; };
    in
    {
      lib = import ./nix/lib { inherit lib systems pkgsFor; };

      packages = forAllSystems (pkgs: (parts pkgs).packages)
        # An error of evaluation would stand in the way of 'nix flake check', which looks at all systems.
        // forOtherSystems (system: {
        default = derivation {
          name = "igloo-needs-linux";
          inherit system;
          builder = "/bin/sh";
          args = [ "-c" "echo '${needsLinux system}' >&2; exit 1" ];
        };
      });

      # 'nix build .#presets.python' as with nix-sandbox-mcp: 'packages' itself must be flat. Nix comes here last, so
      # this is where to say why another system has nothing.
      legacyPackages = forAllSystems (pkgs: { inherit (parts pkgs) presets; })
        // forOtherSystems (system: throw (needsLinux system));

      apps = forAllSystems (pkgs: import ./nix/apps.nix { inherit lib; packages = self.packages.${systemOf pkgs}; });

      # 'final', not 'prev': the environments come from the same packages as everything else of the user's.
      overlays.default = final: _: {
        igloo = (parts final).packages.default;
        igloo-environments = (parts final).presets;
      };

      nixosModules = {
        default = import ./nix/modules/nixos.nix self;
        manager = import ./nix/modules/manager.nix self;
      };
      homeModules.default = import ./nix/modules/home.nix self;
      homeManagerModules = self.homeModules; # its name in sandbox-mcp's flake

      checks = forAllSystems (pkgs: import ./nix/checks.nix { inherit pkgs self; packages = self.packages.${systemOf pkgs}; });

      # To look at with 'nix eval', as in nix-sandbox-mcp's flake.
      debug = forAllSystems (pkgs: {
        fromToml = config: self.lib.fromToml { inherit pkgs config; };
        metadata = lib.mapAttrs (_: artifact: artifact.manifest) (parts pkgs).presets;
        environments = (parts pkgs).presets;
        presets = self.lib.presets pkgs;
      });

      devShells = forAllSystems (pkgs: {
        default = import ./nix/shell.nix { inherit pkgs; inherit (self.packages.${systemOf pkgs}) igloo; };
      });

      formatter = forAllSystems (pkgs: pkgs.nixfmt);

      templates.default = {
        # With a store that lies elsewhere, Nix 2.8 takes a path for one outside of it, and newer ones miss the text's.
        path = if builtins.compareVersions builtins.nixVersion "2.9" < 0 then "${self}/nix/templates/default" else ./nix/templates/default;
        description = "Your own sandbox environments: data-science and nix-tools";
      };
    };
}
