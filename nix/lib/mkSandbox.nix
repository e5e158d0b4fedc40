# The function that flakes written for nix-sandbox-mcp call, with its arguments and a few more. mkEnvironment is the
# general form, for programs that are none of the three interpreters and for images.
{ pkgs
, name
, packages
, interpreter_type ? null # or 'interpreter'
, interpreter ? null # a command line: "python3 -c", "bash -s", "lua -"
, stdinMode ? null # "arg": code is the last argument; "pipe": its input; null: as the command line looks
, timeout_seconds ? 30
, memory_mb ? null # 512
, description ? ""
, network ? "none"
, env ? { }
, backend ? "jail"
, warm ? null
, preload ? [ ]
, inheritVars ? [ ] # these three were planned there, and are the user's to say here
, projectMount ? null
, backendOptions ? { }
, igloo ? null
}@arguments:
let
  inherit (builtins) elem elemAt filter head isString length split;

  fail = what: throw "environment '${name}': ${what}";

  words = if isString interpreter then filter (word: isString word && word != "") (split " " interpreter) else interpreter;
  flags = { python = [ "-c" "-" ]; node = [ "-e" "-" ]; bash = [ "-c" "-s" ]; };
  languages = { python3 = "python"; python = "python"; node = "node"; bash = "bash"; };
  language = languages.${head words} or null;
  last = elemAt words (length words - 1);
  # igloo keeps these alive, and gives them a file, which comes to the same.
  known = language != null && (length words == 1 || (length words == 2 && elem last flags.${language}));
  code =
    if stdinMode == "arg" then "argument"
    else if stdinMode == "pipe" then "input"
    else if elem last [ "-c" "-e" ] then "argument"
    else "input";
  started =
    if interpreter_type != null || interpreter == null then { inherit interpreter_type; }
    else if known then { interpreter_type = language; }
    else { interpreter = words; inherit code; };

  checked =
    if interpreter_type == null && (interpreter == null || words == [ ]) then fail "it needs interpreter_type or interpreter"
    else if !elem stdinMode [ null "arg" "pipe" ] then fail "'stdinMode' is \"arg\" or \"pipe\""
    else if inheritVars != [ ] then
      fail "'inheritVars' is for the user to say, whose variables they are: [environments.${name}] inherit_env.vars in config.toml"
    else if projectMount != null && projectMount != "/project" then
      fail "'projectMount' is for the user to say: [project] mount_point in config.toml, or PROJECT_MOUNT"
    else if backendOptions != { } then fail "igloo's walls have no 'backendOptions': limits, variables and the network are arguments of their own"
    else started;
in
# Defaults are mkEnvironment's; they stand above so that a misspelt argument is an error, and for the reader.
import ./mkEnvironment.nix (removeAttrs arguments
  [ "interpreter_type" "interpreter" "stdinMode" "inheritVars" "projectMount" "backendOptions" ] // checked)
