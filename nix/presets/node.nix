# Node.js with its standard library.
{ pkgs }:
{
  name = "node";
  aliases = [ "javascript" "js" ];
  description = "Node.js";
  interpreter_type = "node";
  packages = [ pkgs.nodejs ];
}
