# What igloo brings along as Nix environments, one file each: arguments of mkEnvironment without 'pkgs'.
{ pkgs }:
let
  names = [ "shell" "python" "python-data" "node" "go" "rust" "java" "network-tools" "apisix" ];
in
pkgs.lib.genAttrs names (name: import (./. + "/${name}.nix") { inherit pkgs; })
