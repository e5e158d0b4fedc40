# The table of all configuration keys, as igloo itself has it (src/config/keys.cc). keys.json is written by
# 'igloo config keys --json' and compared with it in the tests, so that the table is written once.
let
  table = builtins.fromJSON (builtins.readFile ./keys.json);
  byPath = rows: builtins.listToAttrs (map (row: { name = row.path; value = row; }) rows);
in
{
  keys = byPath table.keys;
  sections = map (row: row.path) table.sections;
  # In the order of the table, for what is shown to people.
  rows = table.keys;
  descriptions = builtins.mapAttrs (_: row: row.description) (byPath table.sections);
}
