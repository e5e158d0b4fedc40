#include "sandbox/nodes.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "sandbox/path.h"

namespace igloo::sandbox {
namespace {

constexpr std::array<std::string_view, 5> kDevices = {"null", "zero", "full", "random", "urandom"};

}  // namespace

Result<void> CheckHarmless(const DeviceNode& node) {
  if (std::ranges::find(kDevices, node.name) != kDevices.end()) return {};
  return Fail(Errc::kInvalidArgument, "device '" + node.name + "' is not one a sandbox may have",
              "null, zero, full, random and urandom are");
}

Result<step::Bind> BindOfNode(const DeviceNode& node, const PathFact& fact) {
  const std::string path = "/dev/" + node.name;
  if (fact.type != S_IFCHR) {
    return Fail(Errc::kFailedPrecondition, "'" + path + "' is not a device here");
  }
  return step::Bind{
      .source = path, .target = path, .access = Access::kReadWrite, .fact = fact, .device = true};
}

Result<step::Bind> BindOfNode(const HostNode& node, const PathFact& fact) {
  if (node.reason.empty()) {
    return Fail(Errc::kInvalidArgument, "'" + node.source + "' is granted without a reason",
                "say why the sandbox needs it; every plan shows that");
  }
  const bool device = fact.type == S_IFCHR;
  if (!device && fact.type != S_IFSOCK) {
    return Fail(Errc::kFailedPrecondition,
                "'" + node.source + "' is neither a socket nor a character device");
  }
  // SECURITY: the payload's rights over devices count below /dev alone.
  if (device != IsWithin(node.target, "/dev")) {
    return Fail(Errc::kInvalidArgument,
                "'" + node.target + "' is no place for " + (device ? "a device" : "a socket"),
                "devices belong below /dev, and nothing else does");
  }
  // To connect needs no right to write to the mount.
  return step::Bind{.source = node.source,
                    .target = node.target,
                    .access = device ? Access::kReadWrite : Access::kReadOnly,
                    .fact = fact,
                    .device = device,
                    .map_owner = node.map_owner && !device,
                    .granted = node.reason};
}

}  // namespace igloo::sandbox
