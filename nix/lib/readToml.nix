# A TOML file as an attribute set, with what igloo's own reader refuses refused here as well.
file:
let
  inherit (builtins) fromTOML length readFile split stringLength;

  text = readFile file;
  # A zero byte ends a text in older versions of Nix, silently. Its letters may also stand in a literal text, where they
  # mean nothing of the kind; nobody has missed them there.
  zero = length (split "\\\\(u0000|U00000000)" text) > 1;
in
if stringLength text > 1048576 then throw "${toString file}: the file is larger than a megabyte"
else if zero then throw "${toString file}: a text holds a zero byte"
else fromTOML text
