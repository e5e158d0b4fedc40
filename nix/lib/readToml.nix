# A TOML file as an attribute set, with what igloo's own reader refuses refused here as well.
file:
let
  inherit (builtins) fromTOML length readFile split stringLength substring;

  raw = readFile file;
  # Editors of Windows begin a file with it; Nix's parser does not know it.
  mark = builtins.fromJSON ''"\ufeff"'';
  marked = substring 0 (stringLength mark) raw == mark;
  text = if marked then substring (stringLength mark) (stringLength raw) raw else raw;

  # A zero byte ends a text in older versions of Nix, silently. It may also stand in a literal text, where it means
  # nothing of the kind; nobody has missed it there.
  zero = length (split "\\\\(u0000|U00000000)" text) > 1;
in
if stringLength raw > 1048576 then throw "${toString file}: the file is larger than a megabyte"
else if zero then throw "${toString file}: a text holds a zero byte"
else fromTOML text
