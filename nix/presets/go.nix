# Go: one file, compiled and run. The same command and variables as with the host's Go (src/environment/host/go.h).
{ pkgs }:
{
  name = "go";
  aliases = [ "golang" ];
  description = "Go: one file, compiled and run with the standard library";
  interpreter = [ "go" "run" ];
  code_file = "main.go";
  packages = [ pkgs.go pkgs.git ];
  # The compiler builds the standard library's packages into the cache of every fresh sandbox.
  timeout_seconds = 60;
  memory_mb = 2048;
  processes = 1024;
  env = {
    # One file without a module; nothing can be downloaded anyway.
    GO111MODULE = "off";
    GOFLAGS = "-mod=mod";
    GOPROXY = "off";
    GOTOOLCHAIN = "local";
    GOTELEMETRY = "off";
    GOPATH = "/workspace/go";
    GOCACHE = "/workspace/.cache/go-build";
    # Pure Go needs no C compiler.
    CGO_ENABLED = "0";
  };
}
