#include "sandbox/lists.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace igloo::sandbox {
namespace {

/// Root-only (0400) entries need no mask: nobody inside is root of the host.
constexpr std::array<std::string_view, 4> kMaskedFiles = {"kallsyms", "keys", "key-users", "mtrr"};
constexpr std::array<std::string_view, 5> kMaskedDirectories = {"acpi", "bus", "fs", "irq", "scsi"};

class Lists {
 public:
  Lists(const Policy& policy, const Layout& layout, PlannedSteps steps, Plan& plan)
      : policy_(policy), layout_(layout), steps_(std::move(steps)), plan_(plan) {}

  void MakeEnvironment() {
    auto& steps = plan_.environment;
    steps.push_back(step::Root{{.bytes = 8U << 20, .inodes = 65536}});
    // What masks cover with, and where overlays are put together.
    steps.push_back(step::Directory{"/.igloo"});
    steps.push_back(step::Directory{"/.igloo/empty", 0555});
    steps.push_back(step::File{"/.igloo/nothing", "", 0444});
    std::ranges::move(Of(Part::kEnvironment), std::back_inserter(steps));
    std::ranges::move(steps_.late_names, std::back_inserter(steps));
    // Before the old root goes: the kernel allows a new proc only beside one that is not masked.
    steps.push_back(step::Proc{"/proc"});
    steps.push_back(step::EnterRoot{});
    steps.push_back(step::SealRoot{});
  }

  void MakeFresh() {
    auto& steps = plan_.fresh;
    steps.push_back(step::Hostname{policy_.hostname});
    steps.push_back(step::NoMoreNamespaces{});
    // Settings of networks are made before /proc/sys is frozen.
    const Device* device = DeviceOf(policy_.network);
    if (device != nullptr) AddDevice(*device);
    for (const std::string_view name : kMaskedFiles) {
      steps.push_back(step::Mask{"/proc/" + std::string(name), false});
    }
    for (const std::string_view name : kMaskedDirectories) {
      steps.push_back(step::Mask{"/proc/" + std::string(name), true});
    }
    steps.push_back(step::ReadOnly{"/proc/sys"});
    std::ranges::move(Of(Part::kFresh), std::back_inserter(steps));
    steps.push_back(step::BoundPrivileges{HasRawSockets(policy_.network)});
    // Last: a cold run makes the namespace beside everything above, and entering waits for that.
    if (device == nullptr && !std::holds_alternative<HostNetwork>(policy_.network)) {
      steps.push_back(step::PrivateNetwork{});
    }
  }

  void MakeRun() {
    auto& steps = plan_.run;
    std::ranges::move(Of(Part::kRun), std::back_inserter(steps));
    // Before anything is frozen: where a file is awaited stays writable for igloo.
    for (const std::string& path : policy_.hand_out) {
      steps.push_back(step::HandOut{path, AwaitsFile(path)});
    }
    for (const auto& [path, mount] : layout_.mounts()) {
      if (mount.frozen()) steps.push_back(step::ReadOnly{path, AwaitsFile(path)});
    }
    for (const std::uint16_t port : policy_.listen) steps.push_back(step::Listen{port});
    if (policy_.sockets != 0) steps.push_back(step::Sockets{policy_.sockets});
    steps.push_back(step::DropPrivileges{HasRawSockets(policy_.network)});
    steps.push_back(step::StartInit{});
  }

 private:
  void AddDevice(const Device& device) {
    auto& steps = plan_.fresh;
    steps.push_back(step::PrivateNetwork{});
    steps.push_back(step::Edge{own_network::kInside, own_network::kGateway});
    for (const std::string& network : device.closed) steps.push_back(step::Closed{network});
    if (device.resolver == own_network::kResolver) steps.push_back(step::Resolver{device.resolver});
  }

  std::vector<Step>& Of(Part part) { return steps_.by_part[static_cast<std::size_t>(part)]; }

  /// A named pipe of the run's stands in a directory.
  bool AwaitsFile(std::string_view directory) const {
    return std::ranges::any_of(policy_.run, [&](const Entry& entry) {
      const auto* pipe = std::get_if<NamedPipe>(&entry);
      return pipe != nullptr &&
             std::string_view(pipe->path).substr(0, pipe->path.rfind('/')) == directory;
    });
  }

  const Policy& policy_;
  const Layout& layout_;
  PlannedSteps steps_;
  Plan& plan_;
};

}  // namespace

void MakeLists(const Policy& policy, const Layout& layout, PlannedSteps steps, Plan& plan) {
  Lists lists(policy, layout, std::move(steps), plan);
  lists.MakeEnvironment();
  lists.MakeFresh();
  lists.MakeRun();
}

}  // namespace igloo::sandbox
