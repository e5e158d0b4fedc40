# What the modules with older names refuse.
{ lib }:
rec {
  refuse = wrong: message: { assertion = !wrong; inherit message; };

  isToml = file: file == null || lib.hasSuffix ".toml" (toString file);
  # Only the program 'sandbox-mcp' reads that, from a place of its own.
  refuseJson = option: file: instead: refuse (!isToml file)
    "${option}: this is igloo's config.toml, not sandbox-mcp's JSON; ${instead}.";
}
