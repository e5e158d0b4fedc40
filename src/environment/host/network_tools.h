#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

inline constexpr std::string_view kNetworkToolsStart[] = {"/usr/bin/bash"};
inline constexpr HostProgram kNetworkToolsNeeds[] = {
    {"/usr/bin/bash", "bash"}, {"/usr/bin/curl", "curl"}, {"/usr/bin/ip", "iproute2"}};
inline constexpr HostProgram kNetworkToolsExtras[] = {
    {"/usr/bin/wget", "wget"},         {"/usr/bin/dig", "bind9-dnsutils"},
    {"/usr/bin/ping", "iputils-ping"}, {"/usr/bin/nslookup", "bind9-dnsutils"},
    {"/usr/bin/nc", "netcat-openbsd"}, {"/usr/sbin/traceroute", "traceroute"},
    {"/usr/bin/nmap", "nmap"},         {"/usr/bin/tcpdump", "tcpdump"},
    {"/usr/bin/whois", "whois"},       {"/usr/sbin/ifconfig", "net-tools"}};
// Debian has half of what looks at networks where root's programs are.
inline constexpr HostVariable kNetworkToolsVariables[] = {
    {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}};

inline constexpr HostEnvironment kNetworkTools = {
    .name = "network-tools",
    .description = "Bash with curl, ip and friends; what they reach is the run's network",
    .needs = kNetworkToolsNeeds,
    .extras = kNetworkToolsExtras,
    .language = "bash",
    .start = kNetworkToolsStart,
    .variables = kNetworkToolsVariables,
};

}  // namespace igloo::environment::host
