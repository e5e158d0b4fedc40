# The gateway Apache APISIX. nixpkgs has no package of it and Nix fetches no images, so its artifact has no store paths:
# it says which image igloo makes it from, once that is pulled. igloo has the same row (ImagePresets).
{ pkgs }:
{
  name = "apisix";
  description = "The programs of Apache APISIX 3.9 and a shell";
  image = "docker.io/apache/apisix:3.9.0-debian";
  timeout_seconds = 60;
  memory_mb = 512;
}
