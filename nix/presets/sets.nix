# Which presets the packages bring along. All of them together are gigabytes (three compilers, two Pythons), so each
# package has what its users know; 'full' has everything.
{
  nix-sandbox-mcp = [ "shell" "python" "node" ];
  # Its 'python' is our python-data.
  sandbox-mcp = [ "shell" "python" "python-data" "node" "go" "rust" "java" "network-tools" "apisix" ];
}
