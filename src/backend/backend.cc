#include "backend/backend.h"

namespace igloo::backend {
namespace {

std::unexpected<Error> Cannot(const std::string& what) {
  return Fail(Errc::kFailedPrecondition, "this backend cannot " + what,
              "'backend' in the configuration, or --backend, names another");
}

}  // namespace

Result<void> Sandbox::EnterCpuGroup(int) { return Cannot("limit a sandbox's processors"); }

Result<int> Sandbox::InitForCopier() const { return Cannot("copy what runs in a sandbox"); }

Result<Sockets> Sandbox::TakeSockets() { return Cannot("hand out sockets of a sandbox"); }

Result<UniqueFd> Sandbox::TakeEdge() { return Cannot("give a sandbox a device"); }

HostIds Backend::expected_ids() const {
  return {
      .why = Error{
          Errc::kFailedPrecondition, "this backend gives sandboxes no ids of their own", {}, 0}};
}

}  // namespace igloo::backend
