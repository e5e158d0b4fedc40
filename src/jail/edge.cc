#include "jail/edge.h"

#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "jail/channel.h"
#include "jail/network.h"
#include "jail/route_message.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

constexpr const char* kDevice = "eth0";
constexpr const char* kEdgeDevice = "inner";
/// As large as the device of whoever carries packets further: one that is larger than this wire's
/// would be dropped.
constexpr uint32_t kPacketBytes = 65520;
constexpr unsigned char kWirePrefix = 30;  ///< a network of two addresses
constexpr unsigned char kOwnPrefix = 24;   ///< the network that all addresses of igloo's own are of
constexpr uint32_t kResolverFirst = 10, kThenNothing = 20;  ///< in which order rules are asked

int RoutingSocket() { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); }

enum class Need { kRequired, kWhereThere, kOptional };

/// A setting of this process's network namespace. The kernel may be built without some; what is
/// optional does no harm as it is.
bool Set(const Setup& setup, const char* name, const char* text, Need need) {
  char path[128];
  snprintf(path, sizeof path, "proc/sys/net/%s", name);
  return WriteTextAt(setup.root_fd, path, text) || need == Need::kOptional ||
         (need == Need::kWhereThere && errno == ENOENT);
}

int IndexOf(const char* device) {
  const ScopedFd fd(PlainSocket());
  ifreq request{};
  strcpy(request.ifr_name, device);
  return fd && ioctl(fd.get(), SIOCGIFINDEX, &request) == 0 ? request.ifr_ifindex : -1;
}

/// A wire from this namespace to another one.
bool MakeWire(int routes, int other) {
  RouteMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  message.Put(IFLA_IFNAME, kEdgeDevice);
  message.Put(IFLA_MTU, kPacketBytes);
  const size_t info = message.Begin(IFLA_LINKINFO);
  message.Put(IFLA_INFO_KIND, "veth");
  const size_t data = message.Begin(IFLA_INFO_DATA);
  const size_t peer = message.Begin(VETH_INFO_PEER);
  const ifinfomsg head{};
  message.Append(&head, sizeof head);
  message.Put(IFLA_IFNAME, kDevice);
  message.Put(IFLA_MTU, kPacketBytes);
  message.Put(IFLA_NET_NS_FD, static_cast<uint32_t>(other));
  message.End(peer);
  message.End(data);
  message.End(info);
  return message.Send(routes);
}

/// Gives a device of this namespace its address and raises it.
bool Raise(int routes, const char* device, uint32_t address) {
  const int index = IndexOf(device);
  if (index < 0) return false;
  const ifaddrmsg head{.ifa_family = AF_INET,
                       .ifa_prefixlen = kWirePrefix,
                       .ifa_flags = 0,
                       .ifa_scope = RT_SCOPE_UNIVERSE,
                       .ifa_index = static_cast<uint32_t>(index)};
  RouteMessage add(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, head);
  add.Put(IFA_LOCAL, address);
  add.Put(IFA_ADDRESS, address);
  ifinfomsg up{};
  up.ifi_index = index;
  up.ifi_flags = up.ifi_change = IFF_UP;
  return add.Send(routes) && RouteMessage(RTM_NEWLINK, 0, up).Send(routes);
}

rtmsg RouteOf(unsigned char type, unsigned char prefix) {
  rtmsg route{};
  route.rtm_family = AF_INET;
  route.rtm_dst_len = prefix;
  route.rtm_table = RT_TABLE_MAIN;
  route.rtm_protocol = RTPROT_STATIC;
  route.rtm_scope = RT_SCOPE_UNIVERSE;
  route.rtm_type = type;
  return route;
}

/// The rule for packets that come from the sandbox for some addresses.
RouteMessage RuleFor(unsigned char action, uint32_t first, unsigned char prefix, uint32_t order) {
  fib_rule_hdr head{};
  head.family = AF_INET;
  head.dst_len = prefix;
  head.table = action == FR_ACT_TO_TBL ? RT_TABLE_MAIN : RT_TABLE_UNSPEC;
  head.action = action;
  RouteMessage rule(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, head);
  rule.Put(FRA_DST, first);
  rule.Put(FRA_IIFNAME, kEdgeDevice);
  rule.Put(FRA_PRIORITY, order);
  return rule;
}

bool PrepareInside(Setup& setup) {
  char group[32];
  const uint32_t gid = setup.job->request.inner_gid;
  snprintf(group, sizeof group, "%u %u", gid, gid);
  setup.inside_routes = RoutingSocket();
  // No address of IPv6 on the device: nothing at the edge would look at what comes from there.
  return setup.inside_routes >= 0 &&
         Set(setup, "ipv6/conf/default/disable_ipv6", "1", Need::kWhereThere) &&
         Set(setup, "ipv4/ping_group_range", group, Need::kOptional);
}

bool PrepareEdge(Setup& setup, int inside, uint32_t gateway) {
  setup.edge_routes = RoutingSocket();
  const uint32_t own = gateway & htonl(~0U << (32 - kOwnPrefix));
  return setup.edge_routes >= 0 &&
         Set(setup, "ipv6/conf/default/disable_ipv6", "1", Need::kWhereThere) &&
         // Who is refused hears of it each time.
         Set(setup, "ipv4/icmp_ratelimit", "0", Need::kOptional) &&
         MakeWire(setup.edge_routes, inside) &&
         // SECURITY: a packet that says it comes from elsewhere would be carried on in that name,
         // and one that says which way to go would choose its own.
         Set(setup, "ipv4/conf/inner/rp_filter", "1", Need::kRequired) &&
         Set(setup, "ipv4/conf/inner/accept_source_route", "0", Need::kRequired) &&
         Raise(setup.edge_routes, kEdgeDevice, gateway) &&
         // SECURITY: the addresses of igloo's own may be somebody's where packets go on.
         RuleFor(FR_ACT_PROHIBIT, own, kOwnPrefix, kThenNothing).Send(setup.edge_routes) &&
         // Last: before, nothing passes.
         Set(setup, "ipv4/ip_forward", "1", Need::kRequired);
}

bool LeadOut(Setup& setup, uint32_t inside, uint32_t gateway) {
  if (!Raise(setup.inside_routes, kDevice, inside)) return false;
  RouteMessage route(RTM_NEWROUTE, NLM_F_CREATE, RouteOf(RTN_UNICAST, 0));
  route.Put(RTA_GATEWAY, gateway);
  setup.gateway = gateway;
  return route.Send(setup.inside_routes);
}

}  // namespace

bool MakeEdge(Setup& setup, const ops::Op& op) {
  const uint32_t inside = op.address, gateway = op.mode;
  // A template's sandboxes have their network of the template's, over which they have no right.
  errno = EINVAL;
  if (setup.role != Role::kCold || inside == 0 || gateway == 0) return false;
  if (!PrepareInside(setup)) return false;
  const ScopedFd own(CurrentNetwork());
  if (!own || unshare(CLONE_NEWNET) != 0) return false;
  const ScopedFd edge(CurrentNetwork());
  const bool made = edge && PrepareEdge(setup, own.get(), gateway) &&
                    setns(own.get(), CLONE_NEWNET) == 0 && LeadOut(setup, inside, gateway);
  if (made) SendReply(setup.job->reply(), ops::ReplyKind::kEdge, edge.get());
  return made;
}

bool CloseNetwork(Setup& setup, const ops::Op& op) {
  errno = EINVAL;
  if (op.mode == 0 || op.mode > 32) return false;
  const int both[] = {setup.edge_routes, setup.inside_routes};
  for (const int routes : both) {
    RouteMessage route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE,
                       RouteOf(RTN_PROHIBIT, static_cast<unsigned char>(op.mode)));
    route.Put(RTA_DST, op.address);
    if (!route.Send(routes)) return false;
  }
  return true;
}

bool OpenResolver(Setup& setup, const ops::Op& op) {
  errno = EINVAL;
  if (op.address == 0) return false;
  RouteMessage rule = RuleFor(FR_ACT_TO_TBL, op.address, 32, kResolverFirst);
  const uint8_t protocol = IPPROTO_UDP;
  const fib_rule_port_range port{53, 53};
  rule.Put(FRA_IP_PROTO, &protocol, sizeof protocol);
  rule.Put(FRA_DPORT_RANGE, &port, sizeof port);
  RouteMessage route(RTM_NEWROUTE, NLM_F_CREATE, RouteOf(RTN_UNICAST, 32));
  route.Put(RTA_DST, op.address);
  route.Put(RTA_GATEWAY, setup.gateway);
  return rule.Send(setup.edge_routes) && route.Send(setup.inside_routes);
}

}  // namespace igloo::jail
