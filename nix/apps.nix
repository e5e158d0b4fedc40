# 'nix run .#NAME': the names under which igloo answers.
{ lib, packages }:
let
  app = package: { type = "app"; program = lib.getExe package; meta.description = package.meta.description or "Igloo"; };
in
{
  default = app packages.default;
  igloo = app packages.default;
  nix-sandbox-mcp = app packages.nix-sandbox-mcp;
  sandbox-mcp = app packages.sandbox-mcp;
}
