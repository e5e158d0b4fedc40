# igloo's package together with environments, and with a configuration if one is given. The files are copied: igloo
# looks beside its own program for share/igloo, so no script has to tell it where they are.
{ pkgs, igloo, environments, config ? null, name ? "igloo-${igloo.version or "dev"}", mainProgram ? "igloo" }:
let inherit (pkgs) lib; in
pkgs.runCommand name
{
  preferLocalBuild = true;
  passthru = { inherit igloo environments; inherit (igloo) version; };
  meta = (igloo.meta or { }) // { inherit mainProgram; };
} (''
  cp -a ${igloo}/. $out
  chmod -R u+w $out
  mkdir -p $out/share/igloo/environments
'' + lib.concatStrings (lib.mapAttrsToList
  # Relative: a store may lie below a directory, where "/nix/store" is not what it seems to be from outside.
  (name: artifact: ''
    ln -s ../../../../${baseNameOf "${artifact}"} $out/share/igloo/environments/${lib.escapeShellArg name}
  '')
  environments)
+ lib.optionalString (config != null) ''
  cp ${config} $out/share/igloo/config.toml
'')
