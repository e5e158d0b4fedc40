# metadata.json of an artifact, schema 1, as an attribute set: the one format that Nix writes and igloo reads
# (src/environment/artifact_metadata.cc). Pure; whatever is wrong is said here, at evaluation, and not when code runs.
#
# root: the store path whose bin is PATH. closure: a file that lists store paths, or the list itself. image: of a
# registry, instead of both.
{ name
, root ? null
, closure ? null
, image ? null
, interpreter_type ? null # python, bash or node: igloo has a driver for it, and sessions
, interpreter ? null # argv otherwise; a first word without "/" is looked up in root/bin
, code ? "file" # how the code reaches it: as a file behind argv, an argument, or input
, code_file ? null # the file's name: compilers look at its ending
, aliases ? [ ]
, description ? ""
, timeout_seconds ? 30
, memory_mb ? 512
, processes ? null
, open_files ? null
, network ? "none"
, backend ? "jail"
, warm ? null
, preload ? [ ]
, env ? { }
}@arguments:
let
  inherit (builtins) all attrNames concatMap concatStringsSep elem isInt isList isString;

  table = import ./keys.nix;
  rules = import ./values.nix { };

  types = [ "python" "bash" "node" ];
  where = if isString name then "environment '${name}'" else "an environment";
  fail = what: throw "${where}: ${what}";

  # What an environment may say about itself has the same rules as what a configuration says about it.
  byTable = {
    inherit description timeout_seconds memory_mb network backend warm preload env;
    "limits.processes" = processes;
    "limits.open_files" = open_files;
  };
  isAbsent = key: value: value == null || (key == "description" && value == "");
  tableProblems = concatMap
    (key:
      let checked = rules.check table.keys."environments.NAME.${key}" byTable.${key}; in
      if isAbsent key byTable.${key} || !(checked ? problem) then [ ] else [ checked.problem ])
    (attrNames byTable);

  isText = text: isString text && text != "";
  isTexts = list: isList list && all isText list;
  refuse = wrong: what: if wrong then [ what ] else [ ];

  problems =
    refuse (!isString name || !rules.isName name)
      "its name has up to 64 letters, digits, '.', '_' and '-', and neither '.' nor '-' comes first"
    # Not by their values: what is wrong with packages is said when they are looked at.
    ++ refuse (if image == null then !(arguments ? root && arguments ? closure) else arguments ? root || arguments ? closure)
      "it needs either 'root' and 'closure' or 'image'"
    ++ refuse (image != null && (!isText image || builtins.match "[a-zA-Z0-9].*" image == null || builtins.match "(dir|oci|oci-archive):.*" image != null))
      "'image' is a name in a registry, for example \"docker.io/library/debian:12\""
    ++ refuse (interpreter_type == null && interpreter == null && image == null) "it needs interpreter_type or interpreter"
    ++ refuse (interpreter != null && (!isTexts interpreter || interpreter == [ ]))
      "'interpreter' is a list of words, for example [ \"go\" \"run\" ]"
    ++ refuse (!elem code [ "file" "argument" "input" ]) "'code' is \"file\", \"argument\" or \"input\""
    ++ refuse (code_file != null && (!isString code_file || !rules.isName code_file))
      "'code_file' is the name of a file, for example \"main.go\""
    ++ refuse (!isList aliases || !all (alias: isString alias && rules.isName alias) aliases) "'aliases' is a list of names"
    ++ refuse (!isInt timeout_seconds) "'timeout_seconds' is a whole number"
    ++ tableProblems;

  optional = condition: value: if condition then value else { };
  given' = key: value: optional (value != null) { ${key} = value; };
in
# The words of the original, which its users may look for.
if interpreter_type != null && !elem interpreter_type types then
  throw "Unknown interpreter_type: '${toString interpreter_type}'. Must be one of: ${concatStringsSep ", " types}"
else if problems != [ ] then fail (concatStringsSep "; " problems)
else
  { schema = 1; inherit name timeout_seconds memory_mb env; }
  // (if image == null then { inherit root closure; } else { inherit image; })
  // optional (aliases != [ ]) { inherit aliases; }
  // optional (description != "") { inherit description; }
  // given' "interpreter_type" interpreter_type
  // given' "interpreter" interpreter
  // optional (code != "file") { inherit code; }
  // given' "code_file" code_file
  // given' "processes" processes
  // given' "open_files" open_files
  // optional (network != "none") { inherit network; }
  // optional (backend != "jail") { inherit backend; }
  // given' "warm" warm
  // optional (preload != [ ]) { inherit preload; }
