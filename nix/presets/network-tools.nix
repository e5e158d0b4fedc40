# Tools to look at networks with. What they reach is the run's network, which is none unless it is configured.
{ pkgs }:
{
  name = "network-tools";
  description = "Bash with curl, dig, ping, nmap and their like; what they reach is the run's network";
  interpreter_type = "bash";
  packages = with pkgs; [
    iproute2
    iputils
    inetutils
    (pkgs.net-tools or pkgs.nettools) # its name in older releases
    curl
    wget
    dnsutils
    traceroute
    tcpdump
    nmap
    whois
    netcat
    gnugrep
    gnused
    gawk
    findutils
    jq
    cacert
  ];
}
