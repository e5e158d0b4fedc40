{
  description = "Igloo: runs code that language models write, in sandboxes; environments as Nix closures";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [ "x86_64-linux" "aarch64-linux" ];
      pkgsFor = system: nixpkgs.legacyPackages.${system};
      forAllSystems = make: lib.genAttrs systems (system: make (pkgsFor system));
      systemOf = pkgs: pkgs.stdenv.hostPlatform.system;

      # Every place that makes something of a set of packages, with any nixpkgs that a user brings.
      parts = pkgs: import ./nix/packages.nix { inherit pkgs; };
    in
    {
      lib = import ./nix/lib { inherit lib systems pkgsFor; };

      packages = forAllSystems (pkgs: (parts pkgs).packages);

      # 'nix build .#presets.python' as with nix-sandbox-mcp: 'packages' itself must be flat. Asked for another system,
      # Nix comes here last, so this is where to say why there is nothing.
      legacyPackages = forAllSystems (pkgs: { inherit (parts pkgs) presets; })
        // lib.genAttrs [ "x86_64-darwin" "aarch64-darwin" ] (system: throw ''
        Igloo needs Linux: its walls are namespaces, seccomp and cgroups of the Linux kernel, and ${system} has none.
        Run it in a Linux machine, for example with Lima or UTM.'');

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

      checks = forAllSystems (pkgs: import ./nix/checks.nix { inherit pkgs self; packages = self.packages.${systemOf pkgs}; });

      devShells = forAllSystems (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${systemOf pkgs}.igloo ];
          packages = with pkgs; [ jq shellcheck bubblewrap ];
        };
      });

      formatter = forAllSystems (pkgs: pkgs.nixfmt);

      templates.default = {
        path = ./nix/templates/default;
        description = "Your own sandbox environments: data-science and nix-tools";
      };
    };
}
