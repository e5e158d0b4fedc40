# Java: one file, compiled in memory and run (src/environment/host/java.h).
{ pkgs }:
{
  name = "java";
  description = "Java: one file, compiled in memory and run";
  # Options as arguments: the variables for them make Java print a line on every start. Heap and collector are bounded
  # because Java would size both by the host's memory and cores.
  interpreter = [ "java" "-Xmx768m" "-XX:+UseSerialGC" "-XX:TieredStopAtLevel=1" "-XX:-UsePerfData" ];
  code_file = "main.java";
  packages = [ pkgs.jdk_headless ];
  timeout_seconds = 60;
  memory_mb = 2048;
  processes = 1024;
}
