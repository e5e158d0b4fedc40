#include "backend/bubblewrap/bubblewrap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "backend/bubblewrap/render.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"

namespace igloo::backend::bubblewrap {
namespace {

constexpr const char* kProgram = "/usr/bin/bwrap";

class BwrapSandbox : public Sandbox {
 public:
  BwrapSandbox(Child child, UniqueFd complaints)
      : child_(std::move(child)), complaints_(std::move(complaints)) {}

  int setup_fd() const override { return -1; }  // bwrap has no voice but its exit
  Result<void> ReadSetup() override { return {}; }
  void Kill() override { child_.Signal(SIGKILL); }
  Error WhyGone() override {
    // bwrap is ending by now; what it complained about is in the pipe.
    (void)child_.Wait();
    std::string text = ReadAll(complaints_.get(), 64U << 10).value_or("");
    while (text.ends_with('\n')) text.pop_back();
    if (text.empty()) text = "it ended without a word";
    return {Errc::kFailedPrecondition, "bubblewrap could not build the sandbox: " + Printable(text),
            "see 'igloo doctor', or use --backend jail", 0};
  }

 private:
  Child child_;
  UniqueFd complaints_;
};

std::set<std::string> AbsentMasks(const sandbox::Plan& plan) {
  std::set<std::string> absent;
  for (const sandbox::Step& each : plan.fresh) {
    const auto* mask = std::get_if<sandbox::step::Mask>(&each);
    if (mask != nullptr && ::access(mask->target.c_str(), F_OK) != 0) absent.insert(mask->target);
  }
  return absent;
}

Result<UniqueFd> Deliver(const Command::File& file) {
  if (!file.host_path.empty()) {
    UniqueFd fd(::open(file.host_path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd) return fd;
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + file.host_path + "'");
  }
  UniqueFd fd(::memfd_create("igloo", MFD_CLOEXEC));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a file in memory");
  }
  IGLOO_TRY(WriteAll(fd.get(), file.content));
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

/// SECURITY: bwrap maps the caller's id; root would be root outside. So root becomes an id of its
/// own first, unique by pid as the launcher's are.
std::optional<uid_t> IdToBecome(const sandbox::Plan& plan) {
  if (::geteuid() != 0) return std::nullopt;
  constexpr std::uint32_t kPidLimit = 1U << 22;
  constexpr std::uint32_t kBlockSize = 256;
  return plan.identity.host_id_base +
         (static_cast<std::uint32_t>(::getpid()) % kPidLimit) * kBlockSize;
}

Result<void> CheckOwners(const sandbox::Plan& plan) {
  if (::geteuid() != 0) return {};
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (const sandbox::Step& each : *steps) {
      const auto* bind = std::get_if<sandbox::step::Bind>(&each);
      if (bind == nullptr || !bind->map_owner) continue;
      return Fail(Errc::kFailedPrecondition,
                  "bubblewrap cannot give the sandbox's user the files of '" + bind->source +
                      "' when root starts it",
                  "start igloo as the owner of the project, or use --backend jail");
    }
  }
  return {};
}

class BwrapBackend : public Backend {
 public:
  explicit BwrapBackend(std::string init_path) : init_path_(std::move(init_path)) {}

  bool EntersCpuGroup() const override { return true; }

  Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan& plan, Channels channels) override {
    IGLOO_TRY(CheckOwners(plan));
    IGLOO_ASSIGN(Command command, Render(plan, init_path_, AbsentMasks(plan)));
    IGLOO_ASSIGN(FdPair complaints, MakePipe());
    SpawnOptions options{.program = kProgram, .argv = {"bwrap"}, .own_session = true};
    options.argv.insert(options.argv.end(), command.argv.begin(), command.argv.end());
    options.fds = {{complaints.second.get(), 2},
                   {channels.control.get(), 3},
                   {channels.standard_input.get(), 4},
                   {channels.standard_output.get(), 5},
                   {channels.standard_error.get(), 6}};
    for (std::size_t i = 0; i < channels.extra.size(); ++i) {
      options.fds.push_back({channels.extra[i].get(), 7 + static_cast<int>(i)});
    }
    std::vector<UniqueFd> files;
    for (std::size_t i = 0; i < command.files.size(); ++i) {
      IGLOO_ASSIGN(UniqueFd fd, Deliver(command.files[i]));
      options.fds.push_back({fd.get(), kFirstFile + static_cast<int>(i)});
      files.push_back(std::move(fd));
    }
    options.become = IdToBecome(plan);
    options.group = channels.group;
    options.second_group = channels.cpu_group;
    UniqueFd entrance;
    if (channels.born_into) {
      // Only our own launcher lets a process be born into a group.
      entrance.Reset(::openat(channels.group, "cgroup.procs", O_WRONLY | O_CLOEXEC));
      options.group = entrance.get();
    }
    IGLOO_ASSIGN(Child child, Spawn(options));
    return std::make_unique<BwrapSandbox>(std::move(child), std::move(complaints.first));
  }

 private:
  std::string init_path_;
};

}  // namespace

Result<std::unique_ptr<Backend>> Make(std::string init_path) {
  if (::access(kProgram, X_OK) != 0) {
    return Fail(Errc::kNotFound, "bubblewrap is not installed",
                "install it: sudo apt install bubblewrap");
  }
  return std::make_unique<BwrapBackend>(std::move(init_path));
}

}  // namespace igloo::backend::bubblewrap
