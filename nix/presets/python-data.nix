# Python 3 with what data is looked at with: the libraries of sandbox-mcp's 'python'.
{ pkgs }:
{
  name = "python-data";
  description = "Python 3 with numpy, pandas, pyarrow, scikit-learn, matplotlib, seaborn and pydantic";
  interpreter_type = "python";
  packages = [
    (pkgs.python3.withPackages (ps: with ps; [
      matplotlib
      numpy
      pandas
      pyarrow
      pydantic
      pympler
      pyyaml
      requests
      scikit-learn
      seaborn
    ]))
  ];
  # Loading pandas alone takes a second and a hundred megabytes; interpreters that wait have done so.
  preload = [ "numpy" "pandas" ];
  timeout_seconds = 60;
  memory_mb = 2048;
  env = {
    PYTHONPATH = "/workspace";
    PYTHONDONTWRITEBYTECODE = "1";
    PYTHONUNBUFFERED = "1";
    # The home directory of a run is not kept, and matplotlib says so at length.
    MPLCONFIGDIR = "/tmp";
  };
}
