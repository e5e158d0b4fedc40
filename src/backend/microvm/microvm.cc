#include "backend/microvm/microvm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "backend/microvm/archive.h"
#include "backend/microvm/division.h"
#include "backend/microvm/emulator.h"
#include "backend/microvm/kernel.h"
#include "backend/microvm/machine_sandbox.h"
#include "backend/microvm/orders.h"
#include "base/file.h"
#include "base/spawn.h"

namespace igloo::backend::microvm {
namespace {

constexpr std::size_t kMaxProgram = 64U << 20;
/// More than the relay's own patience, twice: on KVM, and then without it.
constexpr std::uint64_t kMakingMs = 300'000;
constexpr const char* kInstallEmulator = "install it: sudo apt install qemu-system-x86";
#ifdef __x86_64__
constexpr const char* kEmulator = "qemu-system-x86_64";
#else
constexpr const char* kEmulator = nullptr;
#endif

/// Where everybody has it, or in the Nix store: nothing else of the host's is in the jail.
Result<std::string> FindEmulator() {
  if (kEmulator == nullptr) {
    return Fail(Errc::kFailedPrecondition, "igloo makes virtual machines on x86-64 alone",
                "use another backend here");
  }
  std::string path = std::string("/usr/bin/") + kEmulator;
  if (::access(path.c_str(), X_OK) == 0) return path;
  std::array<char, PATH_MAX> real{};
  path = FindInPath(kEmulator);
  if (!path.empty() && ::realpath(path.c_str(), real.data()) != nullptr &&
      std::string_view(real.data()).starts_with("/nix/store/")) {
    return std::string(real.data());
  }
  return Fail(Errc::kNotFound, "QEMU is not installed", kInstallEmulator);
}

/// igloo's own programs and the modules, as the kernel unpacks them.
Result<std::string> MakeFirstRoot(const Settings& settings, const Kernel& kernel) {
  IGLOO_ASSIGN(const auto modules, ModulesFor(kernel));
  IGLOO_ASSIGN(const std::string machine, ReadFile(settings.relay, kMaxProgram));
  IGLOO_ASSIGN(const std::string jail, ReadFile(settings.jail, kMaxProgram));
  Archive archive;
  for (const char* name : {"dev", "proc", "tmp", "mnt", "host", "shares", "igloo", "modules"}) {
    archive.AddDirectory(name);
  }
  // The kernel gives it to the first process as 0, 1 and 2, so that even a failure there is seen.
  archive.AddCharacterDevice("dev/console", 5, 1);
  archive.AddFile("init", machine);
  archive.AddFile("igloo/igloo-jail", jail);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    IGLOO_ASSIGN(const std::string content, ReadFile(modules[i].path, kMaxProgram));
    archive.AddFile(fmt::format("modules/{:02}.ko", i), content);
  }
  return std::move(archive).Finish();
}

Result<sandbox::HostFacts> FactsFor(const sandbox::Policy& policy, sandbox::HostFacts facts) {
  for (const std::string& path : sandbox::SourcesOf(policy)) {
    struct stat info{};
    // SECURITY: what the plan names is compared with what the planner saw, not with what is there
    // by now.
    if (facts.contains(path)) continue;
    if (::stat(path.c_str(), &info) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot look at '" + path + "'");
    }
    facts[path] = sandbox::PathFact{.device = info.st_dev,
                                    .inode = info.st_ino,
                                    .type = info.st_mode & S_IFMT,
                                    .uid = info.st_uid,
                                    .gid = info.st_gid};
  }
  return facts;
}

/// Which way an extra descriptor goes: of a pipe, its mode says it.
machine::Way WayOf(int fd) {
  switch (::fcntl(fd, F_GETFL) & O_ACCMODE) {
    case O_RDONLY:
      return machine::Way::kInto;
    case O_WRONLY:
      return machine::Way::kOut;
    default:
      return machine::Way::kBoth;
  }
}

Birth BirthOf() {
  Birth birth;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  birth.seconds = now.tv_sec;
  birth.nanoseconds = now.tv_nsec;
  (void)!::getrandom(birth.seed.data(), birth.seed.size(), 0);
  return birth;
}

class MicrovmBackend : public Backend {
 public:
  MicrovmBackend(Settings settings, std::unique_ptr<Backend> around, Explain explain, Parts parts,
                 Kernel kernel)
      : settings_(std::move(settings)),
        around_(std::move(around)),
        explain_(explain),
        parts_(std::move(parts)),
        kernel_(std::move(kernel)) {}

  HostIds expected_ids() const override { return around_->expected_ids(); }
  Result<HostIds> host_ids() override { return around_->host_ids(); }
  bool EntersCpuGroup() const override { return true; }
  bool CountsMemory() const override { return true; }
  std::uint64_t MakingMs() const override { return kMakingMs; }

  Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan& plan, Channels channels) override {
    if (channels.extra.size() > machine::kMaxExtra) {
      return Fail(Errc::kInternal, "too many descriptors for a virtual machine");
    }
    IGLOO_ASSIGN(Division division, Divide(plan));
    IGLOO_TRY(MakeParts());
    const std::size_t extra = channels.extra.size();
    const sandbox::Policy policy = AroundEmulator(division, parts_, extra);
    IGLOO_ASSIGN(const auto facts, FactsFor(policy, division.facts));
    IGLOO_ASSIGN(sandbox::Plan outside, sandbox::MakePlan(policy, facts));
    std::vector<machine::Way> ways;
    for (const UniqueFd& each : channels.extra) ways.push_back(WayOf(each.get()));
    IGLOO_ASSIGN(std::string orders, EncodeOrders(division, ways, BirthOf()));
    auto machine = std::make_unique<MachineSandbox>(std::move(outside), std::move(division.inside),
                                                    std::move(orders), explain_, Noting());
    IGLOO_TRY(machine->Start(*around_, std::move(channels)));
    return machine;
  }

 private:
  /// Read once: a server starts many.
  Result<void> MakeParts() {
    if (!parts_.first_root.empty()) return {};
    IGLOO_ASSIGN(parts_.first_root, MakeFirstRoot(settings_, kernel_));
    return {};
  }

  /// The sentence is said once; the backend may be gone by then.
  Log::Line Noting() const {
    return [said = said_, note = settings_.note](std::string_view text) {
      if (!*said && note) note(text);
      *said = true;
    };
  }

  Settings settings_;
  std::unique_ptr<Backend> around_;
  Explain explain_;
  Parts parts_;
  Kernel kernel_;
  std::shared_ptr<bool> said_ = std::make_shared<bool>(false);
};

}  // namespace

Result<std::unique_ptr<Backend>> Make(Settings settings, std::unique_ptr<Backend> around,
                                      Explain explain) {
  Parts parts{.relay = settings.relay, .kvm = ::access("/dev/kvm", F_OK) == 0};
  IGLOO_ASSIGN(parts.emulator, FindEmulator());
  IGLOO_ASSIGN(Kernel kernel, FindKernel(settings.kernel));
  parts.kernel = kernel.image;
  return std::make_unique<MicrovmBackend>(std::move(settings), std::move(around), explain,
                                          std::move(parts), std::move(kernel));
}

}  // namespace igloo::backend::microvm
