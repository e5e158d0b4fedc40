#include "cli/doctor/machine.h"

#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "cli/run/execute.h"
#include "environment/host.h"

namespace igloo::cli {
namespace {

using State = Finding::State;

/// A file with one number that must not be `bad`; one that is not there is fine.
struct Setting {
  std::string_view name, file;
  char bad;
  std::string_view detail, fix;
};

constexpr Setting kSettings[] = {
    {"user namespaces", "/proc/sys/user/max_user_namespaces", '0',
     "user.max_user_namespaces is 0: no sandbox can be made",
     "sudo sysctl -w user.max_user_namespaces=65536"},
    {"user namespaces", "/proc/sys/kernel/unprivileged_userns_clone", '0',
     "kernel.unprivileged_userns_clone is 0: only root can make sandboxes",
     "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
    {"AppArmor", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
     "kernel.apparmor_restrict_unprivileged_userns is 1: igloo needs a profile of its own",
     "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or allow 'userns' to igloo "
     "and "
     "igloo-jail in a profile"},
};

/// What other strengths of the wall, and environments from Nix, need. None is required.
struct Extra {
  std::string_view name, program, purpose, fix;
};

constexpr Extra kExtras[] = {
    {"Nix", "nix", "environments from flakes", "see https://nixos.org/download"},
    {"systemd-nspawn", "systemd-nspawn", "the container wall",
     "sudo apt install systemd-container"},
    {"QEMU", "qemu-system-x86_64", "the microVM wall", "sudo apt install qemu-system-x86"},
    {"tmux", "tmux", "agents that go on when their terminal is closed", "sudo apt install tmux"},
};

std::vector<Finding> LookAtSettings(const Machine& machine) {
  std::vector<Finding> out;
  for (const Setting& setting : kSettings) {
    const auto text = ReadFile(machine.root + std::string(setting.file), 64);
    if (!text || !text->starts_with(setting.bad) || (text->size() > 1 && (*text)[1] != '\n')) {
      continue;
    }
    out.push_back({.name = std::string(setting.name),
                   .state = State::kMissing,
                   .detail = std::string(setting.detail),
                   .fix = std::string(setting.fix),
                   // The kernel's switches for users do not bind root; the first one binds all.
                   .required = !machine.is_root || &setting == &kSettings[0]});
  }
  if (out.empty()) out.push_back({.name = "user namespaces", .detail = "allowed"});
  return out;
}

std::string FindProgram(const Machine& machine, std::string_view name) {
  std::string_view left = machine.search_path;
  while (!left.empty()) {
    const std::string_view place = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(left.size(), place.size() + 1));
    if (place.empty()) continue;
    std::string path = std::string(place) + "/" + std::string(name);
    if (::access((machine.root + path).c_str(), X_OK) == 0) return path;
  }
  return "";
}

/// Makes a virtual machine and drops it: that the device is there says little.
Finding LookAtKvm(const Machine& machine) {
  const std::string path = machine.root + "/dev/kvm";
  const UniqueFd device(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const int open_errno = errno;
  const UniqueFd made(device ? ::ioctl(device.get(), KVM_CREATE_VM, 0) : -1);
  if (made) return {.name = "KVM", .detail = "a virtual machine can be made"};
  Finding finding{.name = "KVM", .state = State::kMissing, .required = false};
  if (device) {
    finding.detail = "'/dev/kvm' is there but makes no virtual machine";
    finding.fix = "see what the kernel says: sudo dmesg | grep -i kvm";
  } else if (open_errno == EACCES) {
    finding.detail = "'/dev/kvm' is not this user's to open";
    finding.fix = "sudo usermod -aG kvm \"$USER\", then log in again";
  } else {
    finding.detail = "there is no '/dev/kvm'";
    finding.fix = "enable virtualisation in the firmware, or nested in the host of this machine";
  }
  finding.detail += ": microVMs are emulated, slowly";
  return finding;
}

}  // namespace

std::vector<Finding> LookAtMachine(const Machine& machine) {
  std::vector<Finding> out = LookAtSettings(machine);
  out.push_back(LookAtKvm(machine));
  for (const Extra& extra : kExtras) {
    const std::string path = FindProgram(machine, extra.program);
    Finding& finding = out.emplace_back(Finding{.name = std::string(extra.name), .detail = path});
    if (!path.empty()) continue;
    finding.state = State::kMissing;
    finding.detail = "not installed; used by " + std::string(extra.purpose);
    finding.fix = extra.fix;
    finding.required = false;
  }
  return out;
}

Finding ProbeGroups(backend::Backend& backend, const cgroup::Found& found) {
  const std::string name = "cgroups";
  if (found.kind == cgroup::Kind::kNone) {
    return {.name = name,
            .state = State::kMissing,
            .detail = "none; see 'weaker limits' above",
            .fix = found.why,
            .required = false};
  }
  const auto attempt = [&]() -> Result<session::RunResult> {
    cgroup::Groups groups(found);
    IGLOO_ASSIGN(const auto shell, environment::MakeHostEnvironment(
                                       "shell", environment::ReadHostLayoutFor("shell")));
    const environment::RunRequest request{.what = environment::Program{{"/bin/true"}}};
    IGLOO_ASSIGN(const sandbox::Plan plan, PlanFor(shell, request));
    session::RunIo io;
    IGLOO_ASSIGN(io.group, TakeGroup(groups, plan));
    return Execute(plan, backend, std::move(io), Signals::kDefault);
  };
  const auto ran = attempt();
  if (!ran) {
    return {.name = name,
            .state = State::kBroken,
            .detail = ran.error().what,
            .fix = ran.error().hint,
            .required = true};
  }
  return {.name = name,
          .detail = std::string(Name(found.kind)) + ": the kernel counts a sandbox's memory in " +
                    found.place};
}

}  // namespace igloo::cli
