# Rust: one file, compiled and run. The same command as with the host's rustc (src/environment/host/rust.h).
{ pkgs }:
{
  name = "rust";
  description = "Rust: one file, compiled and run with the standard library";
  # The file comes as $1: nothing of the code is ever part of a command. In a session the compiler keeps what it made,
  # where the session's driver says.
  interpreter = [
    "bash"
    "-c"
    ''rustc --edition 2021 ''${IGLOO_CACHE:+-C incremental=$IGLOO_CACHE} -o /tmp/main -- "$1" && exec /tmp/main''
    "rust"
  ];
  code_file = "main.rs";
  # rustc links with a C compiler.
  packages = with pkgs; [ rustc cargo gcc ];
  timeout_seconds = 60;
  memory_mb = 2048;
  processes = 512;
  env.CARGO_HOME = "/workspace/.cargo";
}
