# The function that flakes written for nix-sandbox-mcp call, with its arguments and a few more. mkEnvironment is the
# general form, for programs that are none of the three interpreters and for images.
{ pkgs
, name
, interpreter_type
, packages
, timeout_seconds ? 30
, memory_mb ? null # 512
, description ? ""
, network ? "none"
, env ? { }
, backend ? "jail"
, warm ? null
, preload ? [ ]
, igloo ? null
}@arguments:
# Defaults are mkEnvironment's; they stand above so that a misspelt argument is an error, and for the reader.
import ./mkEnvironment.nix arguments
