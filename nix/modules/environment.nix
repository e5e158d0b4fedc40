# Options of one environment that Nix builds: the arguments of mkEnvironment.
{ lib }:
let
  inherit (lib) mkOption types;
  optional = type: description: mkOption { type = types.nullOr type; default = null; inherit description; };
in
{
  options = {
    packages = mkOption {
      type = types.listOf types.package;
      default = [ ];
      description = "What is inside, beside bash and coreutils.";
    };
    interpreter_type = optional (types.enum [ "python" "bash" "node" ]) "An interpreter that igloo has a driver for; it offers sessions.";
    interpreter = optional (types.listOf types.str) "Or any other command, as a list of words.";
    code = optional (types.enum [ "file" "argument" "input" ]) "How it gets the code; as a file by default.";
    code_file = optional types.str "The name of that file.";
    aliases = optional (types.listOf types.str) "Other names.";
    description = optional types.str "What clients are told about it.";
    timeout_seconds = optional types.ints.positive "A run is stopped after this time; 30 by default.";
    memory_mb = optional types.ints.positive "Memory of a whole sandbox; 512 by default.";
    processes = optional types.ints.positive "Processes and threads at once.";
    open_files = optional types.ints.positive "Open files of one process.";
    warm = optional types.ints.unsigned "Interpreters of a server that wait ready.";
    preload = optional (types.listOf types.str) "Python modules that they have loaded.";
    env = optional (types.attrsOf types.str) "Variables that its code sees; no place for secrets.";
  };
}
