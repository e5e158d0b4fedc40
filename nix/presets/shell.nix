# Bash and the usual command line tools. Without curl and its like: there is no network to use them on.
{ pkgs }:
{
  name = "shell";
  aliases = [ "bash" ];
  description = "Bash and the usual command line tools";
  interpreter_type = "bash";
  packages = with pkgs; [
    gnugrep
    gnused
    gawk
    findutils
    jq
    tree
    diffutils
    file
    bc
  ];
}
