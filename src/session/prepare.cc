#include "session/prepare.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/file.h"
#include "environment/device.h"
#include "environment/facts.h"
#include "environment/hidden.h"
#include "environment/work_tree.h"

namespace igloo::session {

Result<environment::RunRequest> OnThisMachine(environment::RunRequest request) {
  if (request.network.level == network::Level::kInternet && request.devices) {
    if (auto device = environment::FindDevice(request.resolver, request.network.rules)) {
      request.device = *std::move(device);
    } else if (request.network.raw_sockets) {
      return Wrap("raw sockets need a device", std::move(device).error());
    }
  }
  if (request.network.level == network::Level::kHost) {
    request.resolv_conf = ReadFile("/etc/resolv.conf", 1U << 16).value_or("");
  }
  if (request.project) {
    // Each time: a file that came since the last look must not be shown because of that one.
    IGLOO_ASSIGN(request.project->hidden,
                 environment::FindHidden(request.project->path, request.project->rules));
    if (auto& repository = request.project->repository) {
      IGLOO_ASSIGN(repository->hidden,
                   environment::FindHidden(repository->path,
                                           environment::InRepository(request.project->rules)));
      IGLOO_ASSIGN(const auto tree, environment::FindWorkTree(request.project->path));
      const bool elsewhere = request.project->mount_point != request.project->path;
      if (auto git =
              elsewhere ? environment::WholeGitFile(request.project->path, tree) : std::nullopt) {
        request.project->hidden.push_back(*std::move(git));
      }
    }
  }
  return request;
}

Result<sandbox::Plan> PlanOf(const sandbox::Policy& policy) {
  return sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy)));
}

Result<sandbox::Plan> PlanFor(const environment::Environment& environment,
                              const environment::RunRequest& request) {
  IGLOO_ASSIGN(const environment::RunRequest now, OnThisMachine(request));
  IGLOO_ASSIGN(const sandbox::Policy policy, environment::PolicyForRun(environment, now));
  return PlanOf(policy);
}

std::string UnlimitedCpus(const cgroup::Found& found, const sandbox::Plan& plan) {
  const std::string why = cgroup::WhyNoCpus(found);
  if (plan.payload.millicpus == 0 || why.empty()) return {};
  return fmt::format("note: nobody limits processors to {:g} here: {}",
                     static_cast<double>(plan.payload.millicpus) / 1000.0, why);
}

namespace {

Result<std::optional<cgroup::Lease>> Take(cgroup::Groups& groups, const sandbox::Plan& plan,
                                          cgroup::Limits limits) {
  if (groups.kind() == cgroup::Kind::kNone) return std::nullopt;
  limits.memory_bytes = plan.payload.memory_bytes;
  for (const sandbox::ResourceLimit& limit : plan.payload.limits) {
    if (limit.resource == RLIMIT_NPROC) limits.processes = limit.value;
  }
  IGLOO_ASSIGN(cgroup::Lease lease, groups.Take(limits));
  return std::optional<cgroup::Lease>(std::move(lease));
}

}  // namespace

Result<std::optional<cgroup::Lease>> TakeGroup(cgroup::Groups& groups, const sandbox::Plan& plan,
                                               cgroup::OutOfMemory out_of_memory) {
  return Take(groups, plan, {.millicpus = plan.payload.millicpus, .out_of_memory = out_of_memory});
}

bool LimitsCpusLater(const cgroup::Groups& groups) { return groups.kind() == cgroup::Kind::kV1; }

Result<std::optional<cgroup::Lease>> TakeLastingGroup(cgroup::Groups& groups,
                                                      const sandbox::Plan& plan) {
  return Take(groups, plan,
              {.millicpus = LimitsCpusLater(groups) ? 0 : plan.payload.millicpus,
               .out_of_memory = cgroup::OutOfMemory::kEndsOne});
}

}  // namespace igloo::session
