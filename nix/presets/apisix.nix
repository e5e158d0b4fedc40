# The gateway Apache APISIX. nixpkgs has no package of it and Nix fetches no images, so this is no artifact: igloo makes
# it from the image at run time. Here stands what a configuration says to get it.
{ pkgs }:
{
  name = "apisix";
  description = "Apache APISIX 3.9 with the routes of a YAML file; it listens at http://127.0.0.1:9080";
  image = "docker.io/apache/apisix:3.9.0-debian";
  timeout_seconds = 60;
  memory_mb = 512;
}
