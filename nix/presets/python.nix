# Python 3 with PyYAML, and small: python-data has the large libraries.
{ pkgs }:
{
  name = "python";
  aliases = [ "python3" ];
  description = "Python 3 with PyYAML";
  interpreter_type = "python";
  packages = [ (pkgs.python3.withPackages (ps: [ ps.pyyaml ])) ];
  # The code's file is not in the working directory, but imports from there are expected to work.
  env.PYTHONPATH = "/workspace";
}
