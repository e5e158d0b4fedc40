#include "backend/microvm/emulator.h"

#include <fmt/format.h>

#include <algorithm>

#include "machine/launch.h"
#include "sandbox/path.h"

namespace igloo::backend::microvm {
namespace {

constexpr std::uint64_t kMegabyte = 1ULL << 20;
constexpr const char* kRelay = "/igloo/machine";
constexpr const char* kKernel = "/igloo/kernel";
constexpr const char* kBoot = "/igloo/boot";
constexpr const char* kFirstRoot = "/igloo/boot/root";
/// Of the emulator itself: its code, and what it translates where KVM does not work.
constexpr std::uint64_t kEmulatorMemory = 768 * kMegabyte;

/// A directory of the jail as a file system of the machine.
void AddShare(const Share& share, std::vector<std::string>& words) {
  // SECURITY: read-only here, on the host's side, whatever the machine asks for. `none`: files are
  // made with the jail's own id; nobody gives them away.
  words.insert(words.end(),
               {"-fsdev",
                fmt::format("local,id={0},path={1},security_model=none,multidevs=remap{2}",
                            share.tag, share.directory, share.writable ? "" : ",readonly=on"),
                "-device", fmt::format("virtio-9p-pci,fsdev={0},mount_tag={0}", share.tag)});
}

void AddPort(unsigned number, std::vector<std::string>& words) {
  words.insert(words.end(), {"-chardev",
                             fmt::format("socket,id=port{},fd={}", number,
                                         machine::kFirstPortFd + static_cast<int>(number)),
                             "-device",
                             fmt::format("virtserialport,chardev=port{},nr={},name=igloo.{}",
                                         number, number + 1, number)});
}

}  // namespace

std::vector<std::string> EmulatorWords(const Division& division, const Parts& parts,
                                       std::size_t extra) {
  std::vector<std::string> words = {
      parts.emulator, "-machine", "pc,usb=off,vmport=off,smm=off", "-nodefaults", "-no-user-config",
      "-no-reboot", "-display", "none", "-monitor", "none",
      // A second filter, of the emulator's own.
      "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny", "-m",
      fmt::format("{}M", division.memory_bytes / kMegabyte), "-smp",
      std::to_string(division.processors), "-kernel", kKernel, "-initrd", kFirstRoot, "-append",
      "console=ttyS0 quiet loglevel=3 panic=-1 reboot=t random.trust_cpu=on rdinit=/init",
      "-chardev", fmt::format("socket,id=console,fd={}", machine::kConsoleFd), "-serial",
      "chardev:console",  // Without ioeventfd each port is served at once, so that what is written
                          // to one after another
      // arrives in that order.
      "-device",
      fmt::format("virtio-serial-pci,max_ports={},ioeventfd=off", machine::kMaxPorts + 1)};
  for (unsigned i = 0; i < machine::kFirstExtraPort + extra; ++i) AddPort(i, words);
  for (const Share& share : division.shares) AddShare(share, words);
  return words;
}

sandbox::Policy AroundEmulator(const Division& division, const Parts& parts, std::size_t extra) {
  sandbox::Policy policy;
  auto& common = policy.environment;
  common.emplace_back(sandbox::HostTree{.source = "/usr", .target = "/usr", .own_inodes = true});
  for (const char* name : {"bin", "lib", "lib64"}) {
    common.emplace_back(
        sandbox::Link{.path = fmt::format("/{}", name), .points_to = fmt::format("usr/{}", name)});
  }
  if (sandbox::IsWithin(parts.emulator, "/nix")) {
    common.emplace_back(sandbox::HostTree{.source = "/nix/store", .target = "/nix/store"});
  }
  common.emplace_back(sandbox::HostTree{.source = parts.relay, .target = kRelay});
  common.emplace_back(sandbox::HostTree{.source = parts.kernel, .target = kKernel});
  for (const char* name : {"null", "urandom"}) common.emplace_back(sandbox::DeviceNode{name});
  auto& own = policy.run;
  if (parts.kvm) own.emplace_back(sandbox::HostNode("/dev/kvm", "/dev/kvm", "virtual machines"));
  own.emplace_back(
      sandbox::MemoryTree{.target = kBoot,
                          .capacity = {.bytes = parts.first_root.size() + kMegabyte, .inodes = 16},
                          .access = sandbox::Access::kReadOnly});
  own.emplace_back(sandbox::TextFile{.path = kFirstRoot, .content = parts.first_root});
  own.emplace_back(sandbox::MemoryTree{
      .target = "/tmp", .capacity = {.bytes = kMegabyte, .inodes = 64}, .mode = 01777});
  for (const sandbox::Entry& each : division.outside) {
    const bool common_one = sandbox::IsWithin(std::get<sandbox::HostTree>(each).target, kHostPlace);
    (common_one ? common : own).push_back(each);
  }
  policy.hostname = "igloo-machine";
  policy.argv = {kRelay, std::to_string(extra)};
  const auto words = EmulatorWords(division, parts, extra);
  policy.argv.insert(policy.argv.end(), words.begin(), words.end());
  policy.variables = {{"PATH", "/usr/bin"}, {"LANG", "C"}};
  policy.cwd = "/tmp";
  // The machine inside keeps the plan's time; the emulator ends with it.
  policy.limits = {.time_ms = 0,
                   .memory_bytes = division.memory_bytes + kEmulatorMemory,
                   .processes = 256,
                   .file_bytes = 0};
  policy.extra_descriptors = static_cast<std::uint32_t>(2 + extra);
  return policy;
}

}  // namespace igloo::backend::microvm
