# Environments in one directory, by name. The links are relative: a store may lie below a directory.
{ pkgs, environments }:
pkgs.runCommand "sandboxes" { preferLocalBuild = true; } ("mkdir $out\n" + pkgs.lib.concatStrings (pkgs.lib.mapAttrsToList
  (name: artifact: ''
    ln -s ../${baseNameOf "${artifact}"} $out/${pkgs.lib.escapeShellArg name}
  '')
  environments))
