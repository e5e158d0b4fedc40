#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/overloaded.h"
#include "base/text.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {
namespace {

namespace json = boost::json;

/// Paths may hold any byte; JSON may not.
json::string Text(std::string_view bytes) { return json::string(ToUtf8(bytes)); }

void Put(json::object& object, const Capacity& capacity) {
  object["bytes"] = capacity.bytes;
  object["inodes"] = capacity.inodes ? json::value(*capacity.inodes) : json::value(nullptr);
}

void Put(json::object& object, const PathFact& fact) {
  object["device"] = fact.device;
  object["inode"] = fact.inode;
}

json::object StepJson(const Step& step) {
  return std::visit(
      Overloaded{
          [](const step::Root& s) {
            json::object o{{"op", "root"}};
            Put(o, s.capacity);
            return o;
          },
          [](const step::Directory& s) {
            return json::object{{"op", "directory"}, {"path", Text(s.path)}, {"mode", s.mode}};
          },
          [](const step::Symlink& s) {
            return json::object{
                {"op", "symlink"}, {"path", Text(s.path)}, {"points_to", Text(s.points_to)}};
          },
          [](const step::File& s) {
            return json::object{{"op", "file"},
                                {"path", Text(s.path)},
                                {"mode", s.mode},
                                {"size", s.content.size()}};
          },
          [](const step::NamedPipe& s) {
            return json::object{{"op", "named_pipe"}, {"path", Text(s.path)}};
          },
          [](const step::Bind& s) {
            json::object o{{"op", "bind"},
                           {"source", Text(s.source)},
                           {"target", Text(s.target)},
                           {"access", s.access == Access::kReadOnly ? "ro" : "rw"},
                           {"device_node", s.device},
                           {"map_owner", s.map_owner},
                           {"host_inodes", s.host_inodes}};
            if (!s.granted.empty()) o["granted"] = Text(s.granted);
            Put(o, s.fact);
            return o;
          },
          [](const step::Tmpfs& s) {
            json::object o{{"op", "tmpfs"},
                           {"target", Text(s.target)},
                           {"mode", s.mode},
                           {"execution", s.execution == Execution::kAllowed}};
            Put(o, s.capacity);
            return o;
          },
          [](const step::Overlay& s) {
            json::object o{
                {"op", "overlay"},          {"source", Text(s.source)},
                {"target", Text(s.target)}, {"access", s.access == Access::kReadOnly ? "ro" : "rw"},
                {"map_owner", s.map_owner}, {"keeps_changes", s.keeps_changes}};
            Put(o, s.capacity);
            Put(o, s.fact);
            return o;
          },
          [](const step::Base& s) {
            json::object o{{"op", "base"}, {"source", Text(s.source)}};
            Put(o, s.fact);
            return o;
          },
          [](const step::FromBase& s) {
            json::object o{{"op", "from_base"}, {"path", Text(s.path)}, {"target", Text(s.target)}};
            Put(o, s.fact);
            return o;
          },
          [](const step::Copy& s) {
            json::object o{{"op", "copy"}, {"source", Text(s.source)}, {"target", Text(s.target)}};
            Put(o, s.fact);
            return o;
          },
          [](const step::Proc& s) {
            return json::object{{"op", "proc"}, {"target", Text(s.target)}};
          },
          [](const step::Mask& s) {
            return json::object{
                {"op", "mask"}, {"target", Text(s.target)}, {"directory", s.directory}};
          },
          [](const step::Hide& s) {
            json::object o{{"op", "hide"},
                           {"target", Text(s.target)},
                           {"cover", Text(s.cover)},
                           {"reason", Text(s.why)}};
            Put(o, s.fact);
            return o;
          },
          [](const step::ReadOnly& s) {
            return json::object{{"op", "read_only"}, {"target", Text(s.target)}, {"over", s.over}};
          },
          [](const step::EnterRoot&) { return json::object{{"op", "enter_root"}}; },
          [](const step::SealRoot&) { return json::object{{"op", "seal_root"}}; },
          [](const step::PrivateNetwork&) { return json::object{{"op", "private_network"}}; },
          [](const step::Edge& s) {
            return json::object{
                {"op", "edge"}, {"inside", Text(s.inside)}, {"gateway", Text(s.gateway)}};
          },
          [](const step::Closed& s) {
            return json::object{{"op", "close"}, {"network", Text(s.network)}};
          },
          [](const step::Resolver& s) {
            return json::object{{"op", "resolver"}, {"address", Text(s.address)}};
          },
          [](const step::Hostname& s) {
            return json::object{{"op", "hostname"}, {"name", Text(s.name)}};
          },
          [](const step::NoMoreNamespaces&) { return json::object{{"op", "no_more_namespaces"}}; },
          [](const step::Listen& s) { return json::object{{"op", "listen"}, {"port", s.port}}; },
          [](const step::Sockets& s) {
            return json::object{{"op", "sockets"}, {"count", s.count}};
          },
          [](const step::HandOut& s) {
            return json::object{{"op", "hand_out"}, {"path", Text(s.path)}, {"kept", s.kept}};
          },
          [](const step::BoundPrivileges& s) {
            return json::object{{"op", "bound_privileges"}, {"raw_sockets", s.raw_sockets}};
          },
          [](const step::DropPrivileges& s) {
            return json::object{{"op", "drop_privileges"}, {"raw_sockets", s.raw_sockets}};
          },
          [](const step::StartInit&) { return json::object{{"op", "start_init"}}; },
      },
      step);
}

json::array StepsJson(const std::vector<Step>& steps) {
  json::array out;
  for (const Step& step : steps) out.push_back(StepJson(step));
  return out;
}

json::array TextsJson(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.push_back(Text(text));
  return out;
}

std::string_view Name(Seccomp seccomp) {
  switch (seccomp) {
    case Seccomp::kDefault:
      return "default";
    case Seccomp::kDebug:
      return "debug";
    case Seccomp::kRawSockets:
      return "raw_sockets";
  }
  return "?";
}

json::object PayloadJson(const Payload& payload) {
  json::object limits;
  for (const ResourceLimit& limit : payload.limits) limits[limit.name] = limit.value;
  json::array paths;
  for (const PathRule& rule : payload.paths) {
    const char* right = rule.right == PathRight::kRead        ? "read"
                        : rule.right == PathRight::kReadWrite ? "write"
                                                              : "device";
    paths.push_back(json::object{{"right", right}, {"path", Text(rule.path)}});
  }
  return {{"argv", TextsJson(payload.argv)},
          {"env", TextsJson(payload.env)},
          {"cwd", Text(payload.cwd)},
          {"time_ms", payload.time_ms},
          {"grace_ms", payload.grace_ms},
          {"memory_bytes", payload.memory_bytes},
          {"millicpus", payload.millicpus},
          {"limits", std::move(limits)},
          {"landlock", std::move(paths)},
          {"seccomp", Name(payload.seccomp)},
          {"extra_descriptors", payload.extra_descriptors},
          {"terminal", payload.terminal == Terminal::kOwn}};
}

json::object NetworkJson(const Network& network) {
  return std::visit(
      Overloaded{
          [](const NoNetwork&) { return json::object{{"tier", "none"}}; },
          [](const ConnectedNetwork& connected) {
            json::array publish, reach;
            for (const auto& port : connected.publish) {
              publish.push_back(json::object{{"outside", port.outside}, {"inside", port.inside}});
            }
            for (const std::uint16_t port : connected.reach) reach.push_back(port);
            json::value device = nullptr;
            if (connected.device) {
              device = json::object{{"name", "eth0"},
                                    {"carrier", Text(connected.device->carrier)},
                                    {"closed", TextsJson(connected.device->closed)},
                                    {"resolver", Text(connected.device->resolver)}};
            }
            return json::object{
                {"tier", Text(connected.tier)},        {"device", std::move(device)},
                {"allow", TextsJson(connected.rules)}, {"secrets", TextsJson(connected.secrets)},
                {"publish", std::move(publish)},       {"reach", std::move(reach)},
                {"raw_sockets", connected.raw_sockets}};
          },
          [](const HostNetwork& host) {
            return json::object{{"tier", "host"}, {"reason", Text(host.reason)}};
          }},
      network);
}

}  // namespace

std::string ToJson(const Plan& plan) {
  const json::object document{
      {"identity", json::object{{"uid", plan.identity.uid},
                                {"gid", plan.identity.gid},
                                {"needs_callers_id", Text(NeedsStartersId(plan))}}},
      {"network", NetworkJson(plan.network)},
      {"environment", StepsJson(plan.environment)},
      {"fresh", StepsJson(plan.fresh)},
      {"run", StepsJson(plan.run)},
      {"payload", PayloadJson(plan.payload)}};
  return json::serialize(document);
}

}  // namespace igloo::sandbox
