# Node.js with its standard library.
{ pkgs }:
{
  name = "node";
  aliases = [ "javascript" "js" ];
  description = "Node.js";
  interpreter_type = "node";
  # Node 24 reserves 512 MB for compiled code. Where there is no cgroup, a limit of data counts that, too.
  memory_mb = 1024;
  packages = [ pkgs.nodejs ];
}
