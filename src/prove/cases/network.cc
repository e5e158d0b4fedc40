// P4: no network, no loopback of the host, no socket of the host, unless granted.
#include "prove/case.h"

namespace igloo::prove {
namespace {

void GrantNetwork(sandbox::Policy& policy) {
  policy.network = sandbox::HostNetwork("the control of an attack on the host's loopback");
}

}  // namespace

std::vector<Case> NetworkCases() {
  return {
      {"HostLoopbackTcp", "connect to a server on the host's loopback", {"connect-tcp", "{port}"}},
      {"HostLoopbackWithoutGrant",
       "the same; the control is a sandbox with the host's network",
       {"connect-tcp", "{port}"},
       Control::kWeakened,
       {},
       GrantNetwork},
      {"HostLoopbackUdp", "send a datagram to the host's loopback", {"send-udp", "{udp-port}"}},
      {"HostAbstractSocket",
       "connect to an abstract socket of the host",
       {"connect-abstract", "{id}"}},
      {"HostFileSocket", "connect to a socket file of the host", {"connect-path", "{socket}"}},
      {"HostListenersSeen", "see who listens on the host", {"see-listener", "{port}"}},
      {"HostSocketNamesSeen", "see the names of the host's sockets", {"see-unix-socket", "{id}"}},
      {"Vsock", "open a vsock socket", {"open-socket", "40", "1", "0"}},
      {"NetlinkUevent", "open a netlink socket for devices", {"open-socket", "16", "3", "15"}},
      {"NetlinkSocketDiagnosis",
       "open a netlink socket that lists sockets",
       {"open-socket", "16", "3", "4"}},
      {"NetlinkGeneric", "open a generic netlink socket", {"open-socket", "16", "3", "16"}},
      {"Multipath", "open a multipath TCP socket", {"open-socket", "2", "1", "262"}},
      {"Packet",
       "open a packet socket",
       {"open-socket", "17", "3", "768"},
       Control::kOwnNamespaces},
      {"RawIpv4",
       "open a raw IPv4 socket",
       {"open-socket", "2", "3", "1"},
       Control::kOwnNamespaces},
      {"RawIpv6",
       "open a raw IPv6 socket",
       {"open-socket", "10", "3", "58"},
       Control::kOwnNamespaces},
  };
}

/// A read-only mount lets connect() through; in a view a socket is only a name.
std::vector<Case> ProjectSocketCases() {
  return {{.name = "ProjectSocket",
           .text = "connect to a socket that lies in the project",
           .attack = {"connect-path", "{project}/socket"},
           .needs = &wall::Capabilities::views}};
}

}  // namespace igloo::prove
